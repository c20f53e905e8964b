"""`bench steps --variants all --check`: every kernel variant built, compared with plain PyTorch and
timed as a captured graph, within a budget of seconds. One that fails is a line of the report."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from gpu_engine.bench.floors import floor_ms
from gpu_engine.bench.record import Record, Verdict
from gpu_engine.bench.trial_list import every_trial, is_wanted
from gpu_engine.bench.trials import (
    CODEC_KINDS,
    Built,
    Trial,
    World,
    build,
    codec_reference,
    predictor_reference,
    talker_reference,
)
from gpu_engine.runner.device.lanes import Lane

if TYPE_CHECKING:
    from gpu_engine.bench.ahead import Ahead

NAMES = "all, or any of: a module, a variant, module:variant"
FEWEST, MOST = 20, 200  # timed replays
# Random weights say little of how precise audio is: a codec is right where the modules are hardly
# better in the same precision. They add up in float32 what the kernels store rounded.
ENOUGH_DB, STORED_DB = 30.0, 6.0


class References:
    """Plain PyTorch's answers, made once a batch."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: dict[object, Any] = {}

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def talker(self, rows: int) -> tuple[Tensor, float]:
        def make() -> tuple[Tensor, float]:
            exact = talker_reference(self._world, rows, torch.float32)
            same = talker_reference(self._world, rows, self._world.dtype)
            return exact, _error(same, exact)

        found: tuple[Tensor, float] = self._once(("talker", rows), make)
        return found

    def predictor(self, rows: int, codes: Tensor) -> tuple[Tensor, float]:
        exact = predictor_reference(self._world, rows, codes, torch.float32)
        same = predictor_reference(self._world, rows, codes, self._world.dtype)
        return exact, _error(same, exact)

    def codec(self, rows: int, frames: int, dtype: torch.dtype) -> tuple[Tensor, float]:
        world, size = self._world, (rows, frames)
        exact: Tensor = self._once(("codec", size), lambda: codec_reference(world, *size))
        snr: float = self._once(
            ("codec", size, dtype), lambda: _snr(codec_reference(world, *size, dtype), exact)
        )
        return exact, snr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--only", dest="variants", nargs="+", default=["all"], help=NAMES)
    add("--device", default="auto", choices=["auto", "cpu", "cuda"])
    add("--official", default="1.7B", choices=["1.7B", "0.6B"], help="shapes, random weights")
    add("--rows", type=int, nargs="+", default=[1, 8, 64, 256])
    add("--frames", type=int, nargs="+", default=[1, 4], help="of a codec decode")
    add("--context", type=int, default=90, help="positions behind each Talker step")
    add("--seconds", type=float, default=0.1, help="length of each measurement")
    add("--check", action="store_true", help="compare each variant with plain PyTorch")
    add("--budget", type=float, default=150.0, help="seconds after which no variant is begun")
    add("--skip-done", type=Path, help="file of a run before: what these kernels did stays")
    add("--out", type=Path, default=Path("docs/benchmarks/h200-steps.json"), help="file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a variant that was tried is wrong or failed."""
    device = pick_device(arguments.device)
    console, end = Console(), time.monotonic() + arguments.budget
    small = device.type == "cpu"
    context = 20 if small else arguments.context
    world = World(arguments.official, device, small, context)
    record = Record(_head(arguments, world), torch.__version__, arguments.out, arguments.skip_done)
    rows, frames = ([1, 2], [1]) if small else (arguments.rows, arguments.frames)
    trials = [t for t in every_trial(world, rows, frames) if is_wanted(t, arguments.variants)]
    if not trials:
        raise SystemExit(f"no variant is called {' '.join(arguments.variants)}: {NAMES}")
    verdicts = [Verdict(t.module, t.variant, t.rows, t.frames) for t in trials if not record.has(t)]
    with _ahead(arguments, world, [v.trial for v in verdicts]) as ahead:
        _try_all(world, verdicts, record, arguments, end, console, ahead)
    record.save()
    console.print(best_table(verdicts))
    console.print(f"{arguments.out}: {len(trials) - len(verdicts)} measured before")
    return 1 if any(v.state in ("failed", "wrong") for v in verdicts) else 0


def _try_all(
    world: World,
    verdicts: list[Verdict],
    record: Record,
    arguments: argparse.Namespace,
    end: float,
    console: Console,
    ahead: Ahead | None,
) -> None:
    references = References(world)
    for verdict in verdicts:
        if time.monotonic() > end:
            record.left.append(verdict.trial.name)
            continue
        if ahead is not None:
            ahead.wait(verdict.trial)
        try_one(world, references, verdict, arguments.check, arguments.seconds)
        record.add(verdict)
        console.print(_line(verdict), soft_wrap=True)


def pick_device(wanted: str) -> torch.device:
    """A GPU, or a CPU with the kernels' interpreter."""
    name = "cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and name == "cpu":
        raise SystemExit("--device is cuda and no CUDA device answers")
    if name == "cpu":
        from gpu_engine.kernels import interpreter

        if not interpreter.is_installed():
            raise SystemExit(interpreter.MISSING)
        interpreter.interpret()
    else:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    return torch.device(name)


def _head(arguments: argparse.Namespace, world: World) -> dict[str, Any]:
    dry = world.device.type == "cpu"
    return {
        "shapes": f"{arguments.official}, narrowed" if dry else arguments.official,
        "weights": "random, made on the device",
        "dry_run": dry,
        "context": world.context,
    }


def _ahead(
    arguments: argparse.Namespace, world: World, trials: list[Trial]
) -> AbstractContextManager[Ahead | None]:
    """Nothing in a dry run: an interpreter compiles nothing."""
    if world.device.type == "cpu" or not trials:
        return nullcontext()
    from gpu_engine.bench.ahead import Ahead

    return Ahead(arguments.official, trials, arguments.context)


def try_one(
    world: World,
    references: References,
    verdict: Verdict,
    check: bool,
    seconds: float,
) -> None:
    """Fills the verdict; what the variant raises is written there too."""
    began, trial = time.monotonic(), verdict.trial
    try:
        with torch.inference_mode():
            built = build(world, trial)
            built.reset()
            built.run()
            verdict.build_s = round(time.monotonic() - began, 2)
            verdict.state = "ok"
            if check:
                _check(references, trial, verdict, built)
            verdict.floor_ms = floor_ms(world, trial)
            verdict.p50_ms, verdict.least_ms = _timed(world.device, built, trial.rows, seconds)
    except Exception as problem:  # noqa: BLE001 - any variant may fail in any way; others go on
        verdict.state, verdict.problem = "failed", f"{type(problem).__name__}: {problem}"[:500]
    if world.device.type == "cuda":
        torch.cuda.empty_cache()


def _check(references: References, trial: Trial, verdict: Verdict, built: Built) -> None:
    mine = built.outcome()
    if built.reference is not None:
        verdict.error, verdict.plain_error = _error(mine, built.reference()), 0.0
        # Drawn codes are the same or they are not.
        bound = 0.0 if trial.variant.endswith("draw") else 0.02
        verdict.state = "ok" if verdict.error <= bound else "wrong"
        return
    if trial.module == "codec":
        kind = trial.variant.removeprefix("fused-").partition(":")[0]
        dtype = CODEC_KINDS.get(kind, torch.float32)
        exact, verdict.plain_snr_db = references.codec(trial.rows, trial.frames, dtype)
        verdict.snr_db = _snr(mine, exact)
        bound = min(ENOUGH_DB, verdict.plain_snr_db - STORED_DB)
        verdict.state = "ok" if verdict.snr_db >= bound else "wrong"
        return
    if trial.module == "predictor":
        groups = 16
        codes = mine[:, -groups:]
        mine = mine[:, :-groups]
        exact, verdict.plain_error = references.predictor(trial.rows, codes)
    else:
        exact, verdict.plain_error = references.talker(trial.rows)
    verdict.error = _error(mine, exact)
    # FP8 weights round to three bits; everything else may not be worse than plain PyTorch.
    bound = 0.3 if "fp8" in trial.variant else 1.5 * verdict.plain_error + 0.02
    verdict.state = "ok" if verdict.error < bound else "wrong"


def _snr(mine: Tensor, exact: Tensor) -> float:
    """Decibels, of equal audio 200."""
    return round(-20 * math.log10(max(_error(mine, exact), 1e-10)), 1)


def _error(mine: Tensor, exact: Tensor) -> float:
    """Relative; infinite where a number is not finite."""
    error = float((mine.double() - exact.double()).norm() / exact.double().norm())
    return error if error == error else float("inf")


def _timed(device: torch.device, built: Built, rows: int, seconds: float) -> tuple[float, float]:
    """Median and least milliseconds of a replay, by device events; wall clock in a dry run."""
    if device.type == "cpu":
        began = time.perf_counter()
        built.reset()
        built.run()
        once = round(1000 * (time.perf_counter() - began), 3)
        return once, once
    lane = Lane(device, rows, rows)
    replay = lane.capture(built.run)
    marks: list[tuple[Any, Any]] = []
    with lane.here():
        end = time.perf_counter() + seconds
        while len(marks) < FEWEST or (len(marks) < MOST and time.perf_counter() < end):
            built.reset()
            start, stop = _event(), _event()
            start.record()
            replay()
            stop.record()
            marks.append((start, stop))
            stop.synchronize()
    times = sorted(start.elapsed_time(stop) for start, stop in marks)
    times = [each / built.repeats for each in times]
    return round(times[len(times) // 2], 4), round(times[0], 4)


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _line(v: Verdict) -> str:
    chunk = f" x{v.frames}" if v.frames else ""
    time_ = f"{v.p50_ms:.3f} ms" if v.p50_ms is not None else ""
    quality = f"{v.snr_db} dB (plain {v.plain_snr_db})" if v.snr_db is not None else ""
    if v.error is not None and v.plain_error is not None:
        quality = f"error {v.error:.2e} (plain {v.plain_error:.2e})"
    floor = f"floor {v.floor_ms:.3f}" if v.floor_ms else ""
    parts = [f"{v.module:9} {v.variant:16} {v.rows:3}{chunk:4}", v.state, time_, floor, quality]
    return "  ".join(part for part in (*parts, v.problem) if part)


def best_table(verdicts: list[Verdict]) -> Table:
    """The fastest right variant of each module and batch, against its floor."""
    table = Table("module", "rows", "fastest", "ms", "floor", "others", title="Steps by variant")
    modules = [v for v in verdicts if v.module != "kernel"]
    keys = dict.fromkeys((v.module, v.rows, v.frames) for v in modules)
    for module, rows, frames in sorted(keys):
        same = [v for v in verdicts if (v.module, v.rows, v.frames) == (module, rows, frames)]
        done = sorted(
            (v for v in same if v.p50_ms and v.state == "ok"), key=lambda v: v.p50_ms or 0
        )
        if not done:
            table.add_row(module, str(rows), "none worked", "", "", "")
            continue
        others = ", ".join(f"{v.variant} {v.p50_ms:.2f}" for v in done[1:5])
        name = f"{module} x{frames}" if frames else module
        table.add_row(
            name, str(rows), done[0].variant, f"{done[0].p50_ms:.3f}",
            f"{done[0].floor_ms or 0:.3f}", others,
        )  # fmt: skip
    return table


def main(words: list[str]) -> int:
    """`python -m gpu_engine.bench.variants`: the same where nothing else of the product is
    installed."""
    parser = argparse.ArgumentParser("python -m gpu_engine.bench.variants", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
