"""The core's half of a trace: what its loop does, noted as it does it.

A profiler of the process would have the loop stand still while it writes, for longer than it
listened. This notes a few numbers a job, and sends them on twice a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gpu_engine import messages as m
from gpu_engine.scheduler import Job, Kind, Scheduler

EVERY_S = 0.5
# Of jobs and of news of streams: some fifty times what ten seconds of a busy GPU have.
MOST = 500_000


@dataclass(slots=True)
class _Open:
    """`due`: when the next part is sent, `until` the last. `landed`: of each kind's last job."""

    ask: int
    began: float
    until: float
    due: float
    jobs: list[m.TracedJob] = field(default_factory=list)
    streams: list[m.TracedStream] = field(default_factory=list)
    landed: dict[Kind, float] = field(default_factory=dict)
    count: int = 0


class Tracer:
    """Does nothing until it is asked to, for as long as it was asked."""

    def __init__(self, scheduler: Scheduler, send: Callable[[m.ToFront], None]) -> None:
        self._scheduler, self._send = scheduler, send
        self._launched: dict[Job, float] = {}
        self._open: _Open | None = None

    def begin(self, wanted: m.BeginTrace, live: Iterable[int], now: float) -> None:
        """The front has one at a time. Streams that run already begin with the trace."""
        self._launched.clear()
        until = now + wanted.seconds
        self._open = _Open(wanted.ask, now, until, min(until, now + EVERY_S))
        for stream in live:
            self.note(stream, "begin", now)

    def launched(self, job: Job, now: float) -> None:
        if self._open is not None:
            self._launched[job] = now

    def landed(self, job: Job, device_seconds: float, now: float) -> None:
        """A job that waited behind another of its kind began when that had landed."""
        trace, launched = self._open, self._launched.pop(job, None)
        if trace is None or launched is None or trace.count >= MOST:
            return
        began = max(launched, trace.landed.get(job.kind, launched))
        at, length = _micros(began - trace.began), _micros(now - began)
        device = _micros(device_seconds)
        trace.jobs.append(m.TracedJob(job.kind.value, at, length, job.rows, job.frames, device))
        trace.landed[job.kind] = now
        trace.count += 1

    def note(self, stream: int, what: str, now: float) -> None:
        trace = self._open
        if trace is None or trace.count >= MOST:
            return
        live, waiting = len(self._scheduler), self._scheduler.waiting_first_audio
        at = _micros(now - trace.began)
        trace.streams.append(m.TracedStream(stream, what, at, live, waiting))
        trace.count += 1

    def tell(self, now: float) -> None:
        """Sends what was noted, where it is time to: in every turn, also an idle one."""
        trace = self._open
        if trace is None or now < trace.due:
            return
        done = now >= trace.until
        jobs, streams = tuple(trace.jobs), tuple(trace.streams)
        self._send(m.TracePart(trace.ask, jobs, streams, done, done and trace.count >= MOST))
        trace.jobs.clear()
        trace.streams.clear()
        trace.due = min(trace.until, now + EVERY_S)
        if done:
            self._open = None
            self._launched.clear()


def _micros(seconds: float) -> int:
    return round(1e6 * seconds)
