"""`train record`."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpu_engine.train.commands.common import Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import open_corpus
from gpu_engine.train.record import record
from gpu_engine.train.runtime import join_world


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(stages, "record", "keep what a corpus speaks as a folder of recordings", run)
    with_corpus(stage)
    stage.add_argument("--out", type=Path, required=True)
    stage.add_argument("--hours", type=float, default=1.0, help="of speech")
    stage.add_argument("--device", default="auto")


def run(args: argparse.Namespace) -> None:
    device = join_world(args.device).device
    hours = record(open_corpus(args.corpus, device, settings(args.set)), args.out, args.hours)
    print(f"{args.out}: {hours:.2f} h of speech")
