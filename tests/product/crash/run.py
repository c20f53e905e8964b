"""A load with crashes from its start to the comparison."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

from tests.product.crash.books import Books
from tests.product.crash.load import Load
from tests.product.running import PATIENCE, Running
from tests.ttsapp.conftest import eventually
from ttsapp.launch.plan import ROOT


def crash(load: Load, requests: int, at_once: int, kills: int) -> tuple[Books, list[str]]:
    """The books afterwards, and what is wrong in them."""
    asyncio.run(load.run(requests, at_once, kills))
    return compared(load)


def compared(load: Load) -> tuple[Books, list[str]]:
    eventually(load.product.is_ready, PATIENCE)
    # No request is under way: every reservation is a dead process's.
    manage(load.product, "reconcile_usage", "--older-than", "0")
    books = Books.of(load)
    checked = json.loads(manage(load.product, "check_ledger"))
    return books, [*books.complaints(), *map(str, checked["differences"])]


def manage(product: Running, *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    environment = {**product.environment, "PARLANCE_DATA": str(product.plan.data)}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    return run.stdout
