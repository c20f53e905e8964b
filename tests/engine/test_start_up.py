"""An engine that cannot start says why in one line that names the file, and exits with 2."""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from gpu_engine.config import read_config
from gpu_engine.errors import CheckpointError
from gpu_engine.server import loading
from gpu_engine.server.loading import pick_device
from gpu_engine.server.serve import add_arguments, settings_of
from gpu_engine.server.settings import BadSetting, EngineSettings, default_checkpoint
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
    remedy = "--checkpoint, PARLANCE_CHECKPOINT or --aligner names a folder in the official layout"
    assert (code, line) == (2, f"parlance engine: {gone}/config.json: missing: {remedy}")


def test_the_environment_names_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLANCE_CHECKPOINT", str(tmp_path))
    assert default_checkpoint() == str(tmp_path)
    monkeypatch.delenv("PARLANCE_CHECKPOINT")
    assert Path(default_checkpoint()).name == "tiny"


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
    why = "it is in use: stop what listens there or give another --listen"
    assert (code, line) == (2, f"parlance engine: cannot listen on {address}: {why}")


def test_weights_that_are_no_numbers(folder: Path) -> None:
    weights = folder / "model.safetensors"
    tensors = load_file(weights)
    tensors["talker.codec_head.weight"][0, 0] = float("nan")
    save_file(tensors, weights)
    code, line = serve(folder)
    problem = "'talker.codec_head.weight' holds NaN or infinity"
    assert code == 2
    assert line.startswith(f"parlance engine: {weights}: {problem}")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--threads", "-1"), "--threads is -1, expected 0 to 1024"),
        (("--max-streams", "5000"), "--max-streams is 5000, expected 0 to 4096"),
        (("--waiting", "-1"), "--waiting is -1, expected 0 to 65536"),
        (("--max-positions", "3"), "--max-positions is 3, expected 64 to 1048576"),
        (("--busy-lead", "nan"), "--busy-lead is nan, expected 0.1 to 600"),
        (("--busy-lead", "20"), "--busy-lead is 20, expected --idle-lead's 12 at most"),
        (("--text-timeout", "0"), "--text-timeout is 0, expected 0.1 to 86400"),
        (("--grace", "-1"), "--grace is -1, expected 0 to 3600"),
        (("--metrics-port", "99999"), "--metrics-port is 99999, expected 0 to 65535"),
    ],
)
def test_an_option_that_cannot_work(flags: tuple[str, str], message: str) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    with pytest.raises(BadSetting) as refusal:
        settings_of(parser.parse_args(flags))
    assert str(refusal.value) == message


def test_the_usual_options_work() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    settings = settings_of(parser.parse_args([]))
    settings.check_model(read_config(settings.folder).talker)
    assert settings.max_positions == 4096


@pytest.mark.parametrize(
    ("device", "hidden_size", "streams"),
    [("cpu", 256, 16), ("cpu", 1024, 8), ("cuda", 256, 64), ("cuda", 1024, 64)],
)
def test_as_many_streams_as_suit_the_device(device: str, hidden_size: int, streams: int) -> None:
    talker = read_config(EngineSettings(default_checkpoint()).folder).talker
    model = replace(talker, hidden_size=hidden_size)
    assert EngineSettings("folder").slots(device, model) == streams
    assert EngineSettings("folder", max_streams=3).slots(device, model) == 3


def test_more_positions_than_the_checkpoint_has() -> None:
    settings = EngineSettings(default_checkpoint(), max_positions=9000)
    with pytest.raises(BadSetting) as refusal:
        settings.check_model(read_config(settings.folder).talker)
    assert str(refusal.value) == "--max-positions is 9000, expected the checkpoint's 8192 at most"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there() -> None:
    with pytest.raises(BadSetting) as refusal:
        pick_device("cuda")
    assert str(refusal.value) == "--device is cuda and no CUDA device answers: give cpu or auto"


def test_too_little_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(loading, "build_runner", exhausted)
    settings = EngineSettings(str(folder), device="cpu", threads=1, max_streams=4)
    with pytest.raises(BadSetting) as refusal:
        loading.load_runner(settings)
    assert str(refusal.value) == (
        "too little memory on cpu for the checkpoint and 4 streams of 4096 positions: "
        "lower --max-streams or --max-positions"
    )


@pytest.mark.parametrize(
    ("part", "what"), [("talker.model.norm", "hidden states"), ("codec_decoder", "audio")]
)
def test_a_first_synthesis_that_is_no_speech(part: str, what: str, folder: Path) -> None:
    # The C kernels hold copies of the weights, which what follows would not reach.
    settings = EngineSettings(str(folder), device="cpu", threads=1, kernels="torch")
    runner = loading.load_runner(settings)
    module = runner.checkpoint.talker.model.norm
    if part == "codec_decoder":
        module = runner.checkpoint.codec_decoder.pre_conv
    for parameter in module.parameters():
        parameter.data.fill_(float("nan"))
    with pytest.raises(CheckpointError) as refusal:
        loading.warm_up(runner)
    problem = f"a first synthesis made {what} that are not finite: the weights are damaged"
    assert refusal.value.message == f"{folder}/model.safetensors: {problem}"
