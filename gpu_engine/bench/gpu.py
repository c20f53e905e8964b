"""`python -m gpu_engine bench gpu`: an engine of its own, load and capacity within a budget.
Needs no control plane, and no checkpoint: without one, random weights of an official shape."""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from gpu_engine.bench.capacity import Search, in_time, verdict
from gpu_engine.bench.engine_client import PROFILES, EngineTarget
from gpu_engine.bench.machine import describe
from gpu_engine.bench.own_engine import own_engine, warnings
from gpu_engine.bench.rates import COLUMNS, table, window
from gpu_engine.bench.report import write
from gpu_engine.proto import engine_pb2 as pb

# Random weights never end: 0.4 s a word, as speech has.
FRAMES_A_WORD = 5
PATIENCE_S = 30.0
# What streams still have to say when a window's last request was sent.
AFTER_S = 8.0
RESOLUTION = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--checkpoint", default="", help="folder; without one, random weights")
    add("--official", default="1.7B", choices=["1.7B", "0.6B"], help="shapes of random weights")
    add("--device", default="cuda", choices=["cpu", "cuda"])
    add("--weights", default="bf16", choices=["bf16", "fp8"], help="of the engine, on a GPU")
    add("--max-streams", type=int, default=512, help="of the engine")
    add("--max-positions", type=int, default=512, help="of the engine")
    add("--profile", default="latency", choices=sorted(PROFILES), help="chunks")
    add("--rates", type=float, nargs="+", default=[1.0, 10.0, 20.0, 60.0, 100.0])
    add("--seeds", type=int, nargs="+", default=[1, 2, 3], help="one row each")
    add("--seconds", type=float, default=15.0, help="length of each window")
    add("--warm-up", type=float, default=5.0, help="seconds at the same rate that do not count")
    add("--budget", type=float, default=300.0, help="seconds in all: no window is begun beyond")
    add("--most", type=float, default=512.0, help="the highest rate to try for capacity")
    add("--first-audio-ms", type=float, default=50.0, help="p95 that is still in time")
    add("--price", type=float, default=0.0, help="of an hour of this machine, any currency")
    add("--name", default="h200", help="of the files: NAME-load.json, NAME-capacity.json")
    add("--trace", type=float, default=0.0, help="seconds of the first seed's windows as a trace")
    add("--out", type=Path, default=Path("docs/benchmarks"), help="folder")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a request failed at one of the rates: figures are then no figures."""
    budget = Budget(time.monotonic() + arguments.budget)
    console = Console()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parlance-bench-")))
        checkpoint = Path(arguments.checkpoint) if arguments.checkpoint else folder / "random"
        if not arguments.checkpoint:
            _prepare(checkpoint, arguments)
            console.print(f"random weights and kernels: {budget.spent():.0f} s")
        report = Report(arguments)
        asyncio.run(_measure(checkpoint, folder, arguments, budget, report, console))
    console.print(table(report.rows))
    console.print(report.close())
    return 1 if any(row["failed"] for row in report.asked) else 0


def _prepare(folder: Path, arguments: argparse.Namespace) -> None:
    """The weights by a process that gives all of the device's memory back; on a GPU the kernels are
    compiled beside it, on all cores, where an engine would compile them one after the other."""
    module = "gpu_engine.bench.random_checkpoint"
    command = [sys.executable, "-m", module, str(folder), arguments.official, arguments.device]
    with subprocess.Popen(command) as process:
        if arguments.device == "cuda":
            from gpu_engine.bench.ahead import build_all
            from gpu_engine.server.loading import graph_plan
            from gpu_engine.server.settings import EngineSettings

            settings = EngineSettings(
                str(folder),
                max_streams=arguments.max_streams,
                max_positions=arguments.max_positions,
                weights=arguments.weights,
            )
            build_all(arguments.official, graph_plan(settings))
    if process.returncode:
        raise SystemExit(f"random weights could not be made on {arguments.device}")


@dataclass(slots=True)
class Budget:
    """Of the clock's seconds, from its making on."""

    end: float
    began: float = field(default_factory=time.monotonic)

    def spent(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def allows(self, seconds: float) -> bool:
        return time.monotonic() + seconds <= self.end


class Report:
    """Both files, written after every window: a run that is stopped leaves what it has."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._machine = describe()
        self.asked: list[dict[str, Any]] = []
        self.searched: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        self.start_s = 0.0
        self.warnings: list[str] = []

    @property
    def rows(self) -> list[dict[str, Any]]:
        return sorted([*self.asked, *self.searched], key=lambda row: (row["rate"], row["seed"]))

    def save(self) -> None:
        asked = self._arguments
        head = {"machine": self._machine, "target": self._target()}
        result = head | {"left_out": self.left_out, "rows": self.asked}
        write(result, asked.out / f"{asked.name}-load.json")
        found = verdict(self.rows, asked.first_audio_ms, asked.price)
        write(head | found | {"rows": self.rows}, asked.out / f"{asked.name}-capacity.json")

    def close(self) -> str:
        """Pages, where there is something to draw them with. Says what there is."""
        asked = self._arguments
        self.save()
        files = [f"{asked.out / asked.name}-{name}.json" for name in ("load", "capacity")]
        try:
            from gpu_engine.bench.page import page

            head = {"machine": self._machine, "target": self._target()}
            html = page("Load and capacity", head | {"rows": self.rows}, COLUMNS)
            (asked.out / f"{asked.name}-load.html").write_text(html, "utf-8")
        except ImportError:
            files.append("no page: matplotlib is not installed")
        return ", ".join(files)

    def _target(self) -> dict[str, Any]:
        """What a reader needs to know to repeat it."""
        asked = self._arguments
        weights = asked.checkpoint or f"random, of the official {asked.official} shapes"
        return {
            "engine": "front and core of its own, over gRPC, no control plane",
            "weights": f"{weights}, {asked.weights if asked.device == 'cuda' else 'float32'}",
            "streams": asked.max_streams,
            "profile": asked.profile,
            "frames_a_word": 0 if asked.checkpoint else FRAMES_A_WORD,
            "start_s": round(self.start_s, 1),
            "warnings": self.warnings,
            "warm_up_s": asked.warm_up,
            "window_s": asked.seconds,
        }


async def _measure(
    checkpoint: Path,
    folder: Path,
    arguments: argparse.Namespace,
    budget: Budget,
    report: Report,
    console: Console,
) -> None:
    flags = [
        *("--max-streams", str(arguments.max_streams), "--waiting", "4096"),
        *("--max-positions", str(arguments.max_positions), "--weights", arguments.weights),
    ]
    log, began = arguments.out / f"{arguments.name}-engine.log", budget.spent()
    async with own_engine(
        checkpoint, arguments.device, folder, log, *flags, within=budget.left()
    ) as address:
        report.start_s = budget.spent() - began
        report.warnings = warnings(log)
        console.print(f"ready after {report.start_s:.0f} s", *report.warnings, sep="\n")
        frames = 0 if arguments.checkpoint else FRAMES_A_WORD
        target = EngineTarget(
            address, profile=arguments.profile, frames_a_word=frames, patience=PATIENCE_S
        )
        with Progress(console=console) as progress:
            await run_windows(Windows(target, arguments, progress), arguments, budget, report)


@dataclass(slots=True)
class Windows:
    """Windows of load, each with what the engine's modules did meanwhile."""

    target: EngineTarget
    arguments: argparse.Namespace
    progress: Progress

    async def one(self, rate: float, seed: int) -> dict[str, Any]:
        asked = self.arguments
        before, began = await self.target.status(), time.monotonic()
        async with asyncio.TaskGroup() as group:
            if asked.trace and seed == asked.seeds[0]:
                group.create_task(self._trace(rate))
            rows = group.create_task(window(self.target.speak, rate, seed, asked, self.progress))
        after = await self.target.status()
        return rows.result() | {"modules": occupancy(before, after, time.monotonic() - began)}

    async def _trace(self, rate: float) -> None:
        asked = self.arguments
        await asyncio.sleep(asked.warm_up)
        packed = await self.target.trace(asked.trace)
        (asked.out / f"{asked.name}-trace-{rate:g}.json.gz").write_bytes(packed)


def occupancy(
    before: pb.EngineStatus, after: pb.EngineStatus, seconds: float
) -> dict[str, dict[str, float]]:
    """Rows a step and the share of the time that a module was busy, warm-up and end included."""
    found = {}
    for name, then in after.modules.items():
        was = before.modules[name] if name in before.modules else pb.ModuleStatus()
        if steps := then.steps - was.steps:
            rows, busy = then.rows - was.rows, then.busy_seconds - was.busy_seconds
            found[name] = {
                "rows_a_step": round(rows / steps, 2),
                "ms_a_step": round(1000 * busy / steps, 3),
                "busy": round(busy / seconds, 3),
            }
    return found


def plan(rates: list[float], seeds: list[int]) -> Iterator[tuple[float, int]]:
    """Every rate by one seed, then by the next: a budget may cut the end."""
    return ((rate, seed) for seed in seeds for rate in rates)


async def run_windows(
    windows: Windows, arguments: argparse.Namespace, budget: Budget, report: Report
) -> None:
    """The asked rates, then towards the highest that is served in time, while there is budget."""
    length = arguments.warm_up + arguments.seconds + AFTER_S
    search = Search(min(arguments.rates), arguments.most)
    for rate, seed in plan(arguments.rates, arguments.seeds):
        if not budget.allows(length):
            report.left_out.append(f"{rate:g} requests/s, seed {seed}")
            continue
        report.asked.append(await windows.one(rate, seed))
        search.learn(rate, in_time(report.asked[-1], arguments.first_audio_ms))
        report.save()
    while (rate_ := search.next(RESOLUTION)) is not None and budget.allows(length):
        report.searched.append(await windows.one(rate_, arguments.seeds[0]))
        search.learn(rate_, in_time(report.searched[-1], arguments.first_audio_ms))
        report.save()
