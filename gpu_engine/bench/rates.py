"""`python -m gpu_engine bench load`: an open loop at one or several rates, by the published method:
Poisson arrivals, a warm-up that does not count, a player without a buffer."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gpu_engine.bench.client import Take, Target, speak
from gpu_engine.bench.engine_client import PROFILES, EngineTarget
from gpu_engine.bench.load import poisson
from gpu_engine.bench.machine import describe
from gpu_engine.bench.page import page
from gpu_engine.bench.report import write
from gpu_engine.bench.summary import percentile, summarize
from gpu_engine.bench.texts import sentences

Say = Callable[[str, int], Awaitable[Take]]
COLUMNS = (
    ("rate", "rate"),
    ("requests", "requests"),
    ("failed", "failed"),
    ("ttfa_p50_ms", "p50"),
    ("ttfa_p95_ms", "p95"),
    ("ttfa_p99_ms", "p99"),
    ("underrun_streams", "underruns"),
    ("e2e_p95_ms", "whole p95"),
    ("characters_per_s", "chars/s"),
    ("seed", "seed"),
)


def add_target(parser: argparse.ArgumentParser) -> None:
    """Whom to ask, how long, with what: shared by `load` and `capacity`."""
    add = parser.add_argument
    add("--url", default=os.environ.get("PARLANCE_URL", "http://127.0.0.1:8000"))
    add("--key", default=os.environ.get("PARLANCE_KEY", ""), help="an API key")
    add("--engine", default="", help="gRPC address: straight at an engine, past the control plane")
    add("--voice", default="", help="alloy over HTTP, the first preset over gRPC by default")
    add("--profile", default="latency", choices=sorted(PROFILES), help="chunks, over gRPC")
    add("--seconds", type=float, default=60.0, help="length of each window")
    add("--warm-up", type=float, default=30.0, help="seconds at the same rate that do not count")
    add("--out", type=Path, default=Path("docs/benchmarks"), help="folder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target(parser)
    add = parser.add_argument
    add("--rates", type=float, nargs="+", default=[1.0], help="requests a second")
    add("--seeds", type=int, nargs="+", default=[1], help="one row each")
    add("--name", default="load", help="of the files")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a request failed: figures are then no figures."""
    console = Console()
    rows = asyncio.run(_rows(arguments, console))
    result = {"machine": describe(), "target": describe_target(arguments), "rows": rows}
    file = arguments.out / f"{arguments.name}.json"
    write(result, file)
    file.with_suffix(".html").write_text(page("Load", result, COLUMNS), "utf-8")
    console.print(table(rows))
    console.print(f"{file}, .html")
    return 1 if any(row["failed"] for row in rows) else 0


async def _rows(arguments: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    say, rows = speaker(arguments), []
    with Progress(console=console) as progress:
        for rate in arguments.rates:
            for seed in arguments.seeds:
                rows.append(await window(say, rate, seed, arguments, progress))
    return rows


def speaker(arguments: argparse.Namespace) -> Say:
    if arguments.engine:
        return EngineTarget(arguments.engine, arguments.voice, arguments.profile).speak
    target = Target(arguments.url, arguments.key, arguments.voice or "alloy")
    return lambda text, seed: speak(target, text, seed)


def describe_target(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a reader needs to know to repeat it."""
    asked = {"engine": arguments.engine} if arguments.engine else {"url": arguments.url}
    lengths = {"warm_up_s": arguments.warm_up, "window_s": arguments.seconds}
    return asked | lengths | ({"profile": arguments.profile} if arguments.engine else {})


async def window(
    say: Say, rate: float, seed: int, arguments: argparse.Namespace, progress: Progress
) -> dict[str, Any]:
    """One row: requests that were sent after the warm-up and within the window. How late the load
    itself was is a part of it."""
    times = poisson(rate, arguments.warm_up + arguments.seconds, seed)
    texts = sentences(len(times), seed)
    bar = progress.add_task(f"{rate:g} requests/s, seed {seed}", total=len(times))
    flying = most = 0
    began, late = time.perf_counter(), []

    async def one(number: int) -> Take:
        nonlocal flying, most
        await asyncio.sleep(began + times[number] - time.perf_counter())
        late.append(1000 * (time.perf_counter() - began - times[number]))
        flying += 1
        most = max(most, flying if times[number] >= arguments.warm_up else 0)
        take = await say(texts[number], seed + number)
        flying -= 1
        progress.advance(bar)
        return take

    with undisturbed():
        takes = await asyncio.gather(*map(one, range(len(times))))
    counted = [take for take, at in zip(takes, times, strict=True) if at >= arguments.warm_up]
    # A low rate's window may be empty: the last request then stands for it.
    counted = counted or list(takes[-1:])
    mine = {
        "in_flight_most": most,
        "load_late_p95_ms": round(percentile(late, 95), 2),
        "load_late_most_ms": round(max(late), 2),
    }
    return row(summarize(counted, arguments.seconds), rate, seed) | mine


@contextmanager
def undisturbed() -> Iterator[None]:
    """No look for garbage meanwhile: one takes as long as several first audios, and all that comes
    in between is then sent at once."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def row(summary: dict[str, Any], rate: float, seed: int) -> dict[str, Any]:
    """The published row, the summary's other figures behind it."""
    first, whole = summary["first_audible_ms"], summary["end_to_end_ms"]
    published = {
        "rate": rate,
        "requests": summary["requests"],
        "failed": summary["failed"],
        **{f"ttfa_{name}_ms": first.get(name) for name in ("p50", "p95", "p99")},
        "underrun_streams": summary["underruns"],
        "e2e_p95_ms": whole.get("p95"),
        "characters_per_s": summary["characters_per_s"],
        "seed": seed,
    }
    more = ("failures", "first_byte_ms", "worst_gap_ms", "audio_s_per_s", "raw_first_audible_ms")
    return published | {name: summary[name] for name in more}


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(title="First audible sample, ms after the request was sent, by requests/s")
    for _, title in COLUMNS:
        shown.add_column(title, justify="right")
    for line in rows:
        values = [line[name] for name, _ in COLUMNS]
        shown.add_row(*("-" if value is None else f"{value:.4g}" for value in values))
    return shown
