"""`python -m gpu_engine bench scheduler`: what a turn of the scheduler costs, without a device."""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gpu_engine.bench.machine import describe
from gpu_engine.bench.report import write
from gpu_engine.bench.summary import percentiles
from gpu_engine.scheduler import FRAME_S, Job, Kind, Measured, Result, Scheduler, SchedulerSettings
from gpu_engine.scheduler import Stream as Asked

# A device as fast as the targets: milliseconds of one row and of 64 (decodes: of one frame).
TARGETS = {Kind.PREFILL: (2.0, 8.0), Kind.TALKER: (1.0, 2.0), Kind.PREDICTOR: (1.5, 2.5)}
DECODES = {(1, 1): 0.8, (1, 4): 1.0, (64, 1): 2.5, (64, 4): 8.0}
LONGEST, SHORTEST = 150, 20
WARM_UP = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--streams", type=int, nargs="+", default=[1, 64, 256], help="streams at once")
    add("--turns", type=int, default=3000, help="turns of each measurement")
    add("--seed", type=int, default=1)
    add("--out", type=Path, default=Path("docs/benchmarks/scheduler.json"), help="file")


def run(arguments: argparse.Namespace) -> int:
    console = Console()
    rows = [
        measure(streams, arguments.turns, arguments.seed)
        for streams in track(arguments.streams, "scheduler", console=console)
    ]
    write({"machine": describe(), "seed": arguments.seed, "turns": rows}, arguments.out)
    table = Table(title="One turn of the scheduler, microseconds")
    for name in ("streams", "p50", "p95", "p99", "rows a job"):
        table.add_column(name, justify="right")
    for row in rows:
        times = [f"{row['us'][name]:.0f}" for name in ("p50", "p95", "p99")]
        table.add_row(str(row["streams"]), *times, f"{row['rows_a_job']:.1f}")
    console.print(table)
    console.print(str(arguments.out))
    return 0


def measure(streams: int, turns: int, seed: int) -> dict[str, Any]:
    """Turns of a full engine: who ends is followed by another. Deterministic but for the times."""
    load = Load(streams, seed)
    for _ in range(WARM_UP):
        load.turn()
    times, rows = zip(*(load.turn() for _ in range(turns)), strict=True)
    return {
        "streams": streams,
        "turns": turns,
        "us": percentiles([round(1e6 * value, 1) for value in times]),
        "rows_a_job": round(sum(rows) / turns, 2),
    }


class Load:
    """A scheduler kept full, and a pretend device that is as fast as the targets."""

    def __init__(self, streams: int, seed: int) -> None:
        self._dice = random.Random(seed)
        settings = SchedulerSettings(
            slots=streams, step_rows=256, codec_rows=64, codec_frames=1024, utilisation=100.0
        )
        self._scheduler = Scheduler(settings, _measured())
        self._left = np.zeros(streams, np.int64)
        self._next = 0
        self._now = 0.0
        self._refill()

    def turn(self) -> tuple[float, int]:
        """Seconds of one decision with its bookings, and the job's rows."""
        scheduler = self._scheduler
        began = time.perf_counter()
        job = scheduler.next_job(self._now)
        if job is None:
            self._now += 0.01
            return self.turn()
        scheduler.launch(job, self._now)
        spent = time.perf_counter() - began
        result = self._result(job)
        self._now += job.predicted
        began = time.perf_counter()
        scheduler.complete(job, result, self._now)
        spent += time.perf_counter() - began
        self._refill()
        return spent, job.rows

    def _result(self, job: Job) -> Result:
        if job.kind is Kind.CODEC:
            return Result(audio=np.full(job.rows, job.frames * FRAME_S), seconds=job.predicted)
        if job.kind is Kind.PREDICTOR:
            return Result(seconds=job.predicted)
        self._left[job.slots] -= 1
        return Result(stopped=self._left[job.slots] < 0, seconds=job.predicted)

    def _refill(self) -> None:
        seats = self._scheduler.seats
        # A free slot that stays free is kept for another tenant.
        while seats.free and not self._scheduler.waiting:
            self._next += 1
            asked = Asked(self._next, self._now, frame_cap=500, tenant=str(self._next % 7))
            self._scheduler.submit(asked, self._now)
        for slot, _ in seats.seated:
            self._left[slot] = self._dice.randint(SHORTEST, LONGEST)
        seats.seated.clear()
        seats.vacated.clear()


def _measured() -> list[Measured]:
    steps = [
        Measured(kind, rows, 0, ms / 1000)
        for kind, pair in TARGETS.items()
        for rows, ms in zip((1, 64), pair, strict=True)
    ]
    return steps + [Measured(Kind.CODEC, *shape, ms / 1000) for shape, ms in DECODES.items()]
