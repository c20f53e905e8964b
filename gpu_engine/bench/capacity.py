"""`python -m gpu_engine bench capacity`: the highest rate at which everybody is served in time, and
what a million characters cost there."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from rich.console import Console
from rich.progress import Progress

from gpu_engine.bench.machine import describe
from gpu_engine.bench.page import page
from gpu_engine.bench.rates import (
    COLUMNS,
    Say,
    add_target,
    describe_target,
    speaker,
    table,
    window,
)
from gpu_engine.bench.report import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    add = parser.add_argument
    add("--first-rate", type=float, default=1.0, help="requests a second to begin with")
    add("--most", type=float, default=512.0, help="the highest rate to try")
    add("--resolution", type=float, default=0.1, help="stop when the bounds are this close")
    add("--first-audio-ms", type=float, default=50.0, help="p95 that is still in time")
    add("--price", type=float, default=0.0, help="of an hour of this machine, any currency")
    add("--seed", type=int, default=1)
    add("--name", default="capacity", help="of the files")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where not even the lowest rate tried is served in time."""
    console = Console()
    rows = asyncio.run(_search(arguments, console))
    result = {"machine": describe(), "target": describe_target(arguments)}
    result |= verdict(rows, arguments.first_audio_ms, arguments.price) | {"rows": rows}
    file = arguments.out / f"{arguments.name}.json"
    write(result, file)
    file.with_suffix(".html").write_text(page("Capacity", result, COLUMNS), "utf-8")
    console.print(table(rows))
    console.print(_sentence(result))
    console.print(f"{file}, .html")
    return 0 if result["capacity"] else 1


async def _search(arguments: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Doubles until a rate fails, halves down to one that holds, then closes in between them."""
    rows: list[dict[str, Any]] = []
    with Progress(console=console) as progress:
        say, search = speaker(arguments), Search(arguments.first_rate, arguments.most)
        while (rate := search.next(arguments.resolution)) is not None:
            rows.append(await _try(say, rate, arguments, progress))
            search.learn(rate, in_time(rows[-1], arguments.first_audio_ms))
    return sorted(rows, key=lambda line: line["rate"])


async def _try(
    say: Say, rate: float, arguments: argparse.Namespace, progress: Progress
) -> dict[str, Any]:
    return await window(say, rate, arguments.seed, arguments, progress)


class Search:
    """Which rate to try next. Rates above one that failed are taken to fail."""

    def __init__(self, first: float, most: float) -> None:
        self._first, self._most = first, most
        self._held, self._failed = 0.0, float("inf")

    def next(self, resolution: float) -> float | None:
        """None when the bounds are close enough, or the bounds of the search are reached."""
        if self._failed == float("inf"):
            rate = self._held * 2 or self._first
            return None if self._held >= self._most else min(rate, self._most)
        if not self._held:
            rate = self._failed / 2
            return rate if rate >= self._first / 16 else None
        close = self._failed <= self._held * (1 + resolution)
        return None if close else round((self._held * self._failed) ** 0.5, 2)

    def learn(self, rate: float, held: bool) -> None:
        if held:
            self._held = max(self._held, rate)
        else:
            self._failed = min(self._failed, rate)


def in_time(line: dict[str, Any], first_audio_ms: float) -> bool:
    """No failure, no listener who ran dry, first audio at the 95th percentile within the limit."""
    if line["failed"] or line["underrun_streams"] or line["ttfa_p95_ms"] is None:
        return False
    return bool(line["ttfa_p95_ms"] <= first_audio_ms)


def verdict(rows: list[dict[str, Any]], first_audio_ms: float, price: float) -> dict[str, Any]:
    """The best row of a rate that always holds; 1e6 * price / (3600 * characters per second)."""
    missed = {line["rate"] for line in rows if not in_time(line, first_audio_ms)}
    held = [line for line in rows if line["rate"] not in missed]
    best = max(held, key=lambda line: float(line["rate"]), default=None)
    speed = best["characters_per_s"] if best else 0.0
    cost = 1e6 * price / (3600 * speed) if speed and price else None
    return {
        "first_audio_ms": first_audio_ms,
        "capacity": best["rate"] if best else 0.0,
        "characters_per_s": speed,
        "price_per_hour": price,
        "cost_per_million_characters": None if cost is None else round(cost, 4),
    }


def _sentence(result: dict[str, Any]) -> str:
    if not result["capacity"]:
        return "No rate was served in time."
    cost = result["cost_per_million_characters"]
    money = "" if cost is None else f", {cost:g} per million characters"
    return f"{result['capacity']:g} requests/s, {result['characters_per_s']:g} characters/s{money}"
