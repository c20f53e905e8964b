"""Lives of the scheduler, recorded to be lived again by every later one: `python -m
tests.engine.recorded` records them anew, where decisions were meant to change."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from gpu_engine.scheduler import RAMPS, SchedulerSettings
from tests.engine.simulation import C_KERNELS, CPU, H200, Client, Simulation

FOLDER = Path(__file__).with_name("lives")
TENANTS = ("alice", "bob", "mallory")


def lines(name: str) -> list[str]:
    return gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()


def crowd(seed: int, streams: int, seconds: float, frames: tuple[int, int]) -> list[Client]:
    """Of all kinds: a burst of Alice's among others', slow typists, cancels, broken numbers."""
    dice = random.Random(seed)
    return [
        Client(
            arrives=seconds / 3 if burst else dice.uniform(0, seconds),
            speech=dice.randint(*frames),
            cap=3 * frames[1],
            cancel_after=dice.choice([None] * 6 + [dice.uniform(0, 1.5)]),
            tenant="alice" if burst else dice.choice(TENANTS),
            background=dice.random() < 0.1,
            ramp=dice.choice(list(RAMPS.values())),
            silent_frames=dice.choice((0.0, 1.7)),
            breaks_at=dice.choice([None] * 15 + [dice.randint(0, 9)]),
            positions=dice.randint(1, 64),
            prefills=dice.choice((1, 1, 1, 3)),
            typed=dice.choice([()] * 4 + [(0.2, 0.5, 1.5)]),
        )
        for burst in (number < streams // 3 for number in range(streams))
    ]


def small_in_c(trace: TextIO) -> Simulation:
    clients = crowd(1, streams=24, seconds=6.0, frames=(8, 40))
    chosen = SchedulerSettings(waiting=16, codec_rows=8, positions=400, page=16)
    return Simulation(clients, chosen, costs=C_KERNELS, noise=0.4, trace=trace, voices=[6, 9])


def small_in_torch(trace: TextIO) -> Simulation:
    """On a machine that others use: what is measured says less than half of what jobs take."""
    clients = crowd(2, streams=16, seconds=6.0, frames=(5, 20))
    chosen = SchedulerSettings(waiting=64, codec_rows=8)
    return Simulation(
        clients, chosen, costs=CPU, slow=1.3, noise=1.0, calibrated=False, trace=trace
    )


def large(trace: TextIO) -> Simulation:
    clients = crowd(3, streams=180, seconds=1.0, frames=(8, 30))
    chosen = SchedulerSettings(
        slots=128, waiting=512, prefill_rows=16, step_rows=256, codec_rows=64, codec_frames=512
    )
    return Simulation(clients, chosen, costs=H200, noise=0.2, overlapped=True, trace=trace)


LIVES: dict[str, Callable[[TextIO], Simulation]] = {
    "small-in-c": small_in_c,
    "small-in-torch": small_in_torch,
    "large": large,
}


def record(name: str) -> str:
    """What its life is, lived by the scheduler as it is."""
    trace = io.StringIO()
    LIVES[name](trace).run()
    return trace.getvalue()


def main() -> None:
    for name in LIVES:
        packed = gzip.compress(record(name).encode(), mtime=0)
        (FOLDER / f"{name}.jsonl.gz").write_bytes(packed)
        print(f"{name}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
