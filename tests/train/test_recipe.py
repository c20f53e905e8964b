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
from gpu_engine.train import recipe as recipe_module
from gpu_engine.train.cli import add_arguments, main
from gpu_engine.train.commands.tiny import recipe_of
from gpu_engine.train.crew import ENDED, Crew, StageError
from gpu_engine.train.detached import standing
from gpu_engine.train.detached import start as run_detached
from gpu_engine.train.export import load_codec
from gpu_engine.train.manifest import sha256
from gpu_engine.train.recipe import LAYOUTS, Kitchen, Recipe

pytestmark = pytest.mark.timeout(900)  # six processes that import torch

BEGIN = "gpu_engine.train.cli tiny --manifest"
TINY = ["--talker-layers", "1", "--talker-ffn", "16", "--predictor-layers", "1"]
MICRO = {
    "codec": "--rows 1 --frames 4 --log-every 1 --settle-steps 1 --device cpu",
    "encode": "--size 4",
    "talker": "--rows 1 --length 192 --predictor-frames 8 --steps 3 --report-steps 1 --no-speaker",
}


@pytest.fixture
def call(vocabulary, teacher, spoken_texts, tmp_path):
    """Arguments of `train tiny` for a run of some seconds."""
    main(["shape", "--recipe", str(vocabulary), "--out", str(tmp_path / "recipe"), *TINY])
    (tmp_path / "lines").write_text("No.\nCould you move it?\n")
    paths = {"teacher": teacher, "texts": spoken_texts, "out": tmp_path / "out"}
    paths |= {"recipe": tmp_path / "recipe", "sentences": tmp_path / "lines"}
    sizes = {"gpus": 0, "minutes-codec": 0.02, "minutes-talker": 0.05, "speech-minutes": 0.01}
    sizes |= {"start-hours": 0.0001, "room-hours": 0.1, "codec-hours": 0.002, "count": 1}
    options = {f"{stage}-options": text for stage, text in MICRO.items()}
    named = (paths | sizes | options).items()
    settings = ["--set", "lines=2", "--set", "pool=8", "--set", "mixes=0"]
    return ["tiny", *(f"--{name}={value}" for name, value in named), *settings]


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


FAMILY = ("custom_voice", "base", "voice_design")
WORDED = ["--set", "instructed=0.5", "--set", "designed=0.5"]


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


def test_a_run_is_made_again_from_its_manifest(call, tmp_path):
    # given a run that has recorded what it did
    main([*call, *WORDED, "--stages", "codec", "--minutes-decoder=7"])
    recorded = json.loads((tmp_path / "out/manifest.json").read_text())
    assert recorded["machine"]["gpus"] == "none" or torch.cuda.is_available()
    assert recorded["options"]["stages"] == "codec"
    assert recorded["seconds"]["codec"] >= 0
    texts = Path(option_of(call, "texts"))
    assert recorded["inputs"][texts.name] == sha256(texts)
    # when another call has its manifest, and other places and options
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    places = ["--teacher=elsewhere", "--texts=there", "--out=new"]
    manifest = f"--manifest={tmp_path / 'out/manifest.json'}"
    again = recipe_of(parser.parse_args(["tiny", *places, manifest, "--stages=encode,talker"]))
    # then what it does not say is as it was
    assert again.minutes_decoder == 7
    assert again.stages == ("encode", "talker")
    assert again.teacher == Path("elsewhere")
    assert again.instructed
    assert again.codec_options == tuple(MICRO["codec"].split())


def test_the_familys_manifest_holds_for_todays_recipe(crew):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    manifest = f"--manifest={Path(recipe_module.__file__).with_name('family.json')}"
    places = ["--teacher=teacher", "--texts=texts", "--out=out", "--gpus=1"]
    # when a call has nothing but the manifest of the repository
    recipe = recipe_of(parser.parse_args(["tiny", *places, manifest]))
    # then it makes every kind, of presets that are told things, and each stage knows its options
    assert recipe.kinds == FAMILY
    assert recipe.told_kinds == ("custom_voice", "voice_design")
    talker = parser.parse_args(Kitchen(recipe, crew)._talker_command(Path("talker")))
    assert (talker.rate, talker.designed_share) == (1e-3, 0.25)


def option_of(call, name):
    return next(word.partition("=")[2] for word in call if word.startswith(f"--{name}="))


def test_another_file_is_no_manifest(call, tmp_path):
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(SystemExit, match=r"other.json is no manifest of a recipe"):
        main([*call, f"--manifest={tmp_path / 'other.json'}"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pace": 1, "kinds": "base"}, "has options that there are not: pace"),
        ({"out": "/elsewhere"}, "has options that there are not: out"),
        ({"count": "many"}, "the option count is 'many', which is no int"),
        ({"count": True}, "the option count is True, which is no int"),
        ({"codec_hours": "2"}, "the option codec_hours is '2', which is no float"),
        ({"set": "lines=2"}, "the option set is 'lines=2', which is no list"),
        ({"kinds": None}, "the option kinds is None, which is no str"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--detach"]])
def test_an_option_of_a_manifest_that_is_none_is_named(call, tmp_path, options, problem, more):
    (tmp_path / "old.json").write_text(json.dumps({"options": options}))
    with pytest.raises(SystemExit, match=f"old.json.*{problem}"):
        main([*call, f"--manifest={tmp_path / 'old.json'}", *more])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [None, "{"])
def test_a_manifest_that_cannot_be_read_is_named(call, tmp_path, content):
    if content is not None:
        (tmp_path / "old.json").write_text(content)
    with pytest.raises(SystemExit, match=r"old.json cannot be read as a manifest"):
        main([*call, f"--manifest={tmp_path / 'old.json'}"])


def test_a_kind_that_is_none_is_refused(call):
    with pytest.raises(SystemExit, match="no such kind of checkpoint: voice"):
        main([*call, "--kinds", "base,voice"])


def test_a_decoder_alone_needs_a_codec(call):
    with pytest.raises(SystemExit, match="the decoder needs a codec: --codec"):
        main([*call, "--stages", "decoder"])


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


@pytest.fixture
def crew(tmp_path):
    with Crew(tmp_path / "logs") as crew:
        yield crew


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


DOCS = Path(__file__).parents[2] / "docs/training.md"


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


def test_who_ran_out_of_time_but_saved_has_done_enough(tmp_path, crew):
    kitchen = Kitchen(made(tmp_path), crew)
    child = crew.start("codec", ["-c", ""])
    kitchen._expect(child, ENDED, tmp_path)
    with pytest.raises(StageError, match="codec ended with status 124"):
        kitchen._expect(child, ENDED, tmp_path / "nothing")
