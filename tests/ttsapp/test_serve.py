"""`manage.py serve` with several processes: each of them is a bare interpreter at first."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ttsapp.conftest import eventually

ROOT = Path(__file__).parents[2]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ("--workers", "2", "--port", str(port))
    command = [sys.executable, "manage.py", "serve", *options]
    environment = {**os.environ, "PARLANCE_DATA": str(tmp_path), "PARLANCE_GRACE_SECONDS": "1"}
    environment.pop("DATABASE_URL", None)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    assert process.wait(30) == 0, (tmp_path / "log").read_text()


def test_two_workers_answer(address: str, tmp_path: Path) -> None:
    eventually(lambda: answers(address), 90)
    assert "Traceback" not in (tmp_path / "log").read_text()


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/livez").status_code == 200
    except httpx.TransportError:
        return False
