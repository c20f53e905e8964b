"""`python -m gpu_engine bench neighbours`: what one tenant's burst costs another's listeners.

Bob asks for sentences at random instants; Alice has so many texts spoken at once, and begins
another whenever one ends. Rounds of each burst in turns, so that all meet the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gpu_engine.bench.client import Take
from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.bench.load import poisson
from gpu_engine.bench.machine import describe
from gpu_engine.bench.report import write
from gpu_engine.bench.summary import summarize
from gpu_engine.bench.texts import paragraph, sentences

# Alice's burst stands when Bob's first counted sentence comes.
LEAD_S = 1.0
ALICES_CHARACTERS = 80
PROMISE = 1.1
REFUSED_S = 0.25

Takes = dict[int, list[Take]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    known = os.environ.get("PARLANCE_ENGINE", "").partition(",")[0]
    add("--engine", default=known, help="gRPC address of an engine")
    add("--voice", default="", help="a preset; the first by default")
    add("--rate", type=float, default=1.0, help="Bob's sentences a second")
    add("--bursts", type=int, nargs="+", default=[5, 50], help="Alice's streams at once")
    add("--seconds", type=float, default=30.0, help="of each round")
    add("--rounds", type=int, default=5, help="of each burst, and of Bob alone")
    add("--frames-a-word", type=int, default=0, help="an end for random weights, which have none")
    add("--out", type=Path, default=Path("docs/benchmarks/neighbours.json"), help="file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where one of Bob's requests failed: figures are then no figures."""
    console = Console()
    machine = describe()
    rows = asyncio.run(measure(arguments, console))
    kept = ("rate", "seconds", "rounds", "frames_a_word")
    target = {name: getattr(arguments, name) for name in kept}
    write({"machine": machine, "target": target, "promise": PROMISE, "rows": rows}, arguments.out)
    console.print(table(rows))
    console.print(str(arguments.out))
    return 1 if any(row["failed"] for row in rows) else 0


async def measure(arguments: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """A row for Bob alone, and one for each of Alice's bursts."""
    bob = EngineTarget(
        arguments.engine,
        arguments.voice,
        frames_a_word=arguments.frames_a_word,
        tenant="bob",
    )
    bursts = (0, *arguments.bursts)
    heard: Takes = {burst: [] for burst in bursts}
    others: Takes = {burst: [] for burst in bursts}
    with Progress(console=console) as progress:
        bar = progress.add_task("rounds", total=arguments.rounds * len(bursts))
        for seed in range(arguments.rounds):
            for burst in bursts:
                bobs, alices = await _beside(bob, burst, seed, arguments)
                heard[burst] += bobs
                others[burst] += alices
                progress.advance(bar)
    return rows_of(heard, others, arguments.rounds * arguments.seconds)


async def _beside(
    bob: EngineTarget, burst: int, seed: int, arguments: argparse.Namespace
) -> tuple[list[Take], list[Take]]:
    """What Bob heard in a round, and what Alice did."""
    until = time.perf_counter() + LEAD_S + arguments.seconds
    alice, texts = replace(bob, tenant="alice"), alices_texts(seed)
    alices = [asyncio.create_task(_talk(alice, texts, until)) for _ in range(burst)]
    await asyncio.sleep(LEAD_S)
    bobs = await _ask(bob, arguments.rate, arguments.seconds, seed)
    return bobs, [take for takes in await asyncio.gather(*alices) for take in takes]


def alices_texts(seed: int) -> Iterator[tuple[int, str]]:
    """Without an end, each with a seed of its own."""
    return ((number, paragraph(ALICES_CHARACTERS, number)) for number in count(1_000_000 * seed))


async def _ask(target: EngineTarget, rate: float, seconds: float, seed: int) -> list[Take]:
    """An open loop."""
    times = poisson(rate, seconds, seed)
    texts = sentences(len(times), seed)

    async def one(number: int) -> Take:
        await asyncio.sleep(times[number])
        return await target.speak(texts[number], number)

    return list(await asyncio.gather(*map(one, range(len(times)))))


async def _talk(target: EngineTarget, texts: Iterator[tuple[int, str]], until: float) -> list[Take]:
    """One text after another."""
    takes = []
    while time.perf_counter() < until:
        seed, text = next(texts)
        takes.append(await target.speak(text, seed))
        if takes[-1].failure:
            await asyncio.sleep(REFUSED_S)  # Refused at once: do not ask in a tight loop.
    return takes


def rows_of(heard: Takes, others: Takes, seconds: float) -> list[dict[str, Any]]:
    """By burst: Bob's figures, his p95 beside what it is alone, and what Alice had meanwhile."""
    rows: list[dict[str, Any]] = []
    for burst, takes in heard.items():
        bobs, alices = summarize(takes, seconds), summarize(others[burst], seconds)
        first = bobs["first_byte_ms"]
        alone = rows[0]["first_audio_ms"] if rows else first
        both = first and alone
        rows.append(
            {
                "burst": burst,
                **{name: bobs[name] for name in ("requests", "failed", "failures", "underruns")},
                "first_audio_ms": first,
                "first_audible_ms": bobs["first_audible_ms"],
                "p95_to_alone": round(first["p95"] / alone["p95"], 3) if both else None,
                "alices_requests": alices["requests"],
                "alices_failed": alices["failed"],
                "alices_audio_s_per_s": alices["audio_s_per_s"],
                "alices_underruns": alices["underruns"],
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(title="Bob's first audio beside Alice's burst, ms after the request was sent")
    for title in ("burst", "requests", "p50", "p95", "p99", "p95 to alone", "underruns", "Alice"):
        shown.add_column(title, justify="right")
    for row in rows:
        first = row["first_audio_ms"]
        values = [row["burst"], row["requests"], *map(first.get, ("p50", "p95", "p99"))]
        cells = ["-" if value is None else f"{value:.4g}" for value in values]
        alices = f"{row['alices_audio_s_per_s']:.4g} s of audio/s"
        shown.add_row(*cells, str(row["p95_to_alone"]), str(row["underruns"]), alices)
    return shown
