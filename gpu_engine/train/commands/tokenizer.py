"""`train tokenizer`."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpu_engine.train.commands.common import Stages, new_stage, read_texts
from gpu_engine.train.encode import Spellings
from gpu_engine.train.tiny import write_configs
from gpu_engine.train.tokenizer import train_bpe, write_tokenizer


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "learn a vocabulary; write it with the configuration files"
    stage = new_stage(stages, "tokenizer", about, run)
    stage.add_argument(
        "texts", type=Path, help="plain lines, or JSON lines with `text`; may be .gz"
    )
    stage.add_argument("--out", type=Path, required=True, help="the recipe folder")
    stage.add_argument("--size", type=int, default=1536, help="entries, added tokens included")


def run(args: argparse.Namespace) -> None:
    texts = list(read_texts(args.texts))
    ids = write_tokenizer(train_bpe(texts, args.size), args.out)
    write_configs(args.out, ids)
    (canonical,) = Spellings.of(args.out, variants=1).tokenizers
    tokens = sum(len(encoding.ids) for encoding in canonical.encode_batch(texts))
    print(f"{len(texts)} texts, {sum(map(len, texts)) / max(1, tokens):.2f} characters a token")
