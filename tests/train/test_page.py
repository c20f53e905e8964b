"""The commands of docs/training.md are commands of the trainer, with options that it has."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from gpu_engine.train.cli import add_arguments
from gpu_engine.train.commands import codec, encode, talker
from gpu_engine.train.commands.tiny import recipe_of

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
START = re.compile(r"(?:python -m gpu_engine train|python3 -m gpu_engine\.train\.cli) (.+)")


def commands():
    text = PAGE.read_text("utf-8").replace("\\\n", " ")
    outside, inside = text.split("```")[::2], text.split("```")[1::2]
    quoted = "\n".join(inside).split("\n")
    quoted += re.findall(r"`([^`\n]+)`", "\n".join(outside))
    for line in quoted:
        for part in re.split(r" && | & ?$", line):
            found = START.match(part.strip())
            if found and "STAGE" not in part:
                yield found[1]


def parse(line):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(shlex.split(line.replace("LIMIT", "1450")))


def test_there_are_some():
    assert len(list(commands())) > 12


@pytest.mark.parametrize("line", [c for c in commands() if "..." not in c])
def test_a_command(line):
    args = parse(line)
    if args.stage != "tiny":
        return
    # what is passed on to the stages has to be theirs
    recipe = recipe_of(args)
    for stage in (codec, encode, talker):
        name = stage.__name__.rpartition(".")[2]
        parser = argparse.ArgumentParser()
        stage.add(parser.add_subparsers())
        needed = {"codec": ["--corpus=x", "--out=x"], "talker": ["--codes=x", "--out=x"]}
        needed["encode"] = needed["decoder"] = [*needed["codec"], "--codec=x"]
        parser.parse_args([name, *needed[name], *getattr(recipe, f"{name}_options")])


def test_the_window_teaches_the_shipped_decoder_and_talker_to_the_end():
    begins = [line for line in commands() if "--detach" in line and "--teacher" in line]
    codec, decoder = map(recipe_of, map(parse, begins))
    assert codec.finish
    assert codec.stages == ("codec", "encode", "talker")
    assert decoder.stages == ("decoder", "encode", "talker")
    assert decoder.codec == Path("/tmp/tiny/base/speech_tokenizer")
    assert {codec.weights, decoder.weights} == {Path("/tmp/tiny/base")}
    assert max(map(len, begins)) < 1500
