"""Alignment jobs: words are looked for in time that no listener waits for."""

from __future__ import annotations

import io

from gpu_engine.scheduler import Kind, Recorder, Result, Scheduler, SchedulerSettings, replay
from tests.engine.test_scheduler import chosen, new, play, playing, scheduler_with


def next_kind(scheduler: Scheduler, now: float) -> Kind | None:
    job = scheduler.next_job(now)
    return None if job is None else job.kind


def test_it_works() -> None:
    scheduler = scheduler_with()
    scheduler.ask_words(7, 10.0)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert (job.kind, job.stream, job.rows) == (Kind.ALIGN, 7, 0)
    scheduler.launch(job, 10.0)
    assert scheduler.complete(job, Result(seconds=0.01), 10.1).ended == []
    assert scheduler.next_job(10.1) is None


def test_words_that_were_asked_for_twice_are_looked_for_once() -> None:
    scheduler = scheduler_with()
    scheduler.ask_words(7, 10.0)
    scheduler.ask_words(7, 11.0)
    assert scheduler.alignments == {7: 15.0}


def test_words_that_nobody_waits_for_are_not_looked_for() -> None:
    scheduler = scheduler_with()
    scheduler.ask_words(7, 10.0)
    scheduler.drop_words(7)
    assert scheduler.next_job(10.0) is None


def test_words_go_in_the_time_that_a_playing_stream_has_to_spare() -> None:
    scheduler = playing((1, 2.0))
    scheduler.ask_words(1, 10.0)
    assert next_kind(scheduler, 10.0) is Kind.ALIGN


def test_words_wait_while_a_listener_would_have_to() -> None:
    scheduler = playing((1, 0.1))
    scheduler.ask_words(1, 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])


def test_words_wait_while_a_first_frame_is_waited_for() -> None:
    scheduler = playing((1, 2.0))
    scheduler.submit(new(2), 10.0)
    scheduler.ask_words(1, 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.PREFILL, [2])


def test_words_have_waited_long_enough_after_their_patience() -> None:
    scheduler = playing((1, 2.0), background_patience=5.0)
    scheduler.ask_words(1, 10.0)
    scheduler.submit(new(2, 15.3), 15.3)
    play(scheduler, 1, 18.0)
    assert next_kind(scheduler, 15.3) is Kind.ALIGN


def test_last_words_go_before_what_has_more_time_than_they() -> None:
    """The listener's next sentence waits for them."""
    scheduler = playing((1, 0.5))
    scheduler.ask_words(7, 10.0)
    scheduler.ask_words(8, 10.0, last=True)
    scheduler.submit(new(2, 10.4), 10.4)
    play(scheduler, 1, 10.9)
    job = scheduler.next_job(10.4)
    assert job is not None
    assert (job.kind, job.stream) == (Kind.ALIGN, 8)


def test_a_life_with_words_is_lived_again() -> None:
    file = io.StringIO()
    recorder = Recorder(SchedulerSettings(), [], file)
    recorder.ask_words(7, 10.0)
    recorder.ask_words(8, 10.0)
    recorder.drop_words(7)
    assert chosen(recorder.next_job(10.0)) == (Kind.ALIGN, [])
    _, differing = replay(file.getvalue().splitlines())
    assert differing == []
