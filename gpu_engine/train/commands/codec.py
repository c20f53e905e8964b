"""`train codec` and `train decoder`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gpu_engine.train.alignment import UNLABELLED
from gpu_engine.train.codec import CodecRecipe
from gpu_engine.train.codec_data import LABEL_SAMPLES
from gpu_engine.train.codec_run import train_codec, train_decoder
from gpu_engine.train.commands.common import Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import SpeechBatch, open_corpus
from gpu_engine.train.runtime import World, join_world

# Option of the command line -> field of CodecRecipe; its default is the field's.
OPTIONS = {
    "rows": ("rows", "windows in a step"),
    "frames": ("frames", "of 80 ms in a window"),
    "rate": ("rate", "highest learning rate"),
    "quantize-from": ("quantize_from", "share of the time after which codes are used"),
    "judge-from": ("judge_from", "share of the time after which adversaries listen"),
    "decoder-rate": ("decoder_rate", "of the decoder, relative to the others'"),
    "phone-weight": ("phone", "of naming the phones from code 0"),
    "scale-weight": ("scale", "of keeping the latents at a deviation of 1"),
    "likeness-weight": ("likeness", "of sounding like the speaker, to the listener"),
    "dropout": ("dropout", "share of windows that are decoded from fewer codes"),
    "settle-steps": ("settle_steps", "in which norm and codebooks are fitted before a save"),
    "log-every": ("log_every", "steps between two lines of the log"),
    "save-seconds": ("save_every", "between saves"),
    "seed": ("seed", "of everything drawn"),
}


# Of these, what the decoder of a finished codec is taught by; its rate is a lower one.
DECODER_OPTIONS = (
    "rows",
    "frames",
    "rate",
    "judge-from",
    "likeness-weight",
    "log-every",
    "save-seconds",
    "seed",
)
DECODER = CodecRecipe(rate=4e-4, judge_from=0.1, quantize_from=0.0, rows=24)


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(stages, "codec", "learn the 12.5 Hz codec from speech", run)
    _add_common(stage, tuple(OPTIONS), CodecRecipe())
    stage.add_argument(
        "--resume",
        type=Path,
        help="an earlier run's folder, or a speech_tokenizer with its encoder",
    )
    about = "go on with what an earlier process of this run saved in --out, if it did"
    stage.add_argument("--again", action="store_true", help=about)
    about = "teach a finished codec's decoder more, for codes that stay what they are"
    stage = new_stage(stages, "decoder", about, run_decoder)
    _add_common(stage, DECODER_OPTIONS, DECODER)
    stage.add_argument(
        "--codec",
        type=Path,
        required=True,
        help="a run's folder, or a speech_tokenizer with encoder",
    )


def _add_common(
    stage: argparse.ArgumentParser, options: tuple[str, ...], defaults: CodecRecipe
) -> None:
    with_corpus(stage)
    stage.add_argument("--out", type=Path, required=True)
    stage.add_argument("--hours", type=float, default=3.0, help="of speech to keep on each device")
    stage.add_argument("--minutes", type=float, default=9.0, help="of training")
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    for option in options:
        field, about = OPTIONS[option]
        value = getattr(defaults, field)
        stage.add_argument(f"--{option}", type=type(value), default=value, help=about)
    stage.add_argument(
        "--listener", type=Path, help="a Base checkpoint: its speaker encoder listens"
    )
    stage.add_argument("--device", default="auto")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Speech with a phone label every 25 ms, UNLABELLED where the corpus knows none."""

    audio: Tensor
    phones: Tensor


def run(args: argparse.Namespace) -> None:
    world = join_world(args.device)
    recipe = _recipe(args, tuple(OPTIONS), CodecRecipe())
    train_codec(
        _speech(args, world), args.hours, recipe, world, args.out, args.resume,
        deadline=args.deadline, again=args.again,
    )  # fmt: skip


def run_decoder(args: argparse.Namespace) -> None:
    world = join_world(args.device)
    recipe = _recipe(args, DECODER_OPTIONS, DECODER)
    speech = _speech(args, world)
    train_decoder(speech, args.hours, recipe, world, args.out, args.codec, deadline=args.deadline)


def _recipe(args: argparse.Namespace, options: tuple[str, ...], base: CodecRecipe) -> CodecRecipe:
    chosen = {OPTIONS[option][0]: getattr(args, option.replace("-", "_")) for option in options}
    return replace(base, seconds=args.minutes * 60, listener=args.listener, **chosen)


def _speech(args: argparse.Namespace, world: World) -> Iterator[Labelled]:
    parts = {"part": str(world.rank), "parts": str(world.size)}
    return map(label, open_corpus(args.corpus, world.device, parts | settings(args.set)))


def label(batch: SpeechBatch) -> Labelled:
    """Audio cut to whole labels, and the labels of every row."""
    count = batch.audio.shape[1] // LABEL_SAMPLES
    phones = np.full((len(batch.utterances), count), UNLABELLED, np.int64)
    for row, utterance in enumerate(batch.utterances):
        if utterance.phones is not None:
            known = utterance.phones[:count]
            phones[row, : len(known)] = known
    audio = batch.audio[:, : count * LABEL_SAMPLES]
    return Labelled(audio, torch.from_numpy(phones).to(audio.device))
