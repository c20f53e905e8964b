"""`make crash-test`: parts are killed at random, and what was heard agrees with the ledger."""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import sys
import tempfile
from pathlib import Path

import django


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.product.crash", description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "ttsapp.settings", "PARLANCE_DATA": folder}
        django.setup()
        logging.getLogger("httpx").setLevel(logging.WARNING)
        return _crash(Path(folder), seed, options)


def _crash(folder: Path, seed: int, options: argparse.Namespace) -> int:
    from tests.product.crash.load import Load
    from tests.product.crash.lost_answer import TOLD, lose_answer, try_again
    from tests.product.crash.run import crash
    from tests.product.services import on_services

    with on_services(folder) as product:
        load = Load(product, product.environment["DATABASE_URL"], random.Random(seed))
        told = try_again(load, lose_answer(load))
        books, wrong = crash(load, options.requests, options.at_once, options.kills)
    if told != TOLD:
        wrong.append(f"an answer that was lost is told of as {told}")
    print(json.dumps({"seed": seed, **books.summary(), "wrong": wrong}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
