"""The whole recipe as its users call it, with a teacher that hums and models of no size."""

import argparse
import json
import os
import shlex
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from gpu_engine.assemble import assemble
from gpu_engine.models.checkpoint import load_checkpoint
from gpu_engine.models.prompt import PromptRequest, takes_instructions
from gpu_engine.models.synthesis import GREEDY, Utterance, synthesise
from gpu_engine.train.cli import add_arguments, main
from gpu_engine.train.commands.tiny import recipe_of
from gpu_engine.train.detached import standing
from gpu_engine.train.detached import start as run_detached
from gpu_engine.train.export import load_codec
from gpu_engine.train.recipe import LAYOUTS, Kitchen
from tests.train.recipes import FAMILY, MICRO, WORDED

pytestmark = pytest.mark.timeout(900)  # six processes that import torch


def test_it_works(call, tmp_path, capfd):
    # when the codec is trained in one call, and everything else in the next
    assert main([*call, "--stages", "codec"]) == 0
    before = (tmp_path / "out/codec/codec-00.safetensors").stat().st_mtime_ns
    assert main(call) == 0
    said = capfd.readouterr().out
    # then the codec was not trained again, and a checkpoint has spoken in both layouts
    assert "codec was done before" in said
    assert (tmp_path / "out/codec/codec-00.safetensors").stat().st_mtime_ns == before
    checkpoint = load_checkpoint(tmp_path / "out/checkpoint")
    assert checkpoint.config.talker.num_hidden_layers == 1
    for layout in ("full", "streaming"):
        assert json.loads((tmp_path / f"out/heard/{layout}/report.json").read_text())["clips"] == 1
    assert "phone_hit" in json.loads((tmp_path / "out/codec/log.json").read_text())[0]


def test_the_shipped_decoder_learns_more_and_comes_home(call, tmp_path):
    # given the package's own codec, with its encoder
    assemble(tmp_path / "base")
    old, home = tmp_path / "base/speech_tokenizer", tmp_path / "home"
    # when its decoder is taught
    more = "--rows 1 --frames 4 --log-every 1 --device cpu"
    taught = [*call, "--stages", "decoder", f"--codec={old}", "--minutes-decoder=0.02"]
    assert main([*taught, f"--decoder-options={more}"]) == 0
    main(["follow", str(tmp_path / "out"), "--out", str(home), "--seconds", "0"])
    # then what came home has the same codes, and what it learned is on record
    (_, before), (_, after) = load_codec(old), load_codec(home / "speech_tokenizer")
    assert torch.equal(before.quantizer.table(), after.quantizer.table())
    assert json.loads((tmp_path / "out/decoder/log.json").read_text())[0]["mel"] > 0


def test_one_talker_becomes_the_whole_family(call, tmp_path):
    # given the package's codec, and speech with instructions and descriptions
    assemble(tmp_path / "base")
    (tmp_path / "lines").write_text("Every spring the swallows return.\n")
    speaker = MICRO["talker"].replace("--no-speaker", "")
    family = [*call, "--stages", "encode,talker,export", "--kinds", ",".join(FAMILY)]
    family += [f"--codec={tmp_path / 'base/speech_tokenizer'}", f"--talker-options={speaker}"]
    # when one Talker learns from all of it
    assert main([*family, *WORDED]) == 0
    # then it is a checkpoint of each kind, and each speaks as its prompts ask it to
    out = tmp_path / "out"
    for kind, folder in zip(FAMILY, ("checkpoint", "base", "voice_design"), strict=True):
        checkpoint = load_checkpoint(out / folder)
        assert checkpoint.config.kind == kind
        assert takes_instructions(checkpoint.config) == (kind != "base")
        vector = torch.zeros(256) if kind == "base" else None
        name = "june" if kind == "custom_voice" else ""
        told = "" if kind == "base" else "Speak slowly."
        prompt = PromptRequest("No.", "english", name, vector, instructions=told)
        (speech,) = synthesise(checkpoint, [Utterance(prompt, GREEDY, max_frames=3)])
        assert speech.audio.isfinite().all()
    # and it can be judged by what it is told
    lines, heard = str(tmp_path / "lines"), tmp_path / "heard"
    told = ["evaluate", "--told", "--checkpoint", str(out / "voice_design"), "--count", "1"]
    assert main([*told, "--sentences", lines, "--out", str(heard)]) == 0
    report = json.loads((heard / "report.json").read_text())
    assert (report["trials"], len(report["clips"])) == (1, 1)
    assert (heard / "000.wav").exists()


@pytest.mark.parametrize(
    ("words", "kinds", "judged"),
    [
        ([], "custom_voice", ["full", "streaming"]),
        (WORDED, "custom_voice,base", ["full", "streaming", "custom_voice"]),
        (WORDED, "base,voice_design", ["voice_design"]),
        ([], ",".join(FAMILY), ["full", "streaming", "voice_design"]),
    ],
)
def test_each_kind_is_judged_by_what_it_is_for(call, crew, monkeypatch, words, kinds, judged):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    recipe = recipe_of(parser.parse_args([*call, *words, "--kinds", kinds]))
    commands = {}
    monkeypatch.setattr(
        Kitchen, "_alone", lambda _, name, command: commands.update({name: command})
    )
    Kitchen(recipe, crew).evaluate()
    assert list(commands) == [f"evaluate-{name}" for name in judged]
    for name, command in commands.items():
        assert ("--told" in command) == (name.removeprefix("evaluate-") not in LAYOUTS)
        parser.parse_args(command)


@pytest.fixture
def detach():
    """Starts a recipe that outlives its call, though not the test."""
    started = []

    def begin(arguments, folder):
        started.append(run_detached(arguments, folder))
        return started[-1]

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_two_processes_train_together_and_go_on_after_a_kill(call, detach, tmp_path, capfd):
    # given a recipe for two processes that works on its own
    out, trained = tmp_path / "out", "codec,encode,talker"
    endless = MICRO["talker"].replace("--steps 3", "--minutes 60 --save-seconds 0")
    two = [*call, "--ranks", "2", "--stages", trained]
    process = detach([*two, f"--talker-options={endless}"], out)
    # when it is killed once the Talker has saved
    while not (out / "state" / "state.json").exists():
        assert standing(out) == "running", (out / "tiny.log").read_text()
        time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    while standing(out) == "running":  # a large process takes a moment to go
        time.sleep(0.1)
    with pytest.raises(SystemExit):
        main(["follow", str(out), "--out", str(tmp_path / "home"), "--seconds", "0"])
    assert "the recipe is killed" in capfd.readouterr().out
    # then codec and Talker have come home, and the next call trains on from the state
    main(
        [
            "export",
            "--recipe",
            str(tmp_path / "recipe"),
            "--talker",
            str(tmp_path / "home"),
            "--codec",
            str(tmp_path / "home"),
            "--out",
            str(tmp_path / "checkpoint"),
        ]
    )
    assert load_checkpoint(tmp_path / "checkpoint").config.kind == "custom_voice"
    steps = json.loads((out / "state" / "state.json").read_text())["step"]
    more = MICRO["talker"].replace("--steps 3", f"--steps {steps + 3}")
    assert main([*two, f"--talker-options={more}"]) == 0
    assert "resumed at step" in capfd.readouterr().out
    rows = json.loads((out / "talker" / "log.json").read_text())
    assert [row["step"] for row in rows] == [*range(1, steps + 4)]


def test_a_stage_that_is_none_is_refused(call):
    with pytest.raises(SystemExit, match="no such stage: bake"):
        main([*call, "--stages", "codec,bake"])


def test_a_failed_stage_ends_the_call_with_its_log(call, tmp_path):
    with pytest.raises(
        SystemExit, match=r"(?s)export-custom_voice ended with status 1:.*FileNotFoundError"
    ):
        main([*call, "--stages", "export"])


def test_a_kind_that_is_none_is_refused(call):
    with pytest.raises(SystemExit, match="no such kind of checkpoint: voice"):
        main([*call, "--kinds", "base,voice"])


def test_a_decoder_alone_needs_a_codec(call):
    with pytest.raises(SystemExit, match="the decoder needs a codec: --codec"):
        main([*call, "--stages", "decoder"])


DOCS = Path(__file__).parents[2] / "docs/training.md"


BEGIN = "gpu_engine.train.cli tiny --manifest"


@pytest.mark.parametrize("line", [line for line in DOCS.read_text().splitlines() if BEGIN in line])
def test_every_stage_understands_the_call_of_the_document(line, crew, monkeypatch, tmp_path):
    monkeypatch.chdir(DOCS.parents[1])
    (tmp_path / "run/codec").mkdir(parents=True)
    words = shlex.split(line.replace("LIMIT", "1200").replace("/tmp/tiny", str(tmp_path)))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    call = parser.parse_args([*words[words.index("tiny") :], "--gpus=1"])
    begun = {}
    monkeypatch.setattr(
        crew, "start", lambda name, command, env=None: begun.update({name: command})
    )
    recipe = recipe_of(call)
    kitchen = Kitchen(recipe, crew)
    monkeypatch.setattr(crew, "wait", lambda child, until, meanwhile=None: 0)
    monkeypatch.setattr(kitchen, "_expect", lambda *_: None)
    for stage in recipe.stages:
        if stage != "talker":
            getattr(kitchen, stage)()
    kitchen._learner(())
    assert {"talker", *begun} >= {stage for stage in recipe.stages if stage != "encode"}
    for command in begun.values():
        understood = parser.parse_args(command[command.index("gpu_engine.train.cli") + 1 :])
        assert understood.stage in ("codec", "decoder", "encode", "talker")
