"""A pretend device and clock for the scheduler: what every job costs, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler import FRAME_S, Job, Kind, Result, Scheduler, SchedulerSettings, Stream

COSTS = {
    Kind.PREFILL: (0.004, 0.001),
    Kind.TALKER: (0.001, 0.0001),
    Kind.PREDICTOR: (0.002, 0.0001),
    Kind.CODEC: (0.002, 0.0005),
    Kind.ENCODE: (0.05, 0.0),
}
IDLE_S = 0.01


@dataclass
class Client:
    """One stream to be: `speech` frames until the Talker stops, perhaps a cancel before that."""

    arrives: float
    speech: int
    cap: int = 10_000
    cancel_after: float | None = None
    tenant: str = "alice"
    background: bool = False
    ramp: tuple[int, ...] = (1, 2, 4, 8, 16)
    silent_frames: int = 0


@dataclass
class Simulation:
    """Plays clients through a scheduler. `jobs` and `ends` are what happened, in order."""

    clients: list[Client]
    settings: SchedulerSettings = field(default_factory=SchedulerSettings)
    slow: float = 1.0
    now: float = 0.0
    jobs: list[tuple[float, Job]] = field(default_factory=list)
    ends: list[tuple[float, int, str]] = field(default_factory=list)
    refused: list[tuple[int, int]] = field(default_factory=list)
    streams: dict[int, Stream] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.settings)
        self._arrivals = sorted(range(len(self.clients)), key=lambda i: self.clients[i].arrives)
        self._cancels: list[tuple[float, int]] = []

    def run(self, until: float = 10_000.0) -> Simulation:
        while self.now < until and (self._arrivals or self.scheduler.streams):
            self._news()
            job = self.scheduler.next_job(self.now)
            if job is None:
                self.scheduler.check()
                self._sleep()
                continue
            self._do(job)
        self.scheduler.check()
        return self

    def _news(self) -> None:
        while self._arrivals and self.clients[self._arrivals[0]].arrives <= self.now:
            self._arrive(self._arrivals.pop(0))
        for at, number in [entry for entry in self._cancels if entry[0] <= self.now]:
            self._cancels.remove((at, number))
            if self.scheduler.cancel(number) is not None:
                self._ended(self.streams[number])

    def _arrive(self, number: int) -> None:
        client = self.clients[number]
        stream = Stream(
            id=number,
            arrived=self.now,
            frame_cap=client.cap,
            ramp=client.ramp,
            tenant=client.tenant,
            background=client.background,
        )
        try:
            self.scheduler.submit(stream, self.now)
        except EngineFull as full:
            self.refused.append((number, full.retry_after_ms))
            return
        self.streams[number] = stream
        if client.cancel_after is not None:
            self._cancels.append((self.now + client.cancel_after, number))

    def _do(self, job: Job) -> None:
        fixed, each = COSTS[job.kind]
        self.now += self.slow * (fixed + each * len(job.rows) * max(1, job.frames))
        self.jobs.append((self.now, job))
        for stream in self.scheduler.complete(job, self._result(job), self.now):
            self._ended(stream)

    def _result(self, job: Job) -> Result:
        clients = {row.id: self.clients[row.id] for row in job.rows}
        if job.kind is Kind.CODEC:
            delivered = {
                row.id: FRAME_S * max(0, job.frames - self._still_silent(row)) for row in job.rows
            }
            return Result(delivered=delivered)
        talks = job.kind in (Kind.PREFILL, Kind.TALKER)
        stopped = {row.id for row in job.rows if talks and row.frames >= clients[row.id].speech}
        return Result(stopped=frozenset(stopped))

    def _still_silent(self, row: Stream) -> int:
        return max(0, self.clients[row.id].silent_frames - row.decoded)

    def _ended(self, stream: Stream) -> None:
        self.ends.append((self.now, stream.id, stream.reason))

    def _sleep(self) -> None:
        wakes = [self.scheduler.wakes_at(self.now), self.now + 1.0]
        wakes += [self.clients[number].arrives for number in self._arrivals[:1]]
        wakes += [at for at, _ in self._cancels]
        self.now = max(self.now + 1e-4, min(wake for wake in wakes if wake is not None))
