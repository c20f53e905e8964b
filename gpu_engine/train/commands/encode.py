"""`train encode`."""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from gpu_engine.models.speaker import log_mel
from gpu_engine.train.commands.common import ASSETS, Stages, new_stage, settings, with_corpus
from gpu_engine.train.corpus import SpeechBatch, open_corpus
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
    about = "a file: everything is got ready, then waits until it is there"
    stage.add_argument("--after", type=Path, help=about)
    stage.add_argument("--minutes", type=float, default=1e9, help="from then on, at most")
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    stage.add_argument("--device", default="auto")


def run(args: argparse.Namespace) -> None:
    device = join_world(args.device).device
    torch.backends.cudnn.benchmark = False  # every length is another shape, and would be tuned anew
    corpus = open_corpus(args.corpus, device, settings(args.set))
    spellings = Spellings.of(args.recipe, args.spellings, args.spelling_dropout)
    if args.after:
        corpus = spoken_up(corpus)
        wait_for(args.after)
    encoder = load_codec(args.codec)[0].to(device)
    shards = encode_corpus(corpus, encoder.encode, log_mel, spellings, args.size, args.joined)
    started, hours = time.monotonic(), 0.0
    until = min(args.deadline or math.inf, time.time() + 60 * args.minutes)
    for shard in write_shards(shards, args.out, args.name, until):
        hours += sum(map(len, shard.codes)) * 0.08 / 3600
        spent = time.monotonic() - started
        print(f"{args.name}: {hours:.2f} h of speech after {spent:.0f} s", flush=True)


def spoken_up(corpus: Iterator[SpeechBatch]) -> Iterator[SpeechBatch]:
    """The same, its first batch made already: what speaks is loaded by then."""
    return itertools.chain(list(itertools.islice(corpus, 1)), corpus)


def wait_for(file: Path) -> None:
    print(f"ready, waiting for {file}", flush=True)
    while not file.exists():
        time.sleep(0.2)
