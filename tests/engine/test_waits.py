"""What rows waited for between two modules: by a scheduler that is driven by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_engine.scheduler import Job, Kind, Result, Scheduler, SchedulerSettings, Stream
from gpu_engine.scheduler.stream import PREDICT, TALK
from gpu_engine.scheduler.table import Table
from gpu_engine.scheduler.waits import Followed, Minute, Wait

NOBODY = Wait(0, 0.0, 0.0)
# Bins are an eighth of an octave wide, and told by their middle.
EXACT = 1 / 15


def driven(stream: Stream | None = None, **settings: Any) -> Scheduler:
    """With one stream of a single-frame ramp, that came at 100."""
    scheduler = Scheduler(SchedulerSettings(slots=2, **settings))
    scheduler.waits.every = 1
    scheduler.submit(stream or Stream(1, arrived=100.0, frame_cap=9, ramp=(1,)), 100.0)
    return scheduler


def begin(scheduler: Scheduler, now: float, kind: Kind) -> Job:
    job = scheduler.next_job(now)
    assert job is not None
    assert job.kind is kind
    scheduler.launch(job, now)
    return job


def end(scheduler: Scheduler, job: Job, now: float) -> None:
    audio = np.full(job.rows, 0.08 * job.frames) if job.kind is Kind.CODEC else None
    scheduler.complete(job, Result(audio=audio, seconds=0.01), now)


def run(scheduler: Scheduler, now: float, kind: Kind) -> None:
    """A job of ten milliseconds."""
    end(scheduler, begin(scheduler, now, kind), now + 0.01)


def begun(scheduler: Scheduler) -> None:
    """Its first two frames are made, and decoded at 100.1."""
    for now, kind in (
        (100.01, Kind.PREFILL),
        (100.02, Kind.PREDICTOR),
        (100.04, Kind.TALKER),
        (100.06, Kind.PREDICTOR),
        (100.09, Kind.CODEC),
    ):
        run(scheduler, now, kind)


def test_it_works() -> None:
    # given a stream that waits 30 ms for its prefill, 20 for each frame, 50 for the Talker between
    # them, and 40 for the decode of both
    scheduler = driven()
    run(scheduler, 100.03, Kind.PREFILL)
    run(scheduler, 100.06, Kind.PREDICTOR)
    run(scheduler, 100.12, Kind.TALKER)
    run(scheduler, 100.15, Kind.PREDICTOR)
    run(scheduler, 100.20, Kind.CODEC)

    # when its waits are told
    told = scheduler.waits.told(100.3)

    # then each is that of its module
    rows = {"place": 1, "prefill": 1, "talker": 1, "predictor": 2, "codec": 1}
    assert {name: wait.rows for name, wait in told.items()} == rows
    assert {name: wait.median for name, wait in told.items()} == {
        "place": 0.0,
        "prefill": pytest.approx(0.03, rel=EXACT),
        "talker": pytest.approx(0.05, rel=EXACT),
        "predictor": pytest.approx(0.02, rel=EXACT),
        "codec": pytest.approx(0.04, rel=EXACT),
    }


def test_who_waits_for_a_place() -> None:
    scheduler = driven()
    for number in (2, 3):
        scheduler.submit(Stream(number, arrived=100.0, frame_cap=9), 100.0)
    scheduler.cancel(1)
    scheduler.next_job(100.5)
    place = scheduler.waits.told(101.0)["place"]
    assert (place.rows, place.median) == (3, 0.0)
    assert place.p95 == pytest.approx(0.5, rel=EXACT)


def test_who_waits_longest_for_a_place() -> None:
    # given both places taken, one of the two that wait for them a background stream
    scheduler = driven()
    scheduler.submit(Stream(2, arrived=100.0, frame_cap=9), 100.0)
    longest = [scheduler.waiting.longest(100.0)]
    scheduler.submit(Stream(3, arrived=100.1, frame_cap=9, background=True), 100.1)
    longest.append(scheduler.waiting.longest(100.2))

    # when two that somebody listens to come behind it
    for number, at in ((4, 100.5), (5, 100.75)):
        scheduler.submit(Stream(number, arrived=at, frame_cap=9), at)
    longest.append(scheduler.waiting.longest(101.0))
    scheduler.cancel(4)
    longest.append(scheduler.waiting.longest(101.0))

    # then theirs is what is told
    assert longest == [0.0, 0.0, 0.5, 0.25]


def test_what_waits_for_a_job_that_runs_waits_for_nothing() -> None:
    scheduler = driven()
    run(scheduler, 100.01, Kind.PREFILL)
    run(scheduler, 100.02, Kind.PREDICTOR)
    talker = begin(scheduler, 100.04, Kind.TALKER)
    predictor = begin(scheduler, 100.07, Kind.PREDICTOR)
    end(scheduler, talker, 100.08)
    codec = begin(scheduler, 100.09, Kind.CODEC)
    for job in (predictor, codec):
        end(scheduler, job, 100.1)
    told = scheduler.waits.told(100.2)
    assert told["codec"] == Wait(1, 0.0, 0.0)
    assert (told["predictor"].rows, told["predictor"].median) == (2, 0.0)


def test_who_is_as_far_ahead_as_allowed_does_not_wait() -> None:
    # given a stream whose listener has 160 ms from 100.1 on, where 100 are allowed
    scheduler = driven(idle_lead=0.1, busy_lead=0.1)
    begun(scheduler)
    assert scheduler.next_job(100.15) is None

    # when its next step begins 10 ms after it was allowed to
    run(scheduler, 100.17, Kind.TALKER)

    # then it waited 10 ms, and 10 for the one before
    told = scheduler.waits.told(100.2)["talker"]
    assert (told.rows, told.p95) == (2, pytest.approx(0.01, rel=EXACT))


@pytest.mark.parametrize(
    ("stage", "flying", "is_there"),
    [(TALK, 0, True), (TALK, 1, False), (PREDICT, 1, True), (PREDICT, 2, False), (TALK, 2, False)],
    ids=["nothing flies", "itself", "the Talker", "the Talker and itself", "the same again"],
)
def test_a_frame_is_there_once_its_own_job_is_booked(
    stage: int, flying: int, is_there: bool
) -> None:
    # given a stream whose first frame was booked at 1.0, and that is decoded meanwhile
    table = Table(1)
    table.seat(0, Stream(7, arrived=0.0, frame_cap=9), 0, 0.0, TALK)
    table.frames[0] = 1
    followed = Followed.at(0, table, 1.0)
    table.decoding[0], table.jobs[0] = True, 1

    # when its second is begun, some jobs of its own fly, and another's frames are booked
    table.frames[0], table.stage[0] = 2, stage
    table.jobs[0] += flying
    assert followed.hears(table, 2.0)

    # then it is there if none of these makes it
    assert followed.made == ([1.0, 2.0] if is_there else [1.0])
    assert followed.made_at(2, 5.0) == (2.0 if is_there else 5.0)
    assert followed.made_at(0, 5.0) is None


def test_who_left_is_followed_no_more() -> None:
    scheduler = driven()
    run(scheduler, 100.01, Kind.PREFILL)
    run(scheduler, 100.02, Kind.PREDICTOR)
    scheduler.cancel(1)
    scheduler.submit(Stream(2, arrived=200.0, frame_cap=9, ramp=(1,)), 200.0)
    scheduler.submit(Stream(3, arrived=200.0, frame_cap=9, ramp=(1,)), 200.0)
    for _ in range(2):
        run(scheduler, 200.01, Kind.PREFILL)
    run(scheduler, 200.03, Kind.PREDICTOR)
    run(scheduler, 200.05, Kind.TALKER)
    run(scheduler, 200.07, Kind.PREDICTOR)
    run(scheduler, 200.10, Kind.CODEC)
    told = scheduler.waits.told(200.2)["codec"]
    assert told.rows > 0
    assert told.p95 == pytest.approx(0.02, rel=EXACT)


def test_text_that_comes_late_is_nobody_s_wait() -> None:
    scheduler = driven(Stream(1, arrived=100.0, frame_cap=9, ramp=(1,), text=1, text_done=False))
    begun(scheduler)
    assert scheduler.next_job(100.15) is None
    scheduler.extend(1, 3, True, 9, 105.0)
    run(scheduler, 105.02, Kind.TALKER)
    assert scheduler.waits.told(105.1)["talker"].p95 == pytest.approx(0.02, rel=EXACT)


def test_background_work_is_not_counted() -> None:
    scheduler = driven(Stream(1, arrived=90.0, frame_cap=9, ramp=(1,), background=True))
    run(scheduler, 100.01, Kind.PREFILL)
    told = scheduler.waits.told(100.1)
    assert (told["place"], told["prefill"]) == (NOBODY, NOBODY)


def test_a_slot_that_is_taken_anew_knows_nothing_of_who_had_it() -> None:
    scheduler = driven()
    run(scheduler, 100.01, Kind.PREFILL)
    scheduler.cancel(1)
    scheduler.submit(Stream(2, arrived=200.0, frame_cap=9), 200.0)
    run(scheduler, 200.01, Kind.PREFILL)
    told = scheduler.waits.told(200.1)
    assert told["prefill"].median == pytest.approx(0.01, rel=EXACT)


def test_one_job_in_four_is_looked_at_and_every_prefill() -> None:
    scheduler = driven()
    scheduler.waits.every = 4
    run(scheduler, 100.01, Kind.PREFILL)
    now, kinds = 100.02, []
    for _ in range(16):
        job = scheduler.next_job(now)
        assert job is not None
        scheduler.launch(job, now)
        end(scheduler, job, now + 0.01)
        kinds.append(job.kind)
        now += 0.02
    told = scheduler.waits.told(now)
    assert (kinds.count(Kind.TALKER), told["talker"].rows, told["prefill"].rows) == (5, 1, 1)


def test_shares_of_a_minute() -> None:
    minute = Minute(("codec",))
    for ms in range(1, 101):
        minute.note("codec", ms / 1000, 3, now=1000.0)
    told = minute.told(1000.0)["codec"]
    assert told.rows == 300
    assert told.median == pytest.approx(0.05, rel=EXACT)
    assert told.p95 == pytest.approx(0.095, rel=EXACT)


@pytest.mark.parametrize("micros", [0, 1, 9, 15])
def test_the_shortest_are_told_exactly(micros: int) -> None:
    minute = Minute(("codec",))
    minute.note("codec", 1.01e-6 * micros, 1, now=0.0)
    assert minute.told(0.0)["codec"].p95 == pytest.approx(1e-6 * micros)


@pytest.mark.parametrize("seconds", [-1.0, 1e9])
def test_no_wait_is_too_short_or_too_long(seconds: float) -> None:
    minute = Minute(("codec",))
    minute.note("codec", seconds, 1, now=0.0)
    assert minute.told(0.0)["codec"].rows == 1


def test_what_is_older_than_a_minute_is_forgotten() -> None:
    minute = Minute(("codec",))
    minute.note("codec", 0.5, 1, now=1000.0)
    minute.note("codec", 0.001, 1, now=1045.0)
    assert [minute.told(now)["codec"].rows for now in (1059.0, 1060.0, 1110.0, 9999.0)] == [
        2,
        1,
        0,
        0,
    ]
