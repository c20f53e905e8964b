"""`train talker`."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path

from gpu_engine.train.commands.common import ASSETS, Stages, new_stage
from gpu_engine.train.feed import BatchShape
from gpu_engine.train.objective import Weights
from gpu_engine.train.packing import Mix
from gpu_engine.train.runtime import join_world
from gpu_engine.train.store import Capacity
from gpu_engine.train.talker import Settings
from gpu_engine.train.talker_run import Run, train_talker

# Option of the command line -> field of Weights; its default is the field's.
OBJECTIVE = {
    "codes-weight": ("codes", "of the predictor's codes beside code 0"),
    "group-decay": ("group_decay", "weight of each predicted code relative to the one before"),
    "phones-weight": ("phones", "of naming the next frame's phones"),
    "end-weight": ("end", "of the end of speech among code 0's labels"),
    "smoothing": ("smoothing", "of the labels of all codes"),
    "dropout": ("dropout", "of activations"),
    "frame-drop": ("frame_drop", "share of frames that are not shown"),
    "code-noise": ("code_noise", "share of codes that are shown wrong"),
    "text-noise": ("text_noise", "share of text tokens that are shown wrong"),
    "predictor-frames": ("predictor_frames", "frames that the predictor learns from in a step"),
}
MIX = {
    "full-share": ("full", "of utterances whose text comes first, not streamed"),
    "auto-share": ("auto", "of utterances without a language"),
    "vector-share": ("vector", "of preset utterances given by the speaker encoder"),
    "designed-share": ("designed", "of described utterances given by their description"),
    "plain-share": ("plain", "of utterances in the canonical spelling"),
}


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "train Talker, Code Predictor and speaker encoder on shards"
    stage = new_stage(stages, "talker", about, run)
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="folder with configuration")
    stage.add_argument("--codes", type=Path, required=True, help="folder that shards arrive in")
    stage.add_argument("--writers", type=int, default=1, help="processes that write shards")
    stage.add_argument("--start-hours", type=float, default=1.0, help="of speech to begin with")
    stage.add_argument("--room-hours", type=float, default=200.0, help="of speech to have room for")
    about = "of speakers given by a recording to have room for"
    stage.add_argument("--room-speakers", type=int, default=320, help=about)
    stage.add_argument("--out", type=Path, required=True, help="weights, log.json, curves.png")
    stage.add_argument("--state", type=Path, help="folder to resume from and to save all state to")
    stage.add_argument("--weights", type=Path, help="start from an earlier run's weights")
    stage.add_argument("--minutes", type=float, default=9.0, help="of training")
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    stage.add_argument("--pause", type=float, default=0.0, help="Unix time to stop at, to go on")
    stage.add_argument("--steps", type=int, default=0, help="instead of minutes")
    stage.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    stage.add_argument("--guide-share", type=float, default=0.35, help="of the run, until it fades")
    stage.add_argument("--rows", type=int, default=64, help="packed rows a step")
    stage.add_argument("--length", type=int, default=384, help="positions in a row")
    about = "speakers a step whose recordings are heard anew"
    stage.add_argument("--picks", type=int, default=32, help=about)
    _add_fields(stage, OBJECTIVE, Weights())
    _add_fields(stage, MIX, Mix())
    stage.add_argument("--seed", type=int, default=1)
    stage.add_argument("--save-seconds", type=float, default=120.0, help="between saves")
    stage.add_argument("--report-steps", type=int, default=100)
    stage.add_argument("--validate-steps", type=int, default=1000)
    stage.add_argument("--no-speaker", action="store_true", help="leave the speaker encoder out")
    stage.add_argument("--no-compile", action="store_true", help="plain kernels")
    stage.add_argument("--no-capture", action="store_true", help="no CUDA graph")
    stage.add_argument("--device", default="auto")


def _add_fields(
    stage: argparse.ArgumentParser, options: dict[str, tuple[str, str]], defaults: Weights | Mix
) -> None:
    for option, (field, about) in options.items():
        value = getattr(defaults, field)
        stage.add_argument(f"--{option}", type=type(value), default=value, help=about)


def _chosen(args: argparse.Namespace, options: dict[str, tuple[str, str]]) -> dict[str, float]:
    return {
        field: getattr(args, option.replace("-", "_")) for option, (field, _) in options.items()
    }


def settings_of(args: argparse.Namespace) -> Settings:
    mix = replace(Mix(), **_chosen(args, MIX))
    return Settings(
        seconds=args.minutes * 60,
        steps=args.steps,
        rate=args.rate,
        guide_share=args.guide_share,
        picks=args.picks,
        shape=BatchShape(args.rows, args.length, args.seed, mix),
        seed=args.seed,
        capture=not args.no_capture,
        compile=not args.no_compile,
        weights=replace(Weights(), **_chosen(args, OBJECTIVE)),  # type: ignore[arg-type]
    )


def run(args: argparse.Namespace) -> None:
    names = [field.name for field in fields(Run) if field.name != "speaker"]
    chosen = {name: getattr(args, name) for name in names}
    job = Run(**chosen, speaker=not args.no_speaker)
    room = Capacity.for_hours(args.room_hours, args.room_speakers)
    train_talker(job, settings_of(args), join_world(args.device), room)
