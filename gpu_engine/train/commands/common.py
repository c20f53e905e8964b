"""What the commands of `train` share."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets" / "tiny"

Run = Callable[[argparse.Namespace], None]
Stages = "argparse._SubParsersAction[argparse.ArgumentParser]"


def new_stage(stages: Stages, name: str, about: str, run: Run) -> argparse.ArgumentParser:  # type: ignore[valid-type]
    made: argparse.ArgumentParser = stages.add_parser(  # type: ignore[attr-defined]
        name,
        help=about,
        description=about,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.set_defaults(run=run)
    return made


def with_corpus(stage: argparse.ArgumentParser) -> None:
    stage.add_argument("--corpus", required=True, help="a folder, or module:function")
    stage.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the corpus"
    )


def settings(pairs: list[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs)


def read_texts(path: Path) -> Iterator[str]:
    """Plain lines, or JSON lines with `text`; may be compressed."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line:
                yield json.loads(line)["text"] if line.startswith("{") else line
