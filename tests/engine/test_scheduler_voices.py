"""Voices: encoding in pieces that nobody waits for, and references that are heard in parts."""

from __future__ import annotations

import io

from gpu_engine.scheduler import (
    Job,
    Kind,
    Recorder,
    Result,
    Scheduler,
    SchedulerSettings,
    Stage,
    replay,
)
from tests.engine.simulation import CPU, Client, Simulation
from tests.engine.test_scheduler import chosen, flags, new, playing, scheduler_with


def done(scheduler: Scheduler, job: Job | None, now: float, more: bool = False) -> Job:
    """Launches and completes a job."""
    assert job is not None
    scheduler.launch(job, now)
    stopped = flags(*[False] * job.rows) if job.rows else None
    scheduler.complete(job, Result(stopped=stopped, more=more, seconds=0.005), now)
    return job


def test_a_voice_is_encoded_piece_by_piece_before_the_next() -> None:
    scheduler = scheduler_with()
    scheduler.add_clip(5, 0.0)
    scheduler.add_clip(6, 0.0)
    clips = [done(scheduler, scheduler.next_job(0.0), 0.0, more).clip for more in (True, False)]
    assert clips == [5, 5]
    assert done(scheduler, scheduler.next_job(0.0), 0.0).clip == 6
    assert scheduler.next_job(0.0) is None


def test_a_launched_piece_is_not_launched_again() -> None:
    scheduler = scheduler_with()
    scheduler.add_clip(5, 0.0)
    job = scheduler.next_job(0.0)
    assert job is not None
    scheduler.launch(job, 0.0)
    assert scheduler.next_job(0.0) is None


def test_a_piece_goes_in_the_time_that_a_playing_stream_has_to_spare() -> None:
    scheduler = playing((1, 2.0))
    scheduler.add_clip(5, 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.ENCODE, [])


def test_a_piece_waits_while_a_listener_would_have_to() -> None:
    scheduler = playing((1, 0.1))
    scheduler.add_clip(5, 10.0)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])


def test_the_next_piece_waits_out_a_patience_of_its_own() -> None:
    scheduler = playing((1, 2.0), encode_patience=0.25)
    scheduler.add_clip(5, 10.0)
    done(scheduler, scheduler.next_job(10.0), 10.0, more=True)
    scheduler.submit(new(2, 10.0), 10.0)
    assert chosen(scheduler.next_job(10.1)) == (Kind.PREFILL, [2])
    slot = scheduler.seats.slot_of[2]
    scheduler.table.arrived[slot] = 10.4
    assert chosen(scheduler.next_job(10.4)) == (Kind.ENCODE, [])


def test_fifty_voices_leave_every_listener_as_they_found_him() -> None:
    clients = [Client(arrives=2.0 * n, speech=60) for n in range(12)]
    run = Simulation(clients, costs=CPU, voices=[40] * 50).run()
    assert sum(job.kind is Kind.ENCODE for _, job in run.jobs) > 500
    assert run.scheduler.totals.underruns == 0
    waits = [(run.listeners[n].first_at or 9) - each.arrives for n, each in enumerate(clients)]
    # A piece under way, and a batch with who would have been done a little earlier.
    assert max(waits) < 1.5 * SchedulerSettings().first_audio_target


def test_a_prompt_in_parts_draws_its_first_code_with_the_last_one() -> None:
    scheduler = scheduler_with(new(1, 0.0))
    slot = scheduler.seats.slot_of[1]
    scheduler.expect_prefills(slot, 3)
    lefts = [done(scheduler, scheduler.next_job(0.0), 0.0).left.tolist() for _ in range(2)]
    assert lefts == [[2], [1]]
    assert (scheduler.table.known[slot], scheduler.table.stage[slot]) == (0, Stage.PREFILL)
    assert done(scheduler, scheduler.next_job(0.0), 0.0).left.tolist() == [0]
    assert (scheduler.table.known[slot], scheduler.table.stage[slot]) == (1, Stage.PREDICT)


def test_a_prompt_that_is_at_hand_starts_with_a_talker_step() -> None:
    scheduler = scheduler_with(new(1, 0.0))
    scheduler.expect_prefills(scheduler.seats.slot_of[1], 0)
    assert chosen(scheduler.next_job(0.0)) == (Kind.TALKER, [1])


def test_parts_of_a_cold_voice_let_who_comes_later_go_first() -> None:
    scheduler = scheduler_with(new(1, 0.0))
    scheduler.expect_prefills(scheduler.seats.slot_of[1], 100)
    done(scheduler, scheduler.next_job(0.0), 0.0)
    scheduler.submit(new(2, 0.0), 0.0)
    assert chosen(scheduler.next_job(0.0)) == (Kind.PREFILL, [2])


def test_a_cold_voice_is_heard_in_the_end_on_a_device_that_is_never_idle() -> None:
    crowd = [Client(arrives=0.0, speech=400, background=True) for _ in range(3)]
    cold = Client(arrives=1.0, speech=5, prefills=20)
    run = Simulation([*crowd, cold], SchedulerSettings(slots=4), costs=CPU).run()
    first = run.listeners[3].first_at
    assert first is not None
    assert first < 1.0 + 20 * 0.2


def test_a_life_with_voices_is_lived_again() -> None:
    file = io.StringIO()
    recorder = Recorder(SchedulerSettings(), [], file)
    recorder.add_clip(5, 10.0)
    recorder.submit(new(1, 10.0), 10.0)
    recorder.expect_prefills(recorder.seats.slot_of[1], 2)
    for more in (False, False, True):
        done(recorder, recorder.next_job(10.0), 10.0, more)
    _, differing = replay(file.getvalue().splitlines())
    assert differing == []
