"""`make demo` exits with 0 only if all that it prints held."""

from __future__ import annotations

import re
import shutil
import subprocess
import wave
from pathlib import Path

import pytest

from tests.product.running import PATIENCE, launch, outside
from ttsapp.launch.plan import ROOT

TEXT = 'Good morning, everyone. It costs $5, "they" said; isn\'t that fine?'
ASSETS = ROOT / "gpu_engine" / "assets" / "tiny"


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=outside(**environment),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )


def demo(text: str, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(launch("demo", "--text", text, "--out", str(out), *arguments))


def test_it_works(tmp_path: Path) -> None:
    out = tmp_path / "hello.wav"

    done = run(["make", "-s", "demo", f"TEXT={TEXT}", f"OUT={out}"])

    assert done.returncode == 0, done.stderr
    assert f"{len(TEXT)} sent, {len(TEXT)} metered" in done.stdout
    assert re.search(r"first audio +\d+ ms", done.stdout)
    with wave.open(str(out)) as file:
        seconds = file.getnframes() / file.getframerate()
    assert f"{seconds:.2f} s, made in" in done.stdout


@pytest.mark.parametrize("text", ["", "   "])
def test_no_text(tmp_path: Path, text: str) -> None:
    done = demo(text, tmp_path / "x.wav")
    assert done.returncode == 1
    assert "Say what to speak" in done.stderr


def test_nowhere_to_write(tmp_path: Path) -> None:
    done = demo("Hello.", tmp_path / "missing" / "x.wav")
    assert done.returncode == 1
    assert f"{tmp_path / 'missing'} is not a folder" in done.stderr


@pytest.mark.parametrize("name", ["x.mp3", "x"])
def test_another_format_than_wav(tmp_path: Path, name: str) -> None:
    done = demo("Hello.", tmp_path / name)
    assert done.returncode == 1
    assert f"OUT={tmp_path / name} must end in .wav" in done.stderr


def test_no_command_beside_the_product() -> None:
    done = run(launch("with", "--", "no-such-command"))
    assert done.returncode == 1
    assert "There is no command 'no-such-command' to run" in done.stderr


def test_an_unknown_voice(tmp_path: Path) -> None:
    done = demo("Hello.", tmp_path / "x.wav", "--voice", "nobody")
    assert done.returncode == 1
    assert "HTTP 400" in done.stderr
    assert "unknown_voice" in done.stderr
    assert not (tmp_path / "x.wav").exists()


def test_a_broken_checkpoint_is_named(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(ASSETS, checkpoint)
    (checkpoint / "model.safetensors").write_bytes(b"not a checkpoint")

    done = demo("Hello.", tmp_path / "x.wav", "--checkpoint", str(checkpoint))

    assert done.returncode == 1
    assert str(checkpoint / "model.safetensors") in done.stderr
