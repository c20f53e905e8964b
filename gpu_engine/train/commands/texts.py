"""`train texts`."""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from gpu_engine.train.commands.common import Stages, new_stage, read_texts
from gpu_engine.train.texts import Text, TextMaker

Phonemise = Callable[[str], str]


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    about = "from some sentences, very many that sound like text, with their phonemes"
    stage = new_stage(stages, "texts", about, run)
    stage.add_argument(
        "seeds", type=Path, help="plain lines, or JSON lines with `text` and perhaps `spoken`"
    )
    stage.add_argument("--out", type=Path, required=True, help="JSON lines, .gz")
    stage.add_argument("--count", type=int, default=400_000)
    stage.add_argument("--words", type=Path, help="a lexicon, one word a line")
    stage.add_argument("--avoid", type=Path, nargs="*", default=[], help="texts never to come near")
    stage.add_argument(
        "--phonemes", metavar="MODULE:FUNCTION", help="how the teacher's phonemes are made"
    )
    stage.add_argument("--seed", type=int, default=1)
    stage.add_argument("--minutes", type=float, default=1e9, help="of phonemising, at most")
    stage.add_argument("--workers", type=int, default=2, help="processes that phonemise")


def run(args: argparse.Namespace) -> None:
    lexicon = args.words.read_text("utf-8").split() if args.words else []
    avoid = [text.split("\t")[0] for path in args.avoid for text in read_texts(path)]
    maker = TextMaker(read_seeds(args.seeds), lexicon, avoid, args.seed)
    texts = maker.make(args.count)
    count = letters = 0
    until = 0.0
    with gzip.GzipFile(args.out, "wb", mtime=0) as file:
        for text, phonemes in with_phonemes(texts, args.phonemes, args.workers):
            until = until or time.monotonic() + 60 * args.minutes  # they were drawn by now
            count, letters = count + 1, letters + len(text.spoken)
            file.write(line(text, phonemes).encode())
            if time.monotonic() > until:
                break
    size = args.out.stat().st_size
    print(f"{count} texts, {letters / max(1, count):.1f} letters each, {size / 1e6:.2f} MB")


def read_seeds(path: Path) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for raw in filter(None, map(str.strip, file)):
            row = json.loads(raw) if raw.startswith("{") else {"text": raw}
            yield row["text"], row.get("spoken", row["text"])


def line(text: Text, phonemes: str | None) -> str:
    """`spoken` only where it is written otherwise, to keep the file small."""
    row = {"text": text.written}
    if text.spoken != text.written:
        row["spoken"] = text.spoken
    if phonemes is not None:
        row["phonemes"] = phonemes
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def with_phonemes(
    texts: Iterator[Text], name: str | None, workers: int
) -> Iterator[tuple[Text, str | None]]:
    if name is None:
        yield from ((text, None) for text in texts)
        return
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(partial(_phonemised, name), texts, chunksize=256)


def _phonemised(name: str, text: Text) -> tuple[Text, str]:
    return text, _function(name)(text.spoken)


@cache
def _function(name: str) -> Phonemise:
    module, _, function = name.partition(":")
    found: Phonemise = getattr(import_module(module), function)
    return found
