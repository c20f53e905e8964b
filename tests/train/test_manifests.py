"""A run of the recipe made again from what it recorded."""

import argparse
import json
from pathlib import Path

import pytest
import torch

from gpu_engine.train import recipe as recipe_module
from gpu_engine.train.cli import add_arguments, main
from gpu_engine.train.commands.tiny import recipe_of
from gpu_engine.train.manifest import sha256
from gpu_engine.train.recipe import Kitchen
from tests.train.recipes import FAMILY, MICRO, WORDED

pytestmark = pytest.mark.timeout(900)  # processes that import torch


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
