"""`train tokenizer` and `train shape`: the recipe folder of a tiny checkpoint."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import fields
from pathlib import Path

from gpu_engine.train.commands.common import ASSETS, Stages, new_stage, read_texts
from gpu_engine.train.encode import Spellings
from gpu_engine.train.tiny import Shape, write_configs
from gpu_engine.train.tokenizer import train_bpe, write_tokenizer

TOKENIZER_FILES = ("vocab.json", "merges.txt", "tokenizer_config.json")


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "learn a vocabulary; write it with the configuration files"
    stage = new_stage(stages, "tokenizer", about, run)
    stage.add_argument(
        "texts", type=Path, help="plain lines, or JSON lines with `text`; may be .gz"
    )
    stage.add_argument("--out", type=Path, required=True, help="the recipe folder")
    stage.add_argument("--size", type=int, default=1536, help="entries, added tokens included")
    _add_shape(stage)
    stage = new_stage(stages, "shape", "the same vocabulary with models of another size", reshape)
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="folder with the tokenizer")
    stage.add_argument("--out", type=Path, required=True, help="the new recipe folder")
    _add_shape(stage)


def _add_shape(stage: argparse.ArgumentParser) -> None:
    for field in fields(Shape):
        option = f"--{field.name.replace('_', '-')}"
        stage.add_argument(option, type=int, default=field.default, help=" ")


def _shape(args: argparse.Namespace) -> Shape:
    return Shape(**{field.name: getattr(args, field.name) for field in fields(Shape)})


def run(args: argparse.Namespace) -> None:
    texts = list(read_texts(args.texts))
    ids = write_tokenizer(train_bpe(texts, args.size), args.out)
    write_configs(args.out, ids, _shape(args))
    (canonical,) = Spellings.of(args.out, variants=1).tokenizers
    tokens = sum(len(encoding.ids) for encoding in canonical.encode_batch(texts))
    print(f"{len(texts)} texts, {sum(map(len, texts)) / max(1, tokens):.2f} characters a token")


def reshape(args: argparse.Namespace) -> None:
    args.out.mkdir(parents=True, exist_ok=True)
    for name in TOKENIZER_FILES:
        shutil.copyfile(args.recipe / name, args.out / name)
    added = json.loads((args.out / "tokenizer_config.json").read_text("utf-8"))
    ids = {row["content"]: int(i) for i, row in added["added_tokens_decoder"].items()}
    write_configs(args.out, ids, _shape(args))
