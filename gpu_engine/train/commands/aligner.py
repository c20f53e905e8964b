"""`train aligner`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from gpu_engine.models.aligner import AlignerConfig, AlignerNet
from gpu_engine.train.aligner import AlignerRecipe, train_aligner
from gpu_engine.train.aligner_data import gather
from gpu_engine.train.commands.common import Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import open_corpus
from gpu_engine.train.runtime import join_world

# Option of the command line -> field of AlignerRecipe; its default is the field's.
OPTIONS = {
    "steps": ("steps", "of training, each over about --speech seconds"),
    "speech": ("speech", "seconds of speech in a step"),
    "rate": ("rate", "highest learning rate"),
    "edge-weight": ("edges", "of words' edges, relative to letters"),
    "noise": ("noise", "share of the speech that noise is added to"),
    "log-every": ("log_every", "steps between two lines of the log"),
    "seed": ("seed", "of everything drawn"),
}


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(stages, "aligner", "learn to tell when words are spoken", run)
    with_corpus(stage)
    stage.add_argument("--out", type=Path, required=True, help="gets a log and an `aligner` folder")
    stage.add_argument("--hours", type=float, default=1.0, help="of speech to keep in memory")
    stage.add_argument("--start", type=Path, help="folder of an aligner to go on from")
    for option, (field, about) in OPTIONS.items():
        value = getattr(AlignerRecipe(), field)
        stage.add_argument(f"--{option}", type=type(value), default=value, help=about)


def run(args: argparse.Namespace) -> None:
    """On the CPU: the network is too small for anything else to be faster."""
    chosen = {
        field: getattr(args, option.replace("-", "_")) for option, (field, _) in OPTIONS.items()
    }
    recipe = replace(AlignerRecipe(), **chosen)
    device = join_world("cpu").device
    config = AlignerConfig()
    corpus = open_corpus(args.corpus, device, settings(args.set))
    examples = gather(corpus, config, args.hours)
    if not examples:
        raise SystemExit(f"{args.corpus} has no speech whose text can be spelled")
    net = train_aligner(examples, config, recipe, args.out, _start(args.start))
    size = sum(parameter.numel() for parameter in net.parameters())
    print(f"{args.out}: {len(examples)} utterances, {size:,} parameters")


def _start(folder: Path | None) -> AlignerNet | None:
    if folder is None:
        return None
    # Only here: training runs where nothing of what serves is installed.
    from gpu_engine.align.load import load_net

    return load_net(folder)
