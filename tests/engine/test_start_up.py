"""An engine that cannot start says why in one line that names the file, and exits with 2."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.conftest import CUSTOM


@pytest.fixture
def folder(checkpoint_folder: Callable[[str], Path], tmp_path: Path) -> Path:
    return shutil.copytree(checkpoint_folder(CUSTOM), tmp_path / "checkpoint")


def serve(folder: Path, *flags: str) -> tuple[int, str]:
    """Exit code and the last line on standard error."""
    command = [sys.executable, "-m", "gpu_engine", "serve", "--checkpoint", str(folder)]
    command += ["--listen", f"unix:{folder}/s", "--device", "cpu", "--max-positions", "512", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr.splitlines()[-1]


def test_a_missing_folder(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    tmp_path.joinpath("x").mkdir()
    code, line = serve(gone)
    assert (code, line) == (2, f"parlance engine: {gone}/config.json: missing")


def test_a_config_that_is_not_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    code, line = serve(folder)
    assert code == 2
    assert line.startswith(f"parlance engine: {folder}/config.json: not valid JSON")


def test_truncated_weights(folder: Path) -> None:
    weights = folder / "speech_tokenizer" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    code, line = serve(folder)
    assert code == 2
    assert line.startswith(f"parlance engine: {weights}: not a whole safetensors file")


def test_an_address_in_use(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, line = serve(folder, "--listen", address)
    assert (code, line) == (2, f"parlance engine: cannot listen on {address}")
