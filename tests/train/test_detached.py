"""A recipe that outlives its call: started, looked in on, killed, brought home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from gpu_engine.train import detached
from gpu_engine.train.runtime import save_shards


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def recipe(folder, monkeypatch):
    """Lets `start` run a few lines of Python instead of the trainer."""
    real = subprocess.Popen

    def started(command, **how):
        return real([sys.executable, "-c", command[-1]], **how)

    monkeypatch.setattr(detached.subprocess, "Popen", started)
    return lambda code: detached.start([code.format(folder=folder)], folder)


ENDS = "print('one', flush=True); open('{folder}/tiny.ended', 'w').write('{status}')"


@pytest.mark.parametrize(("status", "standing"), [("0", "done"), ("1", "failed")])
def test_how_it_ended_is_told(recipe, folder, capfd, status, standing):
    recipe(ENDS.replace("{status}", status))
    assert detached.follow(folder, 60) == standing
    assert capfd.readouterr().out == "one\n"


def test_a_second_call_goes_on_where_the_first_stopped_reading(recipe, folder, capfd):
    # given a recipe that has said one thing and waits
    recipe(
        "import pathlib, time\nprint('one', flush=True)\n"
        "while not pathlib.Path('{folder}/go').exists(): time.sleep(0.01)\n"
        "print('two', flush=True); open('{folder}/tiny.ended', 'w').write('0')"
    )
    while b"one" not in (folder / detached.LOG).read_bytes():
        os.sched_yield()
    assert detached.follow(folder, 0) == "running"
    assert capfd.readouterr().out == "one\n"
    # when it goes on, then only what is new is shown
    (folder / "go").touch()
    assert detached.follow(folder, 60) == "done"
    assert capfd.readouterr().out == "two\n"


def test_a_recipe_that_was_killed_is_known_to_be(recipe, folder):
    process = recipe("import time; time.sleep(600)")
    assert detached.standing(folder) == "running"
    with pytest.raises(ValueError, match="a recipe runs there already"):
        recipe("")
    os.kill(process, signal.SIGKILL)
    while detached.standing(folder) == "running":
        time.sleep(0.01)
    assert detached.standing(folder) == "killed"


def test_nothing_was_started(folder):
    assert detached.standing(folder) == "killed"


def test_what_is_there_comes_home_in_half_precision(folder, tmp_path):
    # given a codec, a Talker that was never saved, and two clips of which one is too large
    (folder / "codec").mkdir(parents=True)
    save_shards(folder / "codec", "codec", {"a": torch.tensor([1.5])})
    save_shards(folder / "codec", "adversaries", {"b": torch.tensor([2.5])})
    (folder / "logs").mkdir()
    (folder / "logs" / "codec.log").write_text("step 1\n")
    (folder / "heard" / "full").mkdir(parents=True)
    (folder / "heard" / "full" / "000.wav").write_bytes(b"sound")
    (folder / "heard" / "full" / "001.wav").write_bytes(bytes(detached.SAMPLES))
    # when it is brought home
    brought = detached.bring_home(folder, tmp_path / "home")
    names = ["adversaries-00.safetensors", "codec-00.safetensors", "figures.tar.gz"]
    assert [path.name for path in brought] == names
    assert load_file(brought[1])["a"].dtype == torch.float16
    with tarfile.open(brought[2]) as archive:
        assert sorted(archive.getnames()) == ["heard/full/000.wav", "logs/codec.log"]
