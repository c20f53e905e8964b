"""Tenants beside each other: what a burst may take, whom it lets go first, and that it gets on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler import Kind, Measured, Result, Scheduler, SchedulerSettings, Stream
from gpu_engine.scheduler.tenants import level
from tests.engine.simulation import C_KERNELS, Client, Simulation


def stream(number: int, tenant: str, **fields: object) -> Stream:
    told = {"arrived": 10.0, "frame_cap": 300} | fields
    return Stream(id=number, tenant=tenant, **told)  # type: ignore[arg-type]


def burst(scheduler: Scheduler, tenant: str, count: int, first: int = 100) -> list[int]:
    """Streams that come at once; the ids of those that have a slot."""
    for number in range(first, first + count):
        scheduler.submit(stream(number, tenant), 10.0)
    return [number for number in scheduler.seats.slot_of if number >= first]


def with_bob(**fields: object) -> Scheduler:
    """Bob has spoken, and is silent for the moment."""
    scheduler = Scheduler(SchedulerSettings(waiting=64, **fields))  # type: ignore[arg-type]
    scheduler.submit(stream(1, "bob"), 10.0)
    scheduler.cancel(1)
    return scheduler


def test_a_burst_leaves_the_room_that_another_tenant_claims() -> None:
    """Bob had one stream and may come with three: five of eight slots are left."""
    assert len(burst(with_bob(slots=8), "alice", 20)) == 5


def test_a_tenant_alone_has_all_slots() -> None:
    assert len(burst(Scheduler(SchedulerSettings(slots=8)), "alice", 20)) == 8


def test_who_has_been_silent_for_long_claims_nothing() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 20)
    scheduler.next_job(10.0 + 100.0)
    assert len(scheduler.seats.slot_of) == 8


def test_a_burst_that_waits_holds_nobody_else_up() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 20)
    scheduler.submit(stream(2, "bob"), 10.0)
    assert 2 in scheduler.seats.slot_of


def test_two_bursts_have_half_each() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 20)
    burst(scheduler, "bob", 20, first=2)
    for number in list(scheduler.seats.slot_of):
        scheduler.cancel(number)
    scheduler.next_job(10.0)
    of_bob = [number for number in scheduler.seats.slot_of if number < 100]
    assert (len(of_bob), len(scheduler.seats.slot_of)) == (4, 8)


def test_a_burst_does_not_take_all_places_to_wait() -> None:
    scheduler = Scheduler(SchedulerSettings(slots=1, waiting=4))
    burst(scheduler, "alice", 5)
    with pytest.raises(EngineFull):
        scheduler.submit(stream(9, "alice"), 10.0)
    scheduler.submit(stream(1, "bob"), 10.0)
    scheduler.submit(stream(2, "bob"), 10.0)
    with pytest.raises(EngineFull):
        scheduler.submit(stream(3, "bob"), 10.0)
    assert len(scheduler.waiting) == 6


def test_a_newcomer_goes_before_the_first_frames_of_a_burst() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 5)
    scheduler.submit(stream(2, "bob", arrived=10.5), 10.5)
    job = scheduler.next_job(10.5)
    assert job is not None
    assert (job.kind, job.ids.tolist()) == (Kind.PREFILL, [2])


def test_who_speaks_steadily_is_no_burst_beside_one_that_has_just_begun() -> None:
    """Bob has used three times what Alice asks for, and asks for one stream where she has five."""
    scheduler = Scheduler(SchedulerSettings(slots=8, waiting=64))
    for number in range(15):
        scheduler.submit(stream(number, "bob"), 10.0)
        scheduler.cancel(number)
    burst(scheduler, "alice", 5)
    scheduler.submit(stream(99, "bob"), 10.0)
    scheduler.next_job(10.0)
    of = {name: scheduler.tenants.handicap(stream(0, name)) for name in ("alice", "bob")}
    assert of == {"alice": pytest.approx(0.68, abs=0.01), "bob": 0.0}


def test_a_few_streams_at_once_are_no_burst_for_a_device_that_has_many() -> None:
    """Of 256 that fit, 32 are: Alice asks for five, and for less than Bob has used."""
    costs = [Measured(kind, rows, 0, 1e-5) for kind in Kind for rows in (1, 2)]
    scheduler = Scheduler(SchedulerSettings(slots=256), costs)
    for number in range(15):
        scheduler.submit(stream(number, "bob"), 10.0)
        scheduler.cancel(number)
    burst(scheduler, "alice", 5)
    scheduler.next_job(10.0)
    assert scheduler.tenants.handicap(stream(0, "alice")) == 0.0


def test_a_burst_that_was_held_back_has_earned_no_precedence() -> None:
    scheduler = with_bob(slots=8)
    held = burst(scheduler, "alice", 20)
    scheduler.cancel(held[0])
    scheduler.next_job(15.0)
    scheduler.submit(stream(2, "bob", arrived=15.0), 15.0)
    [late] = set(scheduler.seats.slot_of) - {*held, 2}
    slot = scheduler.seats.slot_of[late]
    assert scheduler.table.arrived[slot] == 15.0


def steps_together(scheduler: Scheduler, tenant: str) -> int:
    """Rows of the next step of six streams that play."""
    for number in burst(scheduler, tenant, 6):
        slot, t = scheduler.seats.slot_of[number], scheduler.table
        t.stage[slot], t.heard[slot], t.silent[slot] = 2, True, False
        t.frames[slot] = t.known[slot] = t.decoded[slot] = 10
        t.dry_at[slot] = 11.0
    job = scheduler.next_job(10.0)
    assert job is not None
    assert job.kind is Kind.PREDICTOR
    return job.rows


def slow_steps(**fields: object) -> Scheduler:
    """A Talker step or predictor frame of many rows takes as many times as long as of one."""
    kinds = (Kind.TALKER, Kind.PREDICTOR)
    measured = [Measured(kind, rows, 0, 0.004 * rows) for kind in kinds for rows in (1, 8)]
    measured += [Measured(Kind.CODEC, rows, 1, 0.001 * rows) for rows in (1, 8)]
    return Scheduler(SchedulerSettings(waiting=64, **fields), measured)  # type: ignore[arg-type]


def test_jobs_are_short_while_tenants_share_the_device() -> None:
    """A lone stream's first audio takes 17.5 ms there: a job may take 7.9, a row takes 4."""
    scheduler = slow_steps(slots=8)
    scheduler.submit(stream(1, "bob"), 10.0)
    scheduler.cancel(1)
    assert steps_together(scheduler, "alice") == 1


def test_jobs_are_as_wide_as_ever_for_a_tenant_alone() -> None:
    assert steps_together(slow_steps(slots=8), "alice") == 6


def test_nothing_is_launched_behind_a_job_while_tenants_share_the_device() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 5)
    kinds = frozenset(Kind)
    assert scheduler.next_job(10.0, behind=kinds) is None
    scheduler.submit(stream(2, "bob"), 10.0)
    job = scheduler.next_job(10.0, behind=kinds)
    assert job is not None
    assert 2 in job.ids.tolist()


def test_a_tenant_alone_keeps_the_device_filled_ahead() -> None:
    scheduler = Scheduler(SchedulerSettings(slots=8))
    burst(scheduler, "alice", 5)
    assert scheduler.next_job(10.0, behind=frozenset(Kind)) is not None


def test_background_work_of_another_tenant_is_cut_short_too() -> None:
    scheduler = with_bob(slots=8)
    scheduler.submit(stream(2, "alice", background=True), 10.0)
    scheduler.next_job(10.0)
    assert scheduler.tenants.shared


def test_more_tenants_than_there_was_room_for_are_told_apart() -> None:
    scheduler = Scheduler(SchedulerSettings(slots=1, waiting=200))
    for number in range(150):
        scheduler.submit(stream(number, f"tenant {number}"), 10.0)
    assert {scheduler.tenants.find(f"tenant {number}") for number in range(150)} == set(range(150))


def test_who_claims_less_than_the_level_has_its_claim() -> None:
    found = level(8, np.array([2.0, 20.0, 20.0]), np.ones(3))
    assert found == 3.0


def test_a_share_of_two_has_two_levels() -> None:
    found = level(9, np.array([20.0, 20.0]), np.array([2.0, 1.0]))
    assert found == 3.0


def test_there_is_no_level_while_all_claims_fit() -> None:
    assert level(8, np.array([4.0, 4.0]), np.ones(2)) == np.inf


@given(
    st.lists(st.tuples(st.floats(1, 300), st.floats(0.1, 100)), min_size=1, max_size=30),
    st.integers(0, 256),
)
def test_a_level_uses_the_room_up_and_no_more(
    tenants: list[tuple[float, float]], room: int
) -> None:
    claims, shares = np.array(tenants).T
    held = np.minimum(claims, level(room, claims, shares) * shares)
    assert held.sum() == pytest.approx(min(float(room), claims.sum()))


@settings(max_examples=5, deadline=None)
@given(st.integers(5, 20), st.integers(0, 3), st.booleans())
def test_nobody_starves_beside_a_burst(alices: int, mallorys: int, overlapped: bool) -> None:
    """Not the burst either: Bob never stops asking."""
    clients = [Client(arrives=1.0, speech=8, cap=24) for _ in range(alices)]
    clients += [Client(arrives=1.0 * n, speech=12, cap=36, tenant="bob") for n in range(8)]
    clients += [Client(arrives=2.0, speech=8, cap=24, tenant="mallory") for _ in range(mallorys)]
    chosen = SchedulerSettings(slots=4, waiting=100)
    done = Simulation(clients, chosen, costs=C_KERNELS, overlapped=overlapped).run()
    assert not done.refused
    assert set(done.reasons.values()) == {"stop"}
    last = max(at for at, end in done.ends if end.id < alices)
    assert last < 9.0 + 0.64 * alices


def test_a_burst_makes_its_way_though_another_tenant_always_has_work() -> None:
    """A stream of the burst that holds nothing goes in after its patience, however full it is."""
    scheduler = Scheduler(SchedulerSettings(slots=4, waiting=64, utilisation=0.2), C_KERNELS)
    scheduler.submit(stream(1, "bob"), 10.0)
    burst(scheduler, "alice", 3)
    assert list(scheduler.seats.slot_of) == [1]
    scheduler.next_job(13.5)
    assert len(scheduler.seats.slot_of) == 2


def test_a_job_is_booked_as_ever() -> None:
    scheduler = with_bob(slots=8)
    burst(scheduler, "alice", 3)
    job = scheduler.next_job(10.0)
    assert job is not None
    scheduler.launch(job, 10.0)
    scheduler.complete(job, Result(stopped=np.zeros(job.rows, bool)), 10.1)
    for number in list(scheduler.seats.slot_of):
        scheduler.cancel(number)
    scheduler.check()
