"""`train export` and `train evaluate`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import get_args

from gpu_engine.config import ModelKind
from gpu_engine.train.commands.common import ASSETS, Stages, new_stage
from gpu_engine.train.export import export_checkpoint

TRIALS = 96  # of what a checkpoint is told


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    _export(stages)
    _evaluate(stages)


def _export(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "join the trained parts into a checkpoint directory"
    stage = new_stage(stages, "export", about, _run_export)
    stage.add_argument("--recipe", type=Path, default=ASSETS)
    stage.add_argument("--talker", type=Path, required=True, help="a Talker run's folder")
    stage.add_argument("--codec", type=Path, required=True, help="a trained codec's folder")
    stage.add_argument("--kind", choices=get_args(ModelKind), default="custom_voice")
    stage.add_argument(
        "--instructed", action="store_true", help="it was trained with instructions, and takes them"
    )
    stage.add_argument("--out", type=Path, required=True)


def _run_export(args: argparse.Namespace) -> None:
    parts = args.recipe, args.talker, args.codec
    export_checkpoint(*parts, args.out, args.kind, args.instructed)
    size = sum(file.stat().st_size for file in args.out.rglob("*") if file.is_file())
    print(f"{args.out}: {size / 1e6:.2f} MB")


def _evaluate(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(
        stages, "evaluate", "let a checkpoint speak held-out sentences", _run_evaluate
    )
    stage.add_argument("--checkpoint", type=Path, required=True)
    stage.add_argument("--sentences", type=Path, required=True, help="one a line; a tab ends it")
    stage.add_argument("--out", type=Path, required=True, help="for WAV files and transcript.tsv")
    stage.add_argument("--count", type=int, help="only so many, spread over the file")
    stage.add_argument(
        "--told",
        action="store_true",
        help="instead: whether voices are as described, or presets speak as instructed",
    )
    stage.add_argument("--voices", nargs="*", default=[], help="in turns; all presets if none")
    stage.add_argument("--layout", choices=["full", "streaming"], default="full")
    stage.add_argument("--language", default="english")
    stage.add_argument("--greedy", action="store_true")
    stage.add_argument("--temperature", type=float)
    stage.add_argument("--subtalker-temperature", type=float)
    stage.add_argument("--top-k", type=int)
    stage.add_argument("--repetition-penalty", type=float)
    stage.add_argument("--seed", type=int, default=1)
    stage.add_argument("--batch", type=int, default=16)
    stage.add_argument("--device", default="cpu")


def _run_evaluate(args: argparse.Namespace) -> None:
    # Only here: the other stages run where nothing of what serves is installed.
    from gpu_engine.train.evaluate import Listening, evaluate, evaluate_told

    how = Listening(
        voices=tuple(args.voices),
        layout=args.layout,
        language=args.language,
        greedy=args.greedy,
        temperature=args.temperature,
        subtalker_temperature=args.subtalker_temperature,
        top_k=args.top_k,
        repetition_penalty=args.repetition_penalty,
        seed=args.seed,
        batch=args.batch,
    )
    where = args.checkpoint, args.sentences, args.out, how, args.device
    if args.told:
        print(json.dumps(evaluate_told(*where, args.count or TRIALS)))
    else:
        print(json.dumps(evaluate(*where, args.count)))
