"""`train tiny` and `train follow`."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import torch

from gpu_engine.config import ModelKind
from gpu_engine.train import detached, manifest
from gpu_engine.train.commands.common import ASSETS, Stages, new_stage
from gpu_engine.train.crew import Crew, StageError
from gpu_engine.train.recipe import CUSTOM_VOICE, DECODER, STAGES, Kitchen, Recipe

DEFAULTS = {field.name: field.default for field in fields(Recipe)}
SIZES = {
    "minutes-codec": "of training the codec",
    "minutes-talker": "of training the Talker, over all calls",
    "minutes-decoder": "of teaching the codec's decoder more, if that stage is asked for",
    "speech-minutes": "that speech is made for, beside the Talker",
    "start-hours": "of speech that the Talker begins with",
    "room-hours": "of speech that it has room for",
    "codec-hours": "of speech that the codec learns from, on each device",
    "writers-per-gpu": "processes that make speech",
    "count": "sentences to speak in the end",
    "limit": "seconds for this call, all in all; 0 for as long as it takes",
    "reserve": "seconds of them for export and evaluation",
}


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "from a teacher and texts to a checkpoint that speaks, on however many GPUs there are"
    stage = new_stage(stages, "tiny", about, run)
    stage.add_argument("--teacher", type=Path, required=True, help="folder of Kokoro-82M and code")
    stage.add_argument("--texts", type=Path, required=True, help="what `train texts` wrote")
    stage.add_argument("--out", type=Path, required=True, help="everything goes here")
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="tokenizer and configuration")
    stage.add_argument("--sentences", type=Path, help="held out, to speak in the end")
    stage.add_argument("--stages", default=",".join(STAGES), help="of this call, with commas")
    stage.add_argument("--finish", action="store_true", help="end the Talker with this call")
    stage.add_argument("--codec", type=Path, help="an earlier codec's folder, used as it is")
    stage.add_argument("--resume-codec", type=Path, help="an earlier codec's folder, to go on with")
    stage.add_argument("--weights", type=Path, help="an earlier Talker's folder")
    stage.add_argument("--gpus", type=int, default=-1, help="-1: all; 0: the CPU")
    stage.add_argument("--ranks", type=int, default=0, help="that train together; 0: one a GPU")
    stage.add_argument("--kinds", default=CUSTOM_VOICE, help="of checkpoint to export, with commas")
    stage.add_argument(
        "--manifest", type=Path, help="of an earlier run: its options hold where none is given"
    )
    stage.add_argument("--detach", action="store_true", help="return at once; see `train follow`")
    stage.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the corpus"
    )
    for option, about_size in SIZES.items():
        value = DEFAULTS[option.replace("-", "_")]
        stage.add_argument(f"--{option}", type=type(value), default=value, help=about_size)
    for name in ("codec", DECODER, "encode", "talker"):
        stage.add_argument(f"--{name}-options", default="", help=f"more of `train {name}`'s")
    for name in (DECODER, "encode", "talker"):
        stage.add_argument(f"--{name}-gpus", default="", help=f"numbers, for `{name}`; else all")
    stage.set_defaults(usual=stage.get_default)
    _add_follow(stages)


def recipe_of(args: argparse.Namespace) -> Recipe:
    """Raises ValueError for a stage, a kind, or an option of a manifest that is none."""
    usual = {name: args.usual(name) for name in vars(args) if name not in manifest.UNKEPT}
    recorded = manifest.read_options(args.manifest, usual) if args.manifest else {}
    for name, value in recorded.items():
        if name == "set":
            args.set = [*value, *args.set]
        elif getattr(args, name) == args.usual(name):
            setattr(args, name, value)
    stages = tuple(args.stages.split(","))
    if unknown := set(stages) - {*STAGES, DECODER}:
        raise ValueError(f"no such stage: {', '.join(sorted(unknown))}")
    kinds = tuple(args.kinds.split(","))
    if unknown := set(kinds) - {*get_args(ModelKind)}:
        raise ValueError(f"no such kind of checkpoint: {', '.join(sorted(unknown))}")
    chosen = {name: getattr(args, name) for name in DEFAULTS}
    options = {name: tuple(shlex.split(chosen[name])) for name in chosen if "_options" in name}
    options |= {name: tuple(chosen[name].split()) for name in chosen if name.endswith("_gpus")}
    gpus = torch.cuda.device_count() if args.gpus < 0 else args.gpus
    changed = {"stages": stages, "kinds": kinds, "gpus": gpus, "set": tuple(args.set), **options}
    return Recipe(**chosen | changed)


def run(args: argparse.Namespace) -> None:
    try:
        recipe = recipe_of(args)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    if args.detach:
        arguments = [word for word in sys.argv[1:] if word != "--detach"]
        number = detached.start(arguments[arguments.index("tiny") :], args.out)
        print(f"process {number} works in {args.out}", flush=True)
        return
    print(f"{recipe.gpus or 'no'} GPUs, {recipe.writers} writers", flush=True)
    # Ended by a signal, the crew must go too: its processes have groups of their own.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    status = 1
    try:
        with Crew(recipe.out / "logs") as crew:
            kitchen = Kitchen(recipe, crew)
            kitchen.cook()
        chosen = manifest.options(vars(args), args.usual)
        manifest.write(recipe.out, chosen, (recipe.texts,), kitchen.seconds)
        status = 0
    except StageError as error:
        raise SystemExit(str(error)) from error
    finally:
        (recipe.out / detached.ENDED).write_text(str(status))


def _add_follow(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "look in on a detached recipe, and bring home what it has made"
    stage = new_stage(stages, "follow", about, _run_follow)
    stage.add_argument("folder", type=Path, help="the recipe's --out")
    stage.add_argument("--seconds", type=float, default=1e9, help="to follow its log")
    stage.add_argument("--out", type=Path, help="for weights, logs and clips, as they are then")


def _run_follow(args: argparse.Namespace) -> None:
    standing = detached.follow(args.folder, args.seconds)
    for path in detached.bring_home(args.folder, args.out) if args.out else ():
        print(f"{path.name}: {path.stat().st_size / 2**20:.1f} MiB")
    print(f"the recipe is {standing}", flush=True)
    if standing in ("failed", "killed"):
        raise SystemExit(1)
