"""Programs of other languages and environments, which call a real server on this machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import (
    Party,
    alice,
    base,
    engine,
    engine_thread,
    quick_passwords,
    transactional_db,
    web_thread,
)
from tests.ttsapp.tls import TlsThread, certificate

__all__ = [
    "alice",
    "base",
    "engine",
    "engine_thread",
    "quick_passwords",
    "transactional_db",
    "web_thread",
]

PATIENCE = 120.0

Call = Callable[..., Any]


@pytest.fixture
def call(base: str, alice: Party, tmp_path: Path) -> Iterator[Call]:
    """Runs a program that is told where the service is; what it says on its last line."""
    files = certificate(tmp_path)
    front = TlsThread(httpx.URL(base).port or 0, *files)
    told = {
        "BASE": base,
        "KEY": alice.secret,
        "TLS": f"https://localhost:{front.port}",
        "NODE_EXTRA_CA_CERTS": str(files[0]),
    }

    def run(*command: str) -> Any:
        environment = {**os.environ, **told}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    yield run
    front.close()
