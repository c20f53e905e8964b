"""What one tenant's burst costs another: `python -m tests.billing.fair_share`.

Bob speaks all the time. Alice comes with two hundred texts at once, of which the limit on her
concurrent streams lets so many in; the next begins when one ends. On the pretend GPU of the
scheduler's tests."""

from __future__ import annotations

import heapq
import random

from gpu_engine.scheduler import SchedulerSettings
from tests.engine.simulation import Client, Simulation

BURST, BURST_AT, STREAM_S = 200, 20.0, 1.0


def first_audio(alices: int, rate: float = 3.0, seconds: float = 60.0) -> list[float]:
    """Bob's, in seconds, sorted. `alices`: Alice's streams at once; 0 is Bob alone."""
    dice = random.Random(5)
    clients, at = [], 0.0
    while at < seconds:
        at += dice.expovariate(rate)
        clients.append(Client(arrives=at, speech=dice.randint(20, 90), cap=120, tenant="bob"))
    bobs = len(clients)
    free = [BURST_AT] * alices
    for _ in range(BURST if alices else 0):
        begins = heapq.heappop(free)
        clients.append(Client(arrives=begins, speech=60, cap=120, tenant="alice"))
        heapq.heappush(free, begins + STREAM_S)
    settings = SchedulerSettings(slots=256, waiting=4096, step_rows=64)
    found = Simulation(clients, settings).run().listeners
    return sorted(found[bob].first_at - clients[bob].arrives for bob in range(bobs))


def percentile(ordered: list[float], share: float) -> float:
    return ordered[int(share * len(ordered))]


def main() -> None:
    for alices in (0, 2, 5, 10, 20, 40, BURST):
        found = first_audio(alices)
        p50, p95 = (1000 * percentile(found, share) for share in (0.5, 0.95))
        print(f"Alice has {alices:3} streams: Bob's first audio p50 {p50:.1f}, p95 {p95:.1f} ms")


if __name__ == "__main__":
    main()
