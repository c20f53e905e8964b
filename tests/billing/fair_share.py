"""What one tenant's burst costs another: `python -m tests.billing.fair_share [DEVICE ...]`.

Bob asks for a sentence a second, at random instants. Alice comes with a burst of texts and begins
another whenever one ends, so that her burst goes on for as long as Bob is listened to. In simulated
time: the scheduler is the product's, the device is its cost model."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, replace

from gpu_engine.scheduler import RAMPS, Ended, Measured, SchedulerSettings
from tests.engine.simulation import C_KERNELS, CPU, H200, Client, Costs, Simulation

BURSTS = (5, 50)
# p95 of one seed's thirty sentences is the second worst of them: several seeds are taken together.
BURST_AT, SECONDS, SEEDS = 10.0, 30.0, tuple(range(6))
# After Bob's last sentence: what is left of Alice's is not waited for.
REST = 5.0
# Leading silence, in frames: what is trimmed.
TRIMMED = 1.7
ALICE_FRAMES = (20, 90)


@dataclass(frozen=True)
class Pretended:
    """`frames` are the shortest and the longest of Bob's sentences: he keeps within his half."""

    costs: Costs | list[Measured]
    settings: SchedulerSettings
    frames: tuple[int, int]
    overlapped: bool = False


SMALL = SchedulerSettings(slots=8, waiting=512, codec_rows=8)
SIXTEEN = replace(SMALL, slots=16)
LARGE = SchedulerSettings(
    slots=256, waiting=512, prefill_rows=16, step_rows=256, codec_rows=64, codec_frames=512
)
DEVICES = {
    "cpu": Pretended(CPU, SMALL, (10, 24)),
    "c-kernels": Pretended(C_KERNELS, SIXTEEN, (12, 40)),
    "h200": Pretended(H200, LARGE, (20, 90), overlapped=True),
}


@dataclass(frozen=True)
class Heard:
    """Seconds to Bob's first audio, in order; streams that ran dry; frames a second of Alice's."""

    first_audio: list[float]
    bobs_dry: int
    alices_dry: int
    alices_rate: float

    def percentile(self, share: float) -> float:
        return self.first_audio[int(share * len(self.first_audio))]


def client(tenant: str, arrives: float, frames: int) -> Client:
    """Its frame cap is some three times its length, as the engine's is."""
    return Client(
        arrives,
        speech=frames,
        cap=25 + 3 * frames,
        tenant=tenant,
        ramp=RAMPS["balanced"],
        silent_frames=TRIMMED,
    )


class Burst(Simulation):
    """Alice begins a stream whenever one of hers ends."""

    until = 0.0
    alices = random.Random(0)

    def _ended(self, end: Ended) -> None:
        if self.clients[end.id].tenant == "alice" and self.now < self.until:
            self.add_now(client("alice", self.now, self.alices.randint(*ALICE_FRAMES)))


def listen(device: Pretended, burst: int, seed: int, seconds: float = SECONDS) -> Heard:
    """Bob's listeners while Alice's burst lasts; a burst of none is Bob alone."""
    dice, at, until = random.Random(seed), 0.0, BURST_AT + seconds
    clients = []
    while (at := at + dice.expovariate(1.0)) < until:
        clients.append(client("bob", at, dice.randint(*device.frames)))
    bobs = len(clients)
    alices = random.Random(seed + 1000)
    clients += [client("alice", BURST_AT, alices.randint(*ALICE_FRAMES)) for _ in range(burst)]
    simulation = Burst(clients, device.settings, costs=device.costs, overlapped=device.overlapped)
    simulation.until, simulation.alices = until, alices
    simulation.run(until + REST)
    heard = simulation.listeners
    late = [0, 0]
    for number, listener in heard.items():
        late[number >= bobs] += int(listener.worst_gap > 0)
    made = sum(end.frames for at, end in simulation.ends if end.id >= bobs and at <= until)
    waits = [_waited(simulation, n) for n in range(bobs) if clients[n].arrives >= BURST_AT]
    return Heard(sorted(waits), *late, made / seconds)


def _waited(simulation: Simulation, number: int) -> float:
    first = simulation.listeners[number].first_at
    assert first is not None, "Bob is heard"
    return first - simulation.clients[number].arrives


def together(found: list[Heard]) -> Heard:
    """Several seeds as one."""
    return Heard(
        sorted(wait for one in found for wait in one.first_audio),
        sum(one.bobs_dry for one in found),
        sum(one.alices_dry for one in found),
        sum(one.alices_rate for one in found) / len(found),
    )


def main() -> None:
    for name in sys.argv[1:] or DEVICES:
        for burst in (0, *BURSTS):
            heard = together([listen(DEVICES[name], burst, seed) for seed in SEEDS])
            p50, p95, p99 = (1000 * heard.percentile(share) for share in (0.5, 0.95, 0.99))
            dry = f"ran dry: {heard.bobs_dry} of Bob's, {heard.alices_dry} of Alice's"
            first = f"Bob's first audio p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f} ms"
            rate = f"Alice {heard.alices_rate:.0f} frames/s"
            print(f"{name}, burst of {burst}: {first}; {dry}; {rate}", flush=True)


if __name__ == "__main__":
    main()
