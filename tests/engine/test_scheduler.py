"""The scheduler by itself: order, batches, pacing, admission, fairness, and its books."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler import Kind, Result, Scheduler, SchedulerSettings, Stage, Stream
from tests.engine.simulation import Client, Simulation


def playing(number: int, dry_at: float, **fields: object) -> Stream:
    """A stream in mid-speech that needs a Talker step."""
    stream = Stream(id=number, arrived=0.0, frame_cap=1000, **fields)  # type: ignore[arg-type]
    return _placed(stream, dry_at)


def _placed(stream: Stream, dry_at: float) -> Stream:
    stream.frames = stream.decoded = 10
    stream.first_audio_at, stream.dry_at = 0.1, dry_at
    return stream


def scheduler_with(*streams: Stream, **fields: object) -> Scheduler:
    scheduler = Scheduler(SchedulerSettings(**fields))  # type: ignore[arg-type]
    for stream in streams:
        scheduler.submit(stream, 0.0)
        if stream.first_audio_at is not None:
            stream.stage = Stage.TALK
    return scheduler


def test_it_works() -> None:
    done = Simulation([Client(arrives=0.0, speech=20)]).run()
    assert [(number, reason) for _, number, reason in done.ends] == [(0, "stop")]
    assert done.streams[0].frames == done.streams[0].decoded == 20
    assert done.scheduler.totals.frames == 20


def test_the_jobs_of_one_stream_alternate_and_decode_by_its_ramp() -> None:
    clients = [Client(arrives=0.0, speech=6, ramp=(1, 2, 4))]
    done = Simulation(clients, SchedulerSettings(rush=0.0)).run()
    kinds = [job.kind for _, job in done.jobs]
    assert kinds[:4] == [Kind.PREFILL, Kind.PREDICTOR, Kind.CODEC, Kind.TALKER]
    assert [job.frames for _, job in done.jobs if job.kind is Kind.CODEC] == [1, 2, 3]


def test_a_stream_without_audio_outranks_one_with_lead_to_spare() -> None:
    scheduler = scheduler_with(playing(1, dry_at=12.0), Stream(id=2, arrived=10.0, frame_cap=10))
    job = scheduler.next_job(10.0)
    assert job is not None
    assert (job.kind, [row.id for row in job.rows]) == (Kind.PREFILL, [2])


def test_a_stream_about_to_run_dry_outranks_one_without_audio() -> None:
    scheduler = scheduler_with(playing(1, dry_at=10.05), Stream(id=2, arrived=10.0, frame_cap=10))
    job = scheduler.next_job(10.0)
    assert job is not None
    assert (job.kind, job.rows[0].id) == (Kind.TALKER, 1)


def test_rows_fill_the_anchors_batch_in_order_of_urgency() -> None:
    streams = [playing(number, dry_at=10.0 + lead) for number, lead in ((1, 2.0), (2, 0.5), (3, 1))]
    job = scheduler_with(*streams, step_rows=2).next_job(10.0)
    assert job is not None
    assert [row.id for row in job.rows] == [2, 3]


def test_a_first_frame_is_not_made_to_wait_for_rows_with_time_to_spare() -> None:
    new = Stream(id=1, arrived=10.0, frame_cap=10)
    scheduler = scheduler_with(new, playing(2, dry_at=12.5))
    new.stage = Stage.TALK
    new.frames = 1
    new.ramp = (4,)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert [row.id for row in job.rows] == [1]


def test_a_paced_stream_waits_when_the_others_are_busy_and_goes_on_when_idle() -> None:
    ahead, behind = playing(1, dry_at=15.0), playing(2, dry_at=11.0)
    scheduler = scheduler_with(ahead, behind)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert [row.id for row in job.rows] == [2]
    scheduler.cancel(2)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert [row.id for row in job.rows] == [1]


def test_a_stream_far_enough_ahead_rests_until_its_lead_is_used() -> None:
    scheduler = scheduler_with(playing(1, dry_at=40.0), idle_lead=12.0)
    assert scheduler.next_job(10.0) is None
    assert scheduler.wakes_at(10.0) == pytest.approx(28.0)
    assert scheduler.next_job(28.1) is not None


def test_an_unpaced_stream_never_rests() -> None:
    assert scheduler_with(playing(1, dry_at=400.0, paced=False)).next_job(10.0) is not None


def test_a_stream_that_ran_out_of_text_is_not_runnable_until_more_comes() -> None:
    stream = playing(1, dry_at=10.0, text=9, text_done=False)
    scheduler = scheduler_with(stream)
    assert scheduler.next_job(10.0) is None
    scheduler.extend(1, text=1, done=False, frame_cap=1200, now=12.0)
    job = scheduler.next_job(12.0)
    assert job is not None
    assert job.kind is Kind.TALKER
    assert (stream.dry_at, stream.frame_cap) == (12.1, 1200)


def test_what_a_stalled_stream_has_made_is_decoded_at_once() -> None:
    stream = playing(1, dry_at=12.0, text=9, text_done=False, ramp=(16,))
    stream.frames += 1
    job = scheduler_with(stream).next_job(10.0)
    assert job is not None
    assert (job.kind, job.frames) == (Kind.CODEC, 1)


def test_text_for_a_stream_that_is_gone_is_dropped() -> None:
    scheduler = scheduler_with()
    scheduler.extend(7, text=3, done=True, frame_cap=10, now=0.0)
    assert scheduler.cancel(7) is None


def test_the_frame_cap_ends_a_runaway_as_length() -> None:
    done = Simulation([Client(arrives=0.0, speech=10_000, cap=30)]).run()
    assert [(number, reason) for _, number, reason in done.ends] == [(0, "length")]
    assert done.streams[0].frames == 30


def test_a_broken_row_ends_alone() -> None:
    streams = [playing(1, dry_at=10.5), playing(2, dry_at=10.6)]
    scheduler = scheduler_with(*streams)
    job = scheduler.next_job(10.0)
    assert job is not None
    ended = scheduler.complete(job, Result(broken=frozenset({1})), 10.1)
    assert [(stream.id, stream.reason) for stream in ended] == [(1, "error")]
    assert list(scheduler.streams) == [2]
    scheduler.check()


def test_full_is_refused_with_a_wait_estimate() -> None:
    scheduler = Scheduler(SchedulerSettings(slots=1, waiting=1))
    for number in (1, 2):
        scheduler.submit(Stream(id=number, arrived=0.0, frame_cap=10), 0.0)
    with pytest.raises(EngineFull) as refusal:
        scheduler.submit(Stream(id=3, arrived=0.0, frame_cap=10), 0.0)
    assert refusal.value.retry_after_ms == 6000
    assert sorted(scheduler.streams) == [1, 2]


def test_waiting_streams_take_turns_by_tenant() -> None:
    clients = [Client(arrives=0.0, speech=5)]
    clients += [Client(arrives=0.001, speech=5) for _ in range(4)]
    clients += [Client(arrives=0.002, speech=5, tenant=name) for name in ("bob", "mallory")]
    done = Simulation(clients, SchedulerSettings(slots=1)).run()
    assert [number for _, number, _ in done.ends] == [0, 1, 5, 6, 2, 3, 4]


def test_background_waits_for_interactive_but_not_for_ever() -> None:
    clients = [Client(arrives=0.0, speech=50, background=True)]
    clients += [Client(arrives=0.05 * number, speech=50) for number in range(400)]
    chosen = SchedulerSettings(slots=2, waiting=1000, background_patience=5.0)
    done = Simulation(clients, chosen, slow=3.0).run()
    assert sorted(number for _, number, _ in done.ends) == list(range(401))
    ended = {number: at for at, number, _ in done.ends}
    assert ended[0] < max(ended.values()) / 2


def test_a_voice_is_encoded_when_idle() -> None:
    scheduler = scheduler_with()
    scheduler.add_clip(5, 0.0)
    job = scheduler.next_job(0.0)
    assert job is not None
    assert (job.kind, job.clip, job.rows) == (Kind.ENCODE, 5, ())


def test_a_voice_waits_for_speech_but_not_longer_than_its_patience() -> None:
    scheduler = scheduler_with(playing(1, dry_at=11.0), background_patience=5.0)
    scheduler.add_clip(5, 10.0)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert job.kind is Kind.TALKER
    scheduler.streams[1].dry_at = 17.0
    job = scheduler.next_job(15.5)
    assert job is not None
    assert job.kind is Kind.ENCODE


def test_a_stream_about_to_run_dry_is_decoded_before_its_chunk_is_full() -> None:
    stream = playing(1, dry_at=10.2, ramp=(16,))
    stream.frames += 2
    scheduler = scheduler_with(stream, rush=0.25)
    job = scheduler.next_job(10.0)
    assert job is not None
    assert (job.kind, job.frames) == (Kind.CODEC, 2)


def test_a_prefill_goes_first_so_that_later_steps_are_shared() -> None:
    first, second = (Stream(id=number, arrived=0.0, frame_cap=10) for number in (1, 2))
    scheduler = scheduler_with(first, second)
    first.stage = Stage.PREDICT
    job = scheduler.next_job(0.0)
    assert job is not None
    assert (job.kind, job.rows[0].id) == (Kind.PREFILL, 2)
    scheduler.complete(job, Result(), 0.01)
    job = scheduler.next_job(0.01)
    assert job is not None
    assert (job.kind, [row.id for row in job.rows]) == (Kind.PREDICTOR, [1, 2])


def test_leading_silence_does_not_use_up_the_ramp() -> None:
    clients = [Client(arrives=0.0, speech=12, ramp=(1, 2, 4), silent_frames=3)]
    done = Simulation(clients, SchedulerSettings(rush=0.0)).run()
    sizes = [job.frames for _, job in done.jobs if job.kind is Kind.CODEC]
    assert sizes == [1, 1, 1, 1, 2, 4, 2]


def test_hundreds_of_streams_are_served_in_time_while_the_device_keeps_up() -> None:
    dice = random.Random(7)
    clients = [
        Client(arrives=dice.uniform(0, 60), speech=dice.randint(20, 120)) for _ in range(300)
    ]
    done = Simulation(clients, SchedulerSettings(slots=64, step_rows=64)).run()
    assert len(done.ends) == 300
    assert done.scheduler.totals.underruns == 0
    waits = sorted(s.first_audio_at - s.arrived for s in done.streams.values() if s.first_audio_at)
    assert waits[int(0.95 * len(waits))] < 0.1


def test_the_same_clients_give_the_same_jobs() -> None:
    clients = [Client(arrives=0.01 * n, speech=10 + n % 7, cancel_after=None) for n in range(40)]
    first, second = Simulation(clients).run(), Simulation(clients).run()
    shape = [(at, job.kind, [row.id for row in job.rows]) for at, job in first.jobs]
    assert shape == [(at, job.kind, [row.id for row in job.rows]) for at, job in second.jobs]


CLIENTS = st.builds(
    Client,
    arrives=st.floats(0, 5),
    speech=st.integers(0, 60),
    cap=st.integers(1, 50),
    cancel_after=st.none() | st.floats(0, 3),
    tenant=st.sampled_from(["alice", "bob", "mallory"]),
    background=st.booleans(),
    ramp=st.sampled_from([(1, 2, 4, 8, 16), (8, 16), (1,), (3, 1)]),
    silent_frames=st.integers(0, 4),
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(CLIENTS, max_size=25),
    st.integers(1, 6),
    st.integers(0, 20),
    st.sampled_from([0.2, 1.0, 30.0]),
)
def test_every_stream_ends_exactly_once_and_every_slot_comes_back(
    clients: list[Client], slots: int, waiting: int, slow: float
) -> None:
    chosen = SchedulerSettings(slots=slots, waiting=waiting, step_rows=3, codec_frames=24)
    done = Simulation(clients, chosen, slow=slow).run()
    ended = [number for _, number, _ in done.ends]
    refused = [number for number, _ in done.refused]
    assert sorted(ended + refused) == list(range(len(clients)))
    assert done.scheduler.streams == {}
    assert sorted(done.scheduler.free) == list(range(slots))
    for _, number, reason in done.ends:
        stream, client = done.streams[number], clients[number]
        if reason != "cancelled":
            assert stream.frames == stream.decoded == min(client.speech, client.cap)
            assert reason == ("stop" if client.speech <= client.cap else "length")


@settings(max_examples=40, deadline=None)
@given(st.lists(CLIENTS, min_size=1, max_size=20), st.sampled_from([30.0, 200.0]))
def test_no_stream_with_a_slot_is_passed_over_for_long_under_overload(
    clients: list[Client], slow: float
) -> None:
    done = Simulation(clients, SchedulerSettings(slots=4, waiting=50, step_rows=2), slow=slow).run()
    served: dict[int, list[int]] = {}
    for turn, (_, job) in enumerate(done.jobs):
        for row in job.rows:
            served.setdefault(row.id, []).append(turn)
    gaps = [later - earlier for turns in served.values() for earlier, later in pairwise(turns)]
    assert max(gaps, default=0) < 200
