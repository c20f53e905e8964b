"""`train codec`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gpu_engine.train.alignment import UNLABELLED
from gpu_engine.train.codec import CodecRecipe
from gpu_engine.train.codec_data import LABEL_SAMPLES
from gpu_engine.train.codec_run import train_codec
from gpu_engine.train.commands.common import Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import SpeechBatch, open_corpus
from gpu_engine.train.runtime import join_world

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
    "dropout": ("dropout", "share of windows that are decoded from fewer codes"),
    "settle-steps": ("settle_steps", "in which norm and codebooks are fitted before a save"),
    "log-every": ("log_every", "steps between two lines of the log"),
    "seed": ("seed", "of everything drawn"),
}


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(stages, "codec", "learn the 12.5 Hz codec from speech", run)
    with_corpus(stage)
    stage.add_argument("--out", type=Path, required=True)
    stage.add_argument("--hours", type=float, default=3.0, help="of speech to keep on each device")
    stage.add_argument("--minutes", type=float, default=9.0, help="of training")
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    stage.add_argument("--resume", type=Path, help="folder of an earlier run")
    stage.add_argument("--decoder", type=Path, help="a speech_tokenizer folder to start from")
    for option, (field, about) in OPTIONS.items():
        value = getattr(CodecRecipe(), field)
        stage.add_argument(f"--{option}", type=type(value), default=value, help=about)
    stage.add_argument("--device", default="auto")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Speech with a phone label every 25 ms, UNLABELLED where the corpus knows none."""

    audio: Tensor
    phones: Tensor


def run(args: argparse.Namespace) -> None:
    world = join_world(args.device)
    chosen = {
        field: getattr(args, option.replace("-", "_")) for option, (field, _) in OPTIONS.items()
    }
    recipe = replace(CodecRecipe(), seconds=args.minutes * 60, **chosen)
    parts = {"part": str(world.rank), "parts": str(world.size)}
    speech = open_corpus(args.corpus, world.device, parts | settings(args.set))
    labelled = map(label, speech)
    train_codec(
        labelled, args.hours, recipe, world, args.out, args.resume,
        deadline=args.deadline, decoder=args.decoder,
    )  # fmt: skip


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
