"""`train encode`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

from gpu_engine.models.speaker import log_mel
from gpu_engine.train.commands.common import ASSETS, Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import open_corpus
from gpu_engine.train.encode import Spellings, encode_corpus, write_shards
from gpu_engine.train.export import load_codec
from gpu_engine.train.runtime import join_world


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "turn speech into shards of codes, tokens and alignments"
    stage = new_stage(stages, "encode", about, run)
    with_corpus(stage)
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="folder with the tokenizer")
    stage.add_argument("--codec", type=Path, required=True, help="a trained codec's folder")
    stage.add_argument("--out", type=Path, required=True, help="folder for the shards")
    stage.add_argument("--name", default="codes", help="of this writer's shards")
    stage.add_argument("--size", type=int, default=1000, help="utterances in a shard")
    stage.add_argument("--spellings", type=int, default=3, help="of a text, the first canonical")
    stage.add_argument(
        "--spelling-dropout", type=float, default=0.1, help="merges skipped in the others"
    )
    stage.add_argument(
        "--joined", type=float, default=0.1, help="share that also stand behind the one before"
    )
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    stage.add_argument("--device", default="auto")


def run(args: argparse.Namespace) -> None:
    device = join_world(args.device).device
    torch.backends.cudnn.benchmark = False  # every length is another shape, and would be tuned anew
    encoder = load_codec(args.codec)[0].to(device)
    corpus = open_corpus(args.corpus, device, settings(args.set))
    spellings = Spellings.of(args.recipe, args.spellings, args.spelling_dropout)
    shards = encode_corpus(corpus, encoder.encode, log_mel, spellings, args.size, args.joined)
    started, hours = time.monotonic(), 0.0
    for shard in write_shards(shards, args.out, args.name, args.deadline):
        hours += sum(map(len, shard.codes)) * 0.08 / 3600
        spent = time.monotonic() - started
        print(f"{args.name}: {hours:.2f} h of speech after {spent:.0f} s", flush=True)
