"""What is noted while an engine's loop is traced, and what becomes of it in the file."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from gpu_engine import messages as m
from gpu_engine.scheduler import Job, Kind, Scheduler, SchedulerSettings
from gpu_engine.server import tracer as module
from gpu_engine.server.trace_file import TRACKS, TraceFile
from gpu_engine.server.tracer import Tracer


class Traced:
    """A tracer that was asked at second 10 for one second, and the parts that it sent."""

    def __init__(self, *live: int) -> None:
        self.parts: list[m.ToFront] = []
        self.tracer = Tracer(Scheduler(SchedulerSettings(slots=1)), self.parts.append)
        self.tracer.begin(m.BeginTrace(ask=7, seconds=1.0), live, 10.0)

    def told(self, now: float) -> m.TracePart:
        self.tracer.tell(now)
        part = self.parts[-1]
        assert isinstance(part, m.TracePart)
        return part


def events(*parts: m.TracePart) -> list[dict[str, Any]]:
    file = TraceFile("one")
    for part in parts:
        file.add(part)
    found: list[dict[str, Any]] = json.loads(gzip.decompress(file.packed()))["traceEvents"]
    return found


def test_parts_come_twice_a_second_and_the_last_says_so() -> None:
    traced = Traced()
    told = []
    for now in (10.4, 10.5, 10.9, 11.0, 11.5):
        traced.tracer.tell(now)
        told.append(len(traced.parts))
    assert told == [0, 1, 1, 2, 2]
    assert [part.done for part in traced.parts if isinstance(part, m.TracePart)] == [False, True]


def test_a_job_begins_when_the_one_before_it_has_landed() -> None:
    traced, first, second = Traced(), Job(Kind.TALKER), Job(Kind.TALKER)
    traced.tracer.launched(first, 10.0)
    traced.tracer.launched(second, 10.1)
    traced.tracer.landed(first, 0.15, 10.2)
    traced.tracer.landed(second, 0.2, 10.45)
    assert [(job.at, job.length, job.device_us) for job in traced.told(11.0).jobs] == [
        (0, 200_000, 150_000),
        (200_000, 250_000, 200_000),
    ]


def test_what_was_launched_before_a_trace_is_not_in_it() -> None:
    traced, job = Traced(), Job(Kind.CODEC)
    traced.tracer.landed(job, 0.1, 10.1)
    assert traced.told(11.0).jobs == ()


def test_streams_that_run_already_begin_with_the_trace_and_end_where_it_does() -> None:
    traced, job = Traced(3, 4), Job(Kind.CODEC)
    traced.tracer.note(3, "end", 10.3)
    traced.tracer.launched(job, 10.4)
    traced.tracer.landed(job, 0.1, 10.6)
    lives = [each for each in events(traced.told(11.0)) if each.get("cat") == "streams"]
    assert [(each["id"], each["ph"], each["ts"]) for each in lives] == [
        (3, "b", 0),
        (4, "b", 0),
        (3, "e", 300_000),
        (4, "e", 600_000),
    ]


def test_a_trace_that_grows_too_long_says_that_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    traced = Traced(3, 4, 5)
    part = traced.told(11.0)
    assert (len(part.streams), part.done, part.is_cut) == (2, True, True)


def test_every_kind_of_job_has_a_track() -> None:
    assert sorted(TRACKS) == sorted(Kind)
