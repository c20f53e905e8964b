"""The scheduler by itself: order, batches, pacing, admission, fairness, and its books."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler import (
    BooksError,
    Job,
    Kind,
    Result,
    Scheduler,
    SchedulerSettings,
    Stage,
    Stream,
)
from tests.engine.simulation import CPU, Client, Simulation


def scheduler_with(*streams: Stream, **fields: object) -> Scheduler:
    scheduler = Scheduler(SchedulerSettings(**fields))  # type: ignore[arg-type]
    for stream in streams:
        scheduler.submit(stream, stream.arrived)
    return scheduler


def new(number: int, arrived: float = 10.0, **fields: object) -> Stream:
    return Stream(id=number, arrived=arrived, frame_cap=1000, **fields)  # type: ignore[arg-type]


def play(scheduler: Scheduler, number: int, dry_at: float, made: int = 0) -> int:
    """Puts a stream into mid-speech, `made` frames ahead of its codec and before a Talker step."""
    slot, t = scheduler.seats.slot_of[number], scheduler.table
    t.stage[slot], t.decoded[slot] = Stage.TALK, 10
    t.frames[slot] = t.known[slot] = 10 + made
    t.heard[slot], t.first_at[slot], t.dry_at[slot] = True, 0.1, dry_at
    t.silent[slot] = False
    return slot


def playing(*leads: tuple[int, float], now: float = 10.0, **fields: object) -> Scheduler:
    """A scheduler with streams (id, seconds of lead) in mid-speech."""
    scheduler = scheduler_with(*(new(number, 0.0) for number, _ in leads), **fields)
    for number, lead in leads:
        play(scheduler, number, now + lead)
    return scheduler


def chosen(job: Job | None) -> tuple[Kind, list[int]]:
    assert job is not None
    return job.kind, job.ids.tolist()


def flags(*values: bool) -> np.ndarray:
    return np.array(values)


def sizes(done: Simulation) -> list[int]:
    return [job.frames for _, job in done.jobs if job.kind is Kind.CODEC]


def test_it_works() -> None:
    done = Simulation([Client(arrives=0.0, speech=20)]).run()
    [(_, end)] = done.ends
    assert (end.reason, end.frames, end.underruns) == ("stop", 20, 0)
    assert done.listeners[0].heard == pytest.approx(20 * 0.08)
    assert done.scheduler.totals.frames == 20


def test_the_jobs_of_one_stream_alternate_and_decode_by_its_ramp() -> None:
    done = Simulation([Client(arrives=0.0, speech=6, ramp=(1, 2, 4))]).run()
    kinds = [job.kind for _, job in done.jobs]
    assert kinds[:4] == [Kind.PREFILL, Kind.PREDICTOR, Kind.TALKER, Kind.PREDICTOR]
    assert sizes(done) == [2, 2, 2]


def test_a_stream_without_audio_outranks_one_with_lead_to_spare() -> None:
    scheduler = playing((1, 2.0))
    scheduler.submit(new(2), 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.PREFILL, [2])


def test_a_stream_about_to_run_dry_outranks_one_without_audio() -> None:
    scheduler = playing((1, 0.05))
    scheduler.submit(new(2), 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])


def test_rows_fill_the_anchors_batch_in_order_of_urgency() -> None:
    scheduler = playing((1, 2.0), (2, 0.5), (3, 1.0), step_rows=2)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [2, 3])


def test_a_first_frame_is_not_made_to_wait_for_rows_with_time_to_spare() -> None:
    scheduler = playing(*((number, 2.5) for number in range(2, 8)), fill_tolerance=0.0)
    scheduler.submit(new(1), 10.0)
    scheduler.table.stage[scheduler.seats.slot_of[1]] = Stage.TALK
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])


def test_a_decode_that_stands_before_a_first_frame_is_cut_to_its_time() -> None:
    scheduler = scheduler_with(*(new(number, 0.0, ramp=(8,)) for number in range(2, 8)))
    for number in range(2, 8):
        play(scheduler, number, 10.09, made=8)
    assert chosen(scheduler.next_job(10.0)) == (Kind.CODEC, [2, 3, 4, 5])
    scheduler.submit(new(1), 10.0)
    # A row of eight frames takes 6 ms, two take 10: more than the 8 that may stand before it.
    assert chosen(scheduler.next_job(10.0)) == (Kind.CODEC, [2])


def test_a_paced_stream_waits_when_the_others_are_busy_and_goes_on_when_idle() -> None:
    scheduler = playing((1, 5.0), (2, 1.0))
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [2])
    scheduler.cancel(2)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])


def test_a_stream_far_enough_ahead_rests_until_its_lead_is_used() -> None:
    scheduler = playing((1, 30.0))
    assert scheduler.next_job(10.0) is None
    assert scheduler.wakes_at(10.0) == pytest.approx(28.0)
    assert scheduler.next_job(28.1) is not None


def test_an_unpaced_stream_never_rests() -> None:
    scheduler = scheduler_with(new(1, 0.0, paced=False))
    play(scheduler, 1, 400.0)
    assert scheduler.next_job(10.0) is not None


def test_a_stream_that_ran_out_of_text_is_not_runnable_until_more_comes() -> None:
    scheduler = scheduler_with(new(1, 0.0, text=9, text_done=False))
    slot = play(scheduler, 1, 10.0)
    assert scheduler.next_job(10.0) is None
    scheduler.extend(1, text=1, done=False, frame_cap=1200, now=12.0)
    assert chosen(scheduler.next_job(12.0)) == (Kind.TALKER, [1])
    assert (scheduler.table.dry_at[slot], scheduler.table.cap[slot]) == (12.1, 1200)


def test_what_a_stalled_stream_has_made_is_decoded_at_once() -> None:
    scheduler = scheduler_with(new(1, 0.0, text=9, text_done=False, ramp=(16,)))
    play(scheduler, 1, 12.0, made=1)
    job = scheduler.next_job(10.0)
    assert chosen(job) == (Kind.CODEC, [1])
    assert job is not None
    assert job.frames == 1


def test_text_for_a_stream_that_is_gone_is_dropped() -> None:
    scheduler = scheduler_with()
    scheduler.extend(7, text=3, done=True, frame_cap=10, now=0.0)
    assert scheduler.cancel(7) is None


def test_text_for_a_stream_that_waits_is_kept() -> None:
    scheduler = scheduler_with(new(1), new(2, text=3, text_done=False), slots=1)
    scheduler.extend(2, text=4, done=True, frame_cap=2000, now=10.5)
    scheduler.cancel(1)
    scheduler.next_job(11.0)
    slot = scheduler.seats.slot_of[2]
    assert (scheduler.table.text[slot], scheduler.table.cap[slot]) == (7, 2000)
    assert not scheduler.table.open_text[slot]


def test_the_frame_cap_ends_a_runaway_as_length() -> None:
    done = Simulation([Client(arrives=0.0, speech=10_000, cap=30)]).run()
    [(_, end)] = done.ends
    assert (end.reason, end.frames) == ("length", 30)


def test_a_broken_row_ends_alone() -> None:
    scheduler = playing((1, 0.5), (2, 0.6))
    job = scheduler.next_job(10.0)
    assert job is not None
    scheduler.launch(job, 10.0)
    booked = scheduler.complete(job, Result(broken=flags(True, False)), 10.1)
    assert [(end.id, end.reason) for end in booked.ended] == [(1, "error")]
    assert list(scheduler.seats.slot_of) == [2]
    scheduler.check()


def test_a_slot_is_not_given_away_while_a_launched_job_names_it() -> None:
    scheduler = scheduler_with(new(1), new(2), slots=1)
    job = scheduler.next_job(10.0)
    assert job is not None
    scheduler.launch(job, 10.0)
    assert scheduler.cancel(1) is not None
    assert scheduler.next_job(10.0) is None
    assert scheduler.seats.vacated == []
    scheduler.complete(job, Result(stopped=flags(False)), 10.1)
    assert scheduler.seats.vacated == [0]
    assert chosen(scheduler.next_job(10.2)) == (Kind.PREFILL, [2])


def test_a_frame_that_was_begun_before_the_stop_was_known_does_not_count() -> None:
    scheduler = playing((1, 0.5))
    talk = scheduler.next_job(10.0)
    assert talk is not None
    scheduler.launch(talk, 10.0)
    predict = scheduler.next_job(10.0)
    assert chosen(predict) == (Kind.PREDICTOR, [1])
    assert predict is not None
    scheduler.launch(predict, 10.0)
    # Its codes are not known to be speech: nothing of it is decoded.
    assert scheduler.table.pending[0] == 0
    assert scheduler.complete(talk, Result(stopped=flags(True)), 10.1).ended == []
    [end] = scheduler.complete(predict, Result(), 10.2).ended
    assert (end.reason, end.frames) == ("stop", 10)


def test_kinds_whose_lane_is_full_are_left_out() -> None:
    scheduler = playing((1, 0.5))
    assert scheduler.next_job(10.0, frozenset({Kind.TALKER})) is None


def test_full_is_refused_with_a_wait_estimate() -> None:
    scheduler = scheduler_with(new(1, paced=False), new(2, paced=False), slots=1, waiting=1)
    with pytest.raises(EngineFull) as refusal:
        scheduler.submit(new(3), 10.0)
    # Two streams of 350 frames; a frame takes 1.1 + 2.1 + 0.6 ms by the model's first guess.
    assert refusal.value.retry_after_ms == pytest.approx(2 * 350 * 3.8, rel=0.02)
    assert len(scheduler) == 2


def test_a_stream_waits_for_memory_and_gets_it() -> None:
    scheduler = scheduler_with(
        new(1, positions=700), new(2, positions=400), slots=4, positions=1024, page=64
    )
    assert list(scheduler.seats.slot_of) == [1]
    scheduler.check()
    scheduler.cancel(1)
    assert chosen(scheduler.next_job(11.0)) == (Kind.PREFILL, [2])


def test_a_stream_waits_while_everybodys_frames_would_not_fit_into_real_time() -> None:
    clients = [Client(arrives=0.0, speech=100) for _ in range(8)]
    done = Simulation(clients, SchedulerSettings(), slow=2.0, costs=CPU)
    done.run(until=0.5)
    # Four of them at twice the usual costs would take 78 ms of every 80.
    assert len(done.scheduler.seats.slot_of) == 3
    done.run()
    assert all(end.reason == "stop" for _, end in done.ends)


def test_waiting_streams_take_turns_by_tenant() -> None:
    clients = [Client(arrives=0.0, speech=5)]
    clients += [Client(arrives=0.001, speech=5) for _ in range(4)]
    clients += [Client(arrives=0.002, speech=5, tenant=name) for name in ("bob", "mallory")]
    done = Simulation(clients, SchedulerSettings(slots=1)).run()
    assert [end.id for _, end in done.ends] == [0, 5, 6, 1, 2, 3, 4]


def test_a_tenant_with_twice_the_share_goes_twice_as_often() -> None:
    streams = [new(number, tenant="alice", share=2.0) for number in range(1, 7)]
    streams += [new(number, tenant="bob") for number in range(7, 13)]
    scheduler = scheduler_with(new(0, tenant="mallory"), *streams, slots=1)
    order = []
    for _ in range(6):
        scheduler.cancel(next(iter(scheduler.seats.slot_of)))
        scheduler.next_job(11.0)
        order += list(scheduler.seats.slot_of)
    assert [number <= 6 for number in order].count(True) == 4


def test_background_waits_for_interactive_but_not_for_ever() -> None:
    clients = [Client(arrives=0.0, speech=50, background=True)]
    clients += [Client(arrives=0.05 * number, speech=50) for number in range(400)]
    settings = SchedulerSettings(slots=2, waiting=1000, background_patience=5.0)
    done = Simulation(clients, settings, slow=3.0).run()
    ended = {end.id: at for at, end in done.ends}
    assert sorted(ended) == list(range(401))
    assert ended[0] < max(ended.values()) / 2


def test_background_leaves_slots_to_listeners() -> None:
    scheduler = scheduler_with(*(new(number, background=True) for number in range(8)), slots=4)
    assert len(scheduler.seats.slot_of) == 3
    scheduler.submit(new(9), 10.0)
    assert 9 in scheduler.seats.slot_of


def test_a_stream_about_to_run_dry_is_decoded_before_its_chunk_is_full() -> None:
    scheduler = scheduler_with(new(1, 0.0, ramp=(16,)))
    play(scheduler, 1, 10.016, made=2)
    job = scheduler.next_job(10.0)
    assert chosen(job) == (Kind.CODEC, [1])
    assert job is not None
    assert job.frames == 2


def test_a_prefill_goes_first_so_that_later_steps_are_shared() -> None:
    scheduler = scheduler_with(new(1, 0.0), new(2, 0.0))
    scheduler.table.stage[scheduler.seats.slot_of[1]] = Stage.PREDICT
    job = scheduler.next_job(0.0)
    assert chosen(job) == (Kind.PREFILL, [2])
    assert job is not None
    scheduler.launch(job, 0.0)
    scheduler.complete(job, Result(stopped=flags(False)), 0.01)
    assert chosen(scheduler.next_job(0.01)) == (Kind.PREDICTOR, [1, 2])


@pytest.mark.parametrize(
    ("column", "slot", "problem"),
    [
        ("id", 0, "held by another"),
        ("jobs", 5, "a job is lost"),
        ("positions", 5, "still reserved"),
    ],
)
def test_books_that_do_not_balance_are_reported(column: str, slot: int, problem: str) -> None:
    scheduler = scheduler_with(new(1), slots=8)
    assert scheduler.seats.slot_of == {1: 0}
    scheduler.check()
    getattr(scheduler.table, column)[slot] = 99
    with pytest.raises(BooksError, match=problem):
        scheduler.check()


def test_a_lost_slot_is_reported() -> None:
    scheduler = scheduler_with(new(1), slots=8)
    scheduler.free.pop()
    with pytest.raises(BooksError, match="a slot is lost"):
        scheduler.check()
