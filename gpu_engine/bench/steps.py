"""`python -m gpu_engine bench steps`: what each module costs by batch, without any server."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gpu_engine.bench.machine import describe
from gpu_engine.bench.report import write
from gpu_engine.bench.summary import percentile
from gpu_engine.runner import Runner, Session
from gpu_engine.server.loading import load_runner, warm_up_session
from gpu_engine.server.settings import EngineSettings

FRAME_MS = 80.0
FEWEST_CALLS = 5
# Frames that a stream makes between two resets of its place: sampling noise is made 64 at a time.
RUN = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """One module at one batch. `frames` counts the frames of a codec decode, 0 elsewhere."""

    module: str
    rows: int
    frames: int
    calls: int
    p50_ms: float
    p95_ms: float
    least_ms: float


@dataclass(frozen=True, slots=True)
class Step:
    """A job as the core runs it, ready to be repeated."""

    module: str
    rows: int
    frames: int
    call: Callable[[], object]


def run(arguments: argparse.Namespace) -> int:
    console = Console()
    settings = EngineSettings(
        arguments.checkpoint,
        device=arguments.device,
        threads=arguments.threads,
        kernels=arguments.kernels,
        max_streams=max(arguments.rows),
        max_positions=arguments.context + 4 * RUN,
    )
    runner = load_runner(settings)
    steps = list(steps_of(runner, arguments.rows, arguments.frames, arguments.context))
    with Progress(console=console) as progress:
        cells = [
            measure(step, runner, arguments.seconds)
            for step in progress.track(steps, description="steps")
        ]
    result = {
        "machine": describe(),
        "checkpoint": settings.folder.resolve().name,
        "device": runner.device.type,
        "runner": type(runner).__name__,
        "threads": torch.get_num_threads(),
        "context": arguments.context,
        "steps": [asdict(cell) for cell in cells],
        "streams": [real_time(cells, rows) for rows in arguments.rows],
    }
    write(result, arguments.out)
    console.print(table(cells))
    console.print(streams_table(result))
    console.print(str(arguments.out))
    return 0


def steps_of(runner: Runner, batches: list[int], chunks: list[int], context: int) -> Iterator[Step]:
    """Every module at every batch, `context` positions into each stream."""
    sessions = [warm_up_session(runner.checkpoint) for _ in range(max(batches))]
    for slot, session in enumerate(sessions):
        runner.prefill(session, slot)
    for cache in (runner.kv.keys, runner.kv.values):
        cache[..., : context + RUN + 1, :].normal_()
    yield Step("prefill", 1, 0, partial(runner.prefill, sessions[0], 0))
    for rows in batches:
        batch = sessions[:rows]
        yield Step("talker", rows, 0, partial(_talk, runner, batch, context))
        yield Step("predictor", rows, 0, partial(_predict, runner, batch))
        for frames in chunks:
            yield Step("codec", rows, frames, partial(_decode, runner, batch, frames))


def _talk(runner: Runner, batch: list[Session], context: int) -> None:
    for session in batch:
        if not context <= session.position < context + RUN:
            session.position = context
        session.frames = max(1, session.frames)
    runner.talk(batch)


def _predict(runner: Runner, batch: list[Session]) -> None:
    for session in batch:
        session.frames %= RUN
    runner.predict(batch)


def _decode(runner: Runner, batch: list[Session], frames: int) -> None:
    for session in batch:
        session.decoded = 0
    runner.decode(batch, frames)


def measure(step: Step, runner: Runner, seconds: float) -> Cell:
    """Repeats a step for about so long, one call ahead of the clock."""
    step.call()
    runner.settle()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < FEWEST_CALLS or time.perf_counter() < end:
        began = time.perf_counter()
        step.call()
        runner.settle()
        times.append(1000 * (time.perf_counter() - began))
    return Cell(
        step.module,
        step.rows,
        step.frames,
        len(times),
        round(percentile(times, 50), 3),
        round(percentile(times, 95), 3),
        round(min(times), 3),
    )


def real_time(cells: list[Cell], rows: int) -> dict[str, float]:
    """What a frame of `rows` streams costs in all, with the codec's largest chunk, and how many
    times faster than playback that is: an upper bound for streams at once."""
    of = {(cell.module, cell.frames): cell.p50_ms for cell in cells if cell.rows == rows}
    largest = max(frames for module, frames in of if module == "codec")
    frame = of["talker", 0] + of["predictor", 0] + of["codec", largest] / largest
    return {
        "rows": rows,
        "codec_frames": largest,
        "frame_ms": round(frame, 3),
        "times_real_time": round(rows * FRAME_MS / frame, 1),
    }


def table(cells: list[Cell]) -> Table:
    batches = sorted({cell.rows for cell in cells})
    shown = Table("ms, median (p95)", *(f"{rows} rows" for rows in batches), title="Steps")
    kinds = dict.fromkeys((cell.module, cell.frames) for cell in cells)
    for module, frames in kinds:
        of = {c.rows: c for c in cells if (c.module, c.frames) == (module, frames)}
        name = f"{module}, {frames} frames" if frames else module
        figures = [
            f"{of[rows].p50_ms:.2f} ({of[rows].p95_ms:.2f})" if rows in of else ""
            for rows in batches
        ]
        shown.add_row(name, *figures)
    return shown


def streams_table(result: dict[str, Any]) -> Table:
    shown = Table("rows", "ms a frame", "times real time", title="A frame through all modules")
    for row in result["streams"]:
        shown.add_row(str(row["rows"]), f"{row['frame_ms']:.2f}", f"{row['times_real_time']:.1f}")
    return shown
