"""How the recipe's stages share processes, time and files."""

import argparse
import os
import time
from pathlib import Path

import pytest

from gpu_engine.train.cli import add_arguments
from gpu_engine.train.commands.tiny import recipe_of
from gpu_engine.train.crew import ENDED, StageError
from gpu_engine.train.recipe import Kitchen, Recipe


def test_a_child_that_takes_too_long_is_ended_with_its_own_children(crew, tmp_path):
    # given a child that has started another and both would go on for ever
    code = (
        "import subprocess, sys, time, pathlib\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(other.pid))\n"
        "time.sleep(600)\n"
    )
    child = crew.start("slow", ["-c", code])
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert child.running()
    # when its time is up
    assert crew.wait(child, time.time()) == ENDED
    # then both are gone
    assert not child.running()
    other = int((tmp_path / "pid").read_text())
    while gone(Path(f"/proc/{other}/stat")) is False:
        os.sched_yield()


def gone(stat):
    """Whether the process has ended, even if nobody has asked how."""
    try:
        return stat.read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_log_is_followed_line_by_line_without_its_noise(crew, capfd):
    code = "print('step 1'); print('UserWarning: dull'); print('step 2')"
    assert crew.wait(crew.start("talk", ["-c", code]), time.time() + 60) == 0
    assert capfd.readouterr().out.splitlines() == ["step 1", "step 2"]


def test_a_status_is_passed_on(crew):
    assert crew.wait(crew.start("fail", ["-c", "raise SystemExit(3)"]), time.time() + 60) == 3


def made(tmp_path, **changes):
    given = {"teacher": tmp_path, "texts": tmp_path, "out": tmp_path, "recipe": tmp_path}
    return Recipe(**given | changes)


def option(command, name):
    return command[command.index(name) + 1]


def test_a_call_with_a_limit_pauses_the_talker_and_the_last_one_ends_it(tmp_path, crew):
    for finish, flag in ((False, "--pause"), (True, "--deadline")):
        kitchen = Kitchen(made(tmp_path, limit=500, reserve=60, finish=finish), crew)
        command = kitchen._talker_command(tmp_path)
        assert float(option(command, flag)) == pytest.approx(kitchen.end - 80, abs=1)
        assert len({"--pause", "--deadline"} & {*command}) == 1


def test_without_a_limit_the_minutes_decide(tmp_path, crew):
    command = Kitchen(made(tmp_path), crew)._talker_command(tmp_path)
    assert not {"--pause", "--deadline"} & {*command}
    assert option(command, "--minutes") == "9.0"


def test_a_writer_that_fails_is_counted_as_done(tmp_path, crew):
    kitchen = Kitchen(made(tmp_path), crew)
    writers = [crew.start("encode0", ["-c", "raise SystemExit('no voice')"])]
    writers[0].process.wait()
    talker = crew.start("talker", ["-c", WAITING.format(tmp_path / "codes/encode0.done")])
    assert kitchen._watch(talker, writers) == 0


WAITING = """
from pathlib import Path
while not Path({!r}).exists(): pass
""".replace("{!r}", "'{}'")


def test_a_codec_from_elsewhere_is_used_as_it_is(tmp_path, crew, monkeypatch):
    given = made(tmp_path, codec=tmp_path / "home", stages=("codec",))
    monkeypatch.setattr(crew, "start", lambda *_: pytest.fail("a codec is trained"))
    Kitchen(given, crew).cook()
    assert given.folder("codec") == tmp_path / "home"


def test_ranks_are_as_many_as_gpus(tmp_path, crew, monkeypatch):
    started = []
    monkeypatch.setattr(crew, "start", lambda name, command, env=None: started.append(command))
    for recipe in (made(tmp_path, gpus=4), made(tmp_path, gpus=1), made(tmp_path, ranks=3)):
        Kitchen(recipe, crew)._ranks("talker", ["talker"], recipe.all_gpus)
    assert option(started[0], "--nproc-per-node") == "4"
    assert option(started[2], "--nproc-per-node") == "3"
    assert started[1] == ["-m", "gpu_engine.train.cli", "talker"]


def test_stages_share_the_gpus_as_they_are_told(call, tmp_path, crew, monkeypatch):
    # given a Talker on two of four GPUs, and writers on the two others
    shares = ["--gpus=4", "--talker-gpus=0 1", "--encode-gpus=2 3", "--writers-per-gpu=2"]
    seen = {}
    monkeypatch.setattr(crew, "start", lambda name, command, env: seen.setdefault(name, env))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    recipe = recipe_of(parser.parse_args([*call, *shares]))
    # when the stages start
    kitchen = Kitchen(recipe, crew)
    kitchen._ranks("talker", [], recipe.talker_gpus)
    kitchen._writers(time.time())
    # then each process sees its own
    devices = {name: env["CUDA_VISIBLE_DEVICES"] for name, env in seen.items()}
    writers = {"encode0": "2", "encode1": "3", "encode2": "2", "encode3": "3"}
    assert devices == {"talker": "0,1"} | writers


def test_speech_goes_on_with_other_texts_in_other_files(tmp_path, crew, monkeypatch):
    # given a call that was killed after two minutes of speech, when one of two writers was done
    codes, started = tmp_path / "codes", {}
    codes.mkdir()
    for name, moment in (("encode0-0000", 1000), ("encode0-0001", 1120), ("encode1-0000", 1060)):
        (codes / f"{name}.safetensors").touch()
        os.utime(codes / f"{name}.safetensors", (moment, moment))
    (codes / "encode0.done").touch()
    monkeypatch.setattr(crew, "start", lambda name, command, env: started.update({name: command}))
    recipe = made(tmp_path, gpus=1, writers_per_gpu=2, speech_minutes=5.0)
    # when the next one begins
    Kitchen(recipe, crew)._writers()
    # then both make speech for what is left, and nobody takes them for done
    assert [*started] == ["encode0-again1", "encode1-again1"]
    for name, command in started.items():
        assert (option(command, "--name"), float(option(command, "--minutes"))) == (name, 3.0)
        assert "first=1" in command
    assert not [*codes.glob("*.done")]
    # and another after that has names of its own
    for name in started:
        (codes / f"{name}-0000.safetensors").touch()
    started.clear()
    Kitchen(recipe, crew)._writers()
    assert [*started] == ["encode0-again2", "encode1-again2"]


def test_all_get_ready_while_the_codec_learns(tmp_path, crew, monkeypatch):
    # given a codec that leaves its weights
    order, begun = [], {}

    def start(name, command, env=None):
        order.append(name)
        begun[name] = command
        return argparse.Namespace(name=name, process=argparse.Namespace(poll=lambda: 0))

    def wait(child, until, meanwhile=None):
        order.append(f"{child.name} ends")
        (tmp_path / "codec").mkdir(exist_ok=True)
        (tmp_path / "codec/codec-00.safetensors").touch()
        return 0

    monkeypatch.setattr(crew, "start", start)
    monkeypatch.setattr(crew, "wait", wait)
    monkeypatch.setattr(crew, "dismiss", lambda children: None)
    recipe = made(tmp_path, gpus=1, writers_per_gpu=1, stages=("codec", "encode", "talker"))
    (tmp_path / "talker").mkdir()
    (tmp_path / "talker/log.json").touch()
    # when all is made
    Kitchen(recipe, crew).cook()
    # then a writer and the Talker began once, before it ended, and the writer waits for its end
    assert order == ["codec", "encode0", "talker", "codec ends", "talker ends"]
    assert option(begun["encode0"], "--after") == str(tmp_path / "codec/done")
    assert "--again" in begun["codec"]


def test_a_decoder_that_was_killed_goes_on_from_its_save(tmp_path, crew, monkeypatch):
    started = []
    monkeypatch.setattr(crew, "start", lambda name, command, env: started.append(command))
    recipe = made(tmp_path, codec=tmp_path / "home", stages=("decoder",))
    Kitchen(recipe, crew).decoder()
    (tmp_path / "decoder").mkdir()
    (tmp_path / "decoder/model.safetensors").touch()
    Kitchen(recipe, crew).decoder()
    froms = [option(command, "--codec") for command in started]
    assert froms == [str(tmp_path / "home"), str(tmp_path / "decoder")]


def test_without_a_codec_to_wait_for_nobody_waits(tmp_path, crew, monkeypatch):
    started = {}
    monkeypatch.setattr(crew, "start", lambda name, command, env: started.update({name: command}))
    Kitchen(made(tmp_path, codec=tmp_path / "home"), crew)._writers()
    assert "--after" not in started["encode0"]


def test_who_ran_out_of_time_but_saved_has_done_enough(tmp_path, crew):
    kitchen = Kitchen(made(tmp_path), crew)
    child = crew.start("codec", ["-c", ""])
    kitchen._expect(child, ENDED, tmp_path)
    with pytest.raises(StageError, match="codec ended with status 124"):
        kitchen._expect(child, ENDED, tmp_path / "nothing")
