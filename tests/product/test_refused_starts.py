"""A start that cannot succeed says in one line which option is at fault, and leaves nothing."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from tests.product.running import PATIENCE, launch, outside
from ttsapp.launch.plan import ROOT


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        launch("run", *arguments),
        cwd=ROOT,
        env=outside(**environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = start("--data", str(file))
    assert f"PARLANCE_DATA={file} cannot be the data folder (File exists)" in done.stderr


def test_a_checkpoint_that_is_not_there(tmp_path: Path) -> None:
    done = start("--data", str(tmp_path / "data"), PARLANCE_CHECKPOINT=f"{tmp_path}/none")
    assert f"PARLANCE_CHECKPOINT={tmp_path}/none is not a folder." in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PARLANCE_HTTPS", "maybe", "PARLANCE_HTTPS='maybe' is neither true nor false"),
        ("PARLANCE_LOG_LEVEL", "loud", "PARLANCE_LOG_LEVEL='LOUD' is none of DEBUG, INFO"),
        ("REDIS_URL", "localhost", "REDIS_URL must begin with one of redis://"),
        ("REDIS_URL", "redis://127.0.0.1:{port}/0", "the Redis of REDIS_URL cannot be used"),
        ("DATABASE_URL", "mysql://x/y", "DATABASE_URL: 'mysql' is not supported"),
    ],
)
def test_an_option_that_makes_no_sense(tmp_path: Path, name: str, value: str, said: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        value = value.format(port=nobody.getsockname()[1])
        done = start("--port", "0", "--data", str(tmp_path), **{name: value})
    assert f"prepare ended with status 1. Its last words ({tmp_path}" in done.stderr
    assert said in done.stderr
