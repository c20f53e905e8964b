"""`python -m gpu_engine bench voices`: what a clone costs beside a preset: first audio of known
voices and of new ones, and what other listeners notice while voices are made."""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gpu_engine.bench.client import Take
from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.bench.load import poisson
from gpu_engine.bench.machine import describe
from gpu_engine.bench.report import write
from gpu_engine.bench.summary import percentiles, summarize
from gpu_engine.bench.texts import sentences
from gpu_engine.bench.voice_engines import Clip, Engines, Made, find, variations

PRESET = "preset"
COLUMNS = ("voice", "requests/s", "first audio p50", "p95", "to a preset's p50", "underruns")

Arms = dict[str, EngineTarget]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    known = os.environ.get("PARLANCE_ENGINE", "")
    add("--engines", default=known, help="gRPC addresses with commas: presets, and clones")
    add("--clips", type=float, nargs="+", default=[10.0, 20.0], help="seconds of references")
    add("--rates", type=float, nargs="+", default=[1.0], help="requests a second")
    add("--requests", type=int, default=20, help="of each voice at each rate")
    add("--voices", type=int, default=50, help="made while others listen")
    add("--listeners", type=float, default=0.5, help="requests a second meanwhile")
    add("--seed", type=int, default=1)
    add("--out", type=Path, default=Path("docs/benchmarks/voices.json"), help="file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a request failed: figures are then no figures."""
    console = Console()
    result = {"machine": describe(), **asyncio.run(measure(arguments))}
    write(result, arguments.out)
    console.print(table(result["warm"]))
    for line in said(result):
        console.print(line)
    console.print(str(arguments.out))
    rows = [*result["warm"], result["listeners"]["alone"], result["listeners"]["beside"]]
    return 1 if any(row["failed"] for row in rows) else 0


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Raises SystemExit where there is no engine of either kind."""
    engines, seed = await find(arguments.engines), arguments.seed
    clips = [await engines.speak_clip(seconds, seed) for seconds in arguments.clips]
    plain = await engines.make(clips[0], in_context=False)
    made = [plain, *[await engines.make(clip, in_context=True) for clip in clips]]
    targets = arms(engines, made)
    cold = [await _first(name, target, seed) for name, target in targets.items()]
    warm = [
        row
        for rate in arguments.rates
        for row in await _warm(targets, rate, arguments.requests, seed)
    ]
    listeners = await _listeners(engines, plain, clips[-1], arguments)
    caches = (await engines.status()).caches
    return {
        "encoding_s": {each.name: round(each.seconds, 3) for each in made},
        "cold_ms": dict(cold),
        "warm": warm,
        "listeners": listeners,
        "caches": {name: {"hits": c.hits, "bytes": c.bytes} for name, c in caches.items()},
    }


def arms(engines: Engines, made: Sequence[Made]) -> Arms:
    """By name: a preset, and each voice in each layout that it has."""
    found = {PRESET: EngineTarget(engines.presets)}
    for each in made:
        found[each.name] = each.target(engines.clones)
        if each.name != "x-vector":
            first = each.target(engines.clones, reference_first=True)
            found[f"{each.name}, reference first"] = first
    return found


async def _first(name: str, target: EngineTarget, seed: int) -> tuple[str, float | None]:
    """A voice that no cache of the engine knows, on an engine that is idle."""
    take = await target.speak("This is the first time.", seed)
    return name, None if not take.arrivals else round(1000 * take.arrivals[0][0], 1)


async def _warm(targets: Arms, rate: float, requests: int, seed: int) -> list[dict[str, Any]]:
    """An open loop in which each arrival is the next voice's: all meet the same machine."""
    names = list(targets)
    times = poisson(rate, 2 * requests * len(names) / rate, seed)[: requests * len(names)]
    texts = sentences(requests, seed)

    async def one(number: int) -> Take:
        await asyncio.sleep(times[number])
        # Every voice says the same texts.
        turn = number // len(names)
        return await targets[names[number % len(names)]].speak(texts[turn], seed + turn)

    takes = await asyncio.gather(*map(one, range(len(times))))
    rows = [_row(name, rate, takes[at :: len(names)]) for at, name in enumerate(names)]
    usual = rows[0]["first_audio_ms"].get("p50")
    for row in rows:
        own = row["first_audio_ms"].get("p50")
        row["to_preset"] = round(own / usual, 3) if own and usual else None
    return rows


async def _listeners(
    engines: Engines, voice: Made, clip: Clip, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Streams of one known voice, alone and then while voices are made of new recordings."""
    target, seed = voice.target(engines.clones), arguments.seed
    began = time.perf_counter()
    making = asyncio.create_task(_make_all(engines, variations(clip, arguments.voices)))
    beside = await _listen_until(making, target, arguments.listeners, seed)
    seconds = time.perf_counter() - began
    alone = await _listen_until(
        asyncio.create_task(asyncio.sleep(seconds)), target, arguments.listeners, seed
    )
    return {
        "voices": arguments.voices,
        "clip_s": round(clip.seconds, 1),
        "encoding_s": percentiles(await making),
        "alone": _row("alone", arguments.listeners, alone),
        "beside": _row("beside", arguments.listeners, beside),
    }


async def _make_all(engines: Engines, clips: Sequence[Clip]) -> list[float]:
    """Four at a time, as many as upload them."""
    places = asyncio.Semaphore(4)

    async def make(clip: Clip) -> float:
        async with places:
            return (await engines.make(clip, in_context=True)).seconds

    return list(await asyncio.gather(*map(make, clips)))


async def _listen_until(
    done: asyncio.Task[Any], target: EngineTarget, rate: float, seed: int
) -> list[Take]:
    """An open loop that ends with the task; what has begun is heard to its end."""
    takes: list[asyncio.Task[Take]] = []
    times = iter(poisson(rate, 3600, seed))
    began = time.perf_counter()
    for number, text in enumerate(sentences(4096, seed)):
        pause = next(times) - (time.perf_counter() - began)
        finished, _ = await asyncio.wait({done}, timeout=max(0.0, pause))
        if finished:
            break
        takes.append(asyncio.create_task(target.speak(text, seed + number)))
    return list(await asyncio.gather(*takes))


def _row(name: str, rate: float, takes: Sequence[Take]) -> dict[str, Any]:
    summary = summarize(takes, window=1.0)
    kept = ("requests", "failed", "failures", "underruns", "worst_gap_ms")
    return {
        "voice": name,
        "rate": rate,
        **{field: summary[field] for field in kept},
        "first_audio_ms": summary["first_byte_ms"],
        "first_audible_ms": summary["first_audible_ms"],
    }


def table(rows: Sequence[dict[str, Any]]) -> Table:
    shown = Table(title="Known voices: first audio, ms after the request was sent")
    for title in COLUMNS:
        shown.add_column(title, justify="left" if title == "voice" else "right")
    for row in rows:
        first = row["first_audio_ms"]
        values = (row["rate"], first.get("p50"), first.get("p95"), row["to_preset"])
        shown.add_row(row["voice"], *map(_figure, values), str(row["underruns"]))
    return shown


def said(result: dict[str, Any]) -> list[str]:
    """What the table does not show."""
    told = result["listeners"]
    alone, beside = told["alone"], told["beside"]
    return [
        "new voices, first audio in ms: "
        + ", ".join(f"{name} {_figure(value)}" for name, value in result["cold_ms"].items()),
        f"{told['voices']} voices of {told['clip_s']} s made in "
        f"{_figure(told['encoding_s'].get('p50'))} s each (half of them); meanwhile "
        f"{beside['underruns']} of {beside['requests']} listeners ran dry, alone "
        f"{alone['underruns']} of {alone['requests']}; first audio p95 "
        f"{_figure(beside['first_audio_ms'].get('p95'))} ms, alone "
        f"{_figure(alone['first_audio_ms'].get('p95'))} ms",
    ]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
