"""A pretend device and clock for the scheduler: what every job costs, and what it returns."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TextIO

import numpy as np

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler import (
    FRAME_S,
    CostModel,
    Ended,
    Job,
    Kind,
    Measured,
    Recorder,
    Result,
    Scheduler,
    SchedulerSettings,
    Stream,
)

ALL, NONE = frozenset(Kind), frozenset()
# Seconds: a job, each row of it, each frame of each row.
Costs = Mapping[Kind, tuple[float, float, float]]
GPU: Costs = {
    Kind.PREFILL: (0.004, 0.001, 0.0),
    Kind.TALKER: (0.001, 0.0001, 0.0),
    Kind.PREDICTOR: (0.002, 0.0001, 0.0),
    Kind.CODEC: (0.002, 0.0, 0.0005),
    Kind.ENCODE: (0.002, 0.0, 0.0),
}
# The shipped checkpoint on one core of the machine that it was measured on, nothing beside.
CPU: Costs = {
    Kind.PREFILL: (0.009, 0.0, 0.0),
    Kind.TALKER: (0.005, 0.0003, 0.0),
    Kind.PREDICTOR: (0.012, 0.0006, 0.0),
    Kind.CODEC: (0.004, 0.0, 0.0045),
    Kind.ENCODE: (0.008, 0.0, 0.0),
}


def measurements(**ms: dict[tuple[int, int], float]) -> list[Measured]:
    """Milliseconds by module, rows and frames."""
    return [
        Measured(Kind(kind), *shape, took / 1000)
        for kind, shapes in ms.items()
        for shape, took in shapes.items()
    ]


# The same with the modules in C: docs/log.md, "the small model on a CPU".
C_KERNELS = measurements(
    prefill={(1, 0): 8.1},
    talker={(1, 0): 2.7, (4, 0): 4.2, (8, 0): 6.1},
    predictor={(1, 0): 3.3, (4, 0): 6.8, (8, 0): 13.2},
    codec={
        **{(1, 1): 7.0, (4, 1): 27.2, (8, 1): 56.8},
        **{(1, 8): 44.1, (4, 8): 175.8, (8, 8): 351.0},
    },
)
# The best kernels of docs/benchmarks/h200-steps.json; prefill as wanted, it was not measured.
H200 = measurements(
    prefill={(1, 0): 2.0, (64, 0): 8.0},
    talker={(1, 0): 1.41, (8, 0): 1.57, (64, 0): 1.88, (128, 0): 4.34, (256, 0): 6.61},
    predictor={(1, 0): 2.05, (8, 0): 3.45, (64, 0): 4.49, (128, 0): 5.4, (256, 0): 6.46},
    codec={
        **{(1, 1): 1.28, (8, 1): 1.52, (64, 1): 3.89},
        **{(1, 4): 1.41, (8, 4): 2.46, (64, 4): 12.8},
    },
)
MOST_ROWS, MOST_FRAMES = 256, 16
TYPED_TOKENS = 5


def measured(costs: Costs | list[Measured], slow: float = 1.0) -> list[Measured]:
    """What a calibration of that device would say."""
    if isinstance(costs, list):
        return [replace(each, seconds=slow * each.seconds) for each in costs]
    steps = (Kind.PREFILL, Kind.TALKER, Kind.PREDICTOR)
    shapes = [(kind, rows, 0) for kind in steps for rows in (1, 4)]
    shapes += [(Kind.CODEC, rows, frames) for rows in (1, 4) for frames in (1, 8)]
    return [Measured(*shape, slow * linear(costs, *shape)) for shape in shapes]


def linear(costs: Costs, kind: Kind, rows: int, frames: int) -> float:
    fixed, each, frame = costs[kind]
    return fixed + each * rows + frame * rows * frames


@dataclass
class Client:
    """One stream to be: `speech` frames until the Talker stops, perhaps a cancel before that.

    `typed`: seconds after its arrival when five more tokens of its text come, with the last ones
    the end; its whole text is there at once without any."""

    arrives: float
    speech: int
    cap: int = 1000
    cancel_after: float | None = None
    tenant: str = "alice"
    background: bool = False
    ramp: tuple[int, ...] = (1, 2, 4, 8, 16)
    silent_frames: float = 0
    breaks_at: int | None = None
    positions: int = 1
    prefills: int = 1
    typed: tuple[float, ...] = ()


@dataclass
class Listener:
    """What one client has heard: its own playback clock, kept apart from the scheduler's."""

    first_at: float | None = None
    dry_at: float = 0.0
    held: float = 0.0
    heard: float = 0.0
    worst_gap: float = 0.0

    def take(self, now: float) -> None:
        if not self.held:
            return
        if self.first_at is None:
            self.first_at = self.dry_at = now
        self.worst_gap = max(self.worst_gap, now - self.dry_at)
        self.dry_at = max(self.dry_at, now) + self.held
        self.heard, self.held = self.heard + self.held, 0.0


@dataclass
class Simulation:
    """Plays clients through a scheduler. `jobs` and `ends` are what happened, in order.

    `overlapped`: a job is launched while another runs, and results are booked one step late.
    `noise`: jobs take up to that share longer, each by a different chance. `voices`: pieces of each
    voice that is to be encoded from the start.
    """

    clients: list[Client]
    settings: SchedulerSettings = field(default_factory=SchedulerSettings)
    slow: float = 1.0
    costs: Costs | list[Measured] = field(default_factory=lambda: GPU)
    overlapped: bool = False
    noise: float = 0.0
    calibrated: bool = True
    trace: TextIO | None = None
    voices: list[int] = field(default_factory=list)
    now: float = 0.0
    device_free: float = 0.0
    jobs: list[tuple[float, Job]] = field(default_factory=list)
    ends: list[tuple[float, Ended]] = field(default_factory=list)
    refused: dict[int, tuple[float, int]] = field(default_factory=dict)
    waits: dict[int, float] = field(default_factory=dict)
    listeners: dict[int, Listener] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = measured(self.costs, self.slow)
        known = known if self.calibrated else []
        self._truth = CostModel(MOST_ROWS, MOST_FRAMES, measured(self.costs))
        if self.trace is None:
            self.scheduler = Scheduler(self.settings, known)
        else:
            self.scheduler = Recorder(self.settings, known, self.trace)
        for number in range(len(self.voices)):
            self.scheduler.add_clip(number, 0.0)
        self.dice = random.Random(1)
        order = sorted(range(len(self.clients)), key=lambda i: self.clients[i].arrives)
        self._arrivals = deque(order)
        self._cancels: list[tuple[float, int]] = []
        self._typing: list[tuple[float, int, bool]] = []
        self._flying: deque[tuple[float, float, Job, Result]] = deque()
        self._decoded: dict[int, int] = {}
        self._spoken: dict[int, int] = {}

    def add(self, client: Client) -> None:
        """One more, after all that came."""
        self.clients.append(client)
        self._arrivals.append(len(self.clients) - 1)

    def add_now(self, client: Client) -> None:
        """One more, before all that are to come."""
        self.clients.append(client)
        self._arrivals.appendleft(len(self.clients) - 1)

    def run(self, until: float = 100_000.0) -> Simulation:
        while self.now < until and (self._arrivals or len(self.scheduler) or self._flying):
            self._news()
            job = self.scheduler.next_job(self.now, behind=ALL if self._flying else NONE)
            self._seat()
            if job is not None:
                self._launch(job)
            if self._flying and (job is None or not self.overlapped or len(self._flying) > 1):
                self._land()
            elif job is None:
                self.scheduler.check()
                self._sleep()
        self.scheduler.check()
        return self

    @property
    def reasons(self) -> dict[int, str]:
        return {end.id: end.reason for _, end in self.ends}

    def _news(self) -> None:
        while self._arrivals and self.clients[self._arrivals[0]].arrives <= self.now:
            self._arrive(self._arrivals.popleft())
        while self._cancels and self._cancels[0][0] <= self.now:
            end = self.scheduler.cancel(heapq.heappop(self._cancels)[1])
            if end is not None:
                self.ends.append((self.now, end))
        while self._typing and self._typing[0][0] <= self.now:
            _, number, last = heapq.heappop(self._typing)
            cap = self.clients[number].cap
            self.scheduler.extend(number, TYPED_TOKENS, last, cap, self.now)
        self._seat()

    def _seat(self) -> None:
        for slot, number in self.scheduler.seats.seated:
            self.scheduler.expect_prefills(slot, self.clients[number].prefills)
        self.scheduler.seats.seated.clear()
        self.scheduler.seats.vacated.clear()

    def _arrive(self, number: int) -> None:
        client = self.clients[number]
        stream = Stream(
            id=number,
            arrived=self.now,
            frame_cap=client.cap,
            ramp=client.ramp,
            tenant=client.tenant,
            background=client.background,
            positions=client.positions,
            text=TYPED_TOKENS if client.typed else 0,
            text_done=not client.typed,
        )
        try:
            self.waits[number] = self.scheduler.submit(stream, self.now)
        except EngineFull as full:
            self.refused[number] = self.now, full.retry_after_ms
            return
        self.listeners[number] = Listener()
        self._decoded[number] = self._spoken[number] = 0
        for after in client.typed:
            last = after == client.typed[-1]
            heapq.heappush(self._typing, (self.now + after, number, last))
        if client.cancel_after is not None:
            heapq.heappush(self._cancels, (self.now + client.cancel_after, number))

    def _launch(self, job: Job) -> None:
        self.scheduler.launch(job, self.now)
        took = self.slow * self._seconds(job.kind, job.rows, job.frames)
        took *= 1 + self.dice.uniform(0, self.noise)
        begins = max(self.now, self.device_free)
        self.device_free = begins + took
        self.jobs.append((begins, job))
        self._flying.append((self.device_free, took, job, self._result(job, took)))

    def _seconds(self, kind: Kind, rows: int, frames: int) -> float:
        if isinstance(self.costs, list):
            return self._truth.expect(kind, rows, frames)
        return linear(self.costs, kind, rows, frames)

    def _land(self) -> None:
        ends, _, job, result = self._flying.popleft()
        self.now = max(self.now, ends)
        booked = self.scheduler.complete(job, result, self.now)
        if job.kind is Kind.CODEC:
            for number, seconds_made in zip(job.ids.tolist(), result.audio, strict=True):
                self.listeners[number].held += seconds_made
            for number in job.ids[booked.released].tolist():
                self.listeners[number].take(self.now)
        for end in booked.ended:
            if end.reason in ("stop", "length"):
                self.listeners[end.id].take(self.now)
            self.ends.append((self.now, end))
            self._ended(end)

    def _ended(self, end: Ended) -> None:
        """For those who do something then."""

    def _result(self, job: Job, took: float) -> Result:
        """The device's own count of frames decides when a row's Talker says stop."""
        clients = [self.clients[number] for number in job.ids.tolist()]
        rows = list(zip(job.ids.tolist(), clients, strict=True))
        if job.kind is Kind.CODEC:
            audio = [FRAME_S * self._audible(number, client, job.frames) for number, client in rows]
            return Result(audio=np.array(audio), seconds=took)
        if job.kind is Kind.PREDICTOR:
            for number in job.ids.tolist():
                self._spoken[number] += 1
            return Result(seconds=took)
        if job.kind is Kind.ENCODE:
            self.voices[job.clip] -= 1
            return Result(more=self.voices[job.clip] > 0, seconds=took)
        spoken = [self._spoken[number] for number in job.ids.tolist()]
        stopped = [n >= client.speech for n, client in zip(spoken, clients, strict=True)]
        broken = [n == client.breaks_at for n, client in zip(spoken, clients, strict=True)]
        return Result(np.array(stopped), np.array(broken), seconds=took)

    def _audible(self, number: int, client: Client, frames: int) -> float:
        before = self._decoded[number]
        self._decoded[number] += frames
        return max(0.0, before + frames - max(client.silent_frames, before))

    def _sleep(self) -> None:
        wakes = [self.scheduler.wakes_at(self.now), self.now + 1.0]
        wakes += [self.clients[number].arrives for number in list(self._arrivals)[:1]]
        wakes += [first[0][0] for first in (self._cancels, self._typing) if first]
        self.now = max(self.now + 1e-4, min(wake for wake in wakes if wake is not None))
