"""A scheduler's life as lines of JSON, and the same life lived again: what it was told, when, and
what it decided. Decisions that differ on replay are a bug or another version of the scheduler."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TextIO

import msgspec
import numpy as np

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler.costs import Measured
from gpu_engine.scheduler.jobs import Booked, Job, Kind, Result
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.scheduler import NONE, Scheduler
from gpu_engine.scheduler.stream import Ended, Stream

ARRAYS = ("stopped", "broken", "audio")


class Recorder(Scheduler):
    """Writes every call that moves the scheduler, and every decision, as it happens."""

    def __init__(
        self, settings: SchedulerSettings, measured: Iterable[Measured], file: TextIO
    ) -> None:
        known = list(measured)
        super().__init__(settings, known)
        self._file = file
        self._launched: dict[int, int] = {}
        self._count = 0
        self._write("begin", settings=settings, measured=known)

    def submit(self, stream: Stream, now: float) -> float:
        self._write("submit", now=now, stream=dataclasses.asdict(stream))
        return super().submit(stream, now)

    def extend(self, stream_id: int, text: int, done: bool, frame_cap: int, now: float) -> None:
        told = [stream_id, text, done, frame_cap, now]
        self._write("extend", told=told)
        super().extend(stream_id, text, done, frame_cap, now)

    def cancel(self, stream_id: int) -> Ended | None:
        self._write("cancel", told=[stream_id])
        return super().cancel(stream_id)

    def cut(self, stream_id: int) -> Ended | None:
        self._write("cut", told=[stream_id])
        return super().cut(stream_id)

    def fail(self, stream_id: int) -> Ended | None:
        self._write("fail", told=[stream_id])
        return super().fail(stream_id)

    def add_clip(self, clip: int, now: float) -> None:
        self._write("add_clip", told=[clip, now])
        super().add_clip(clip, now)

    def ask_words(self, stream_id: int, now: float, last: bool = False) -> None:
        self._write("ask_words", told=[stream_id, now, last])
        super().ask_words(stream_id, now, last)

    def drop_words(self, stream_id: int) -> None:
        self._write("drop_words", told=[stream_id])
        super().drop_words(stream_id)

    def expect_prefills(self, slot: int, count: int) -> None:
        self._write("expect_prefills", told=[slot, count])
        super().expect_prefills(slot, count)

    def next_job(
        self, now: float, closed: frozenset[Kind] = NONE, behind: frozenset[Kind] = NONE
    ) -> Job | None:
        job = super().next_job(now, closed, behind)
        kinds = {"closed": sorted(closed), "behind": sorted(behind)}
        self._write("next_job", now=now, **kinds, job=decision(job))
        return job

    def launch(self, job: Job, now: float) -> None:
        self._launched[id(job)] = self._count
        self._write("launch", now=now)
        self._count += 1
        super().launch(job, now)

    def complete(self, job: Job, result: Result, now: float) -> Booked:
        values = {name: getattr(result, name) for name in ARRAYS}
        told = {name: None if value is None else value.tolist() for name, value in values.items()}
        number = self._launched.pop(id(job))
        more = {"more": result.more, "seconds": result.seconds}
        self._write("complete", now=now, number=number, **more, **told)
        return super().complete(job, result, now)

    def _write(self, call: str, **fields: Any) -> None:
        self._file.write(msgspec.json.encode({"call": call, **fields}).decode() + "\n")


def decision(job: Job | None) -> list[Any] | None:
    """What a job decides, as plain values."""
    if job is None:
        return None
    return [job.kind.value, job.slots.tolist(), job.frames, job.clip, job.stream]


def replay(lines: Iterable[str]) -> tuple[Scheduler, list[int]]:
    """The scheduler after the recorded life, and the numbers of the lines where it decided
    otherwise than it did then."""
    scheduler: Scheduler | None = None
    jobs: dict[int, Job] = {}
    differing: list[int] = []
    job: Job | None = None
    for number, line in enumerate(lines, 1):
        told = msgspec.json.decode(line)
        call = told.pop("call")
        if call == "begin":
            measured = [msgspec.convert(each, Measured) for each in told["measured"]]
            scheduler = Scheduler(msgspec.convert(told["settings"], SchedulerSettings), measured)
            continue
        assert scheduler is not None, "a trace begins with its settings"
        match call:
            case "submit":
                _submit(scheduler, told)
            case "next_job":
                kinds = (frozenset(map(Kind, told[name])) for name in ("closed", "behind"))
                job = scheduler.next_job(told["now"], *kinds)
                if decision(job) != told["job"]:
                    differing.append(number)
            case "launch":
                assert job is not None, "a job is decided on before it is launched"
                jobs[len(jobs)] = job
                scheduler.launch(job, told["now"])
            case "complete":
                scheduler.complete(jobs[told["number"]], _result(told), told["now"])
            case _:
                getattr(scheduler, call)(*told["told"])
        scheduler.seats.seated.clear()
        scheduler.seats.vacated.clear()
    assert scheduler is not None, "a trace begins with its settings"
    return scheduler, differing


def _submit(scheduler: Scheduler, told: dict[str, Any]) -> None:
    stream = Stream(**(told["stream"] | {"ramp": tuple(told["stream"]["ramp"])}))
    try:
        scheduler.submit(stream, told["now"])
    except EngineFull:
        return


def _result(told: dict[str, Any]) -> Result:
    arrays = {name: None if told[name] is None else np.array(told[name]) for name in ARRAYS}
    return Result(**arrays, more=told["more"], seconds=told["seconds"])
