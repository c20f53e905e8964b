"""Many streams, any streams: nobody starves, nobody is late without need, a trace replays."""

from __future__ import annotations

import io
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_engine.scheduler import RAMPS, Scheduler, SchedulerSettings, replay
from tests.engine.simulation import GPU, Client, Costs, Simulation

STREAMS = 10_000
# A fast device with short utterances: a scheduler is judged by its decisions, not by their number.
FAST: Costs = {kind: (a / 2, b / 8, c / 4) for kind, (a, b, c) in GPU.items()}
WIDE = SchedulerSettings(
    slots=256,
    waiting=STREAMS,
    prefill_rows=16,
    step_rows=256,
    codec_rows=128,
    codec_frames=1024,
)


def crowd(seed: int) -> list[Client]:
    """Random lengths, cancels, slow readers (who are cut off late), tenants, and bursts of 100."""
    dice = random.Random(seed)
    clients = []
    for number in range(STREAMS):
        burst = number % 500 < 100
        at = number // 500 * 3.0 + (0.0 if burst else dice.uniform(0.3, 3.0))
        leaves = dice.choice([None] * 8 + [dice.uniform(0, 0.5), 30.0])
        clients.append(
            Client(
                at,
                speech=dice.randint(1, 9),
                cap=40,
                cancel_after=leaves,
                tenant=dice.choice(("alice", "bob", "mallory")),
                ramp=dice.choice((RAMPS["latency"], RAMPS["balanced"])),
                silent_frames=dice.choice((0.0, 1.7)),
            )
        )
    return clients


def test_ten_thousand_streams_end_and_none_is_late() -> None:
    clients = crowd(seed=1)
    done = Simulation(clients, WIDE, costs=FAST).run()
    assert len(done.ends) == STREAMS
    assert set(done.reasons.values()) == {"stop", "cancelled"}
    # The device has time for all of them: whatever deadline there was could be kept.
    assert max(listener.worst_gap for listener in done.listeners.values()) == 0.0
    waits = [
        listener.first_at - clients[number].arrives
        for number, listener in done.listeners.items()
        if listener.first_at is not None
    ]
    assert max(waits) < 1.0


@pytest.mark.parametrize("overlapped", [False, True])
def test_a_recorded_life_is_lived_again_to_the_last_decision(overlapped: bool) -> None:
    trace = io.StringIO()
    clients = crowd(seed=2)[:150]
    Simulation(clients, WIDE, costs=FAST, trace=trace, overlapped=overlapped, noise=0.5).run()
    again, differing = replay(trace.getvalue().splitlines())
    assert differing == []
    assert again.totals.streams == 150
    again.check()


def test_a_replay_by_another_policy_says_where_it_differs() -> None:
    trace = io.StringIO()
    Simulation(crowd(seed=2)[:30], WIDE, costs=FAST, trace=trace).run()
    first, *rest = trace.getvalue().splitlines()
    changed = first.replace('"step_rows":256', '"step_rows":1')
    lines = [changed, *rest]
    with pytest.raises((AssertionError, KeyError, IndexError)):
        _, differing = replay(lines)
        assert not differing


def test_the_wait_that_is_told_is_the_wait_that_comes() -> None:
    dice = random.Random(3)
    clients = [
        Client(0.2 * number, speech=dice.randint(60, 100), cap=260, ramp=RAMPS["balanced"])
        for number in range(60)
    ]
    done = Simulation(clients, SchedulerSettings(slots=4, waiting=60), costs=GPU, slow=8.0).run()
    ratios = sorted(
        done.waits[number] / (listener.first_at - clients[number].arrives)
        for number, listener in done.listeners.items()
        if listener.first_at is not None and done.waits[number] > 0.5
    )
    assert len(ratios) > 30
    assert 0.6 < ratios[len(ratios) // 2] < 1.6


CLIENTS = st.builds(
    Client,
    arrives=st.floats(0, 5),
    speech=st.integers(0, 60),
    cap=st.integers(1, 50),
    cancel_after=st.none() | st.floats(0, 3),
    tenant=st.sampled_from(["alice", "bob", "mallory"]),
    background=st.booleans(),
    ramp=st.sampled_from([(1, 2, 4, 8, 16), (8, 16), (1,), (3, 1)]),
    silent_frames=st.sampled_from([0.0, 0.3, 1.7, 4.0]),
    breaks_at=st.none() | st.integers(0, 30),
    positions=st.integers(1, 64),
    typed=st.sampled_from([(), (0.1, 0.4, 2.0)]),
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(CLIENTS, max_size=20),
    st.integers(1, 6),
    st.integers(0, 20),
    st.sampled_from([0.2, 1.0, 30.0]),
    st.booleans(),
)
def test_every_stream_ends_exactly_once_and_every_slot_comes_back(
    clients: list[Client], slots: int, waiting: int, slow: float, overlapped: bool
) -> None:
    chosen = SchedulerSettings(
        slots=slots, waiting=waiting, step_rows=3, codec_frames=24, positions=96, page=16
    )
    done = Simulation(clients, chosen, slow=slow, overlapped=overlapped).run()
    ended = [end.id for _, end in done.ends]
    assert sorted([*ended, *done.refused]) == list(range(len(clients)))
    assert _at_rest(done.scheduler, slots)
    for _, end in done.ends:
        client = clients[end.id]
        if end.reason in ("stop", "length"):
            assert end.frames == min(client.speech, client.cap)
            assert end.reason == ("stop" if client.speech <= client.cap else "length")
            audible = max(0.0, end.frames - client.silent_frames)
            assert done.listeners[end.id].heard == pytest.approx(0.08 * audible)


def _at_rest(scheduler: Scheduler, slots: int) -> bool:
    return len(scheduler) == 0 and sorted(scheduler.free) == list(range(slots))


@settings(max_examples=20, deadline=None)
@given(st.lists(CLIENTS, min_size=1, max_size=16), st.sampled_from([30.0, 200.0]))
def test_no_stream_with_a_slot_is_passed_over_for_long_under_overload(
    clients: list[Client], slow: float
) -> None:
    done = Simulation(clients, SchedulerSettings(slots=4, waiting=50, step_rows=2), slow=slow).run()
    served: dict[int, list[int]] = {}
    for turn, (_, job) in enumerate(done.jobs):
        for number in job.ids.tolist():
            served.setdefault(number, []).append(turn)
    gaps = [later - earlier for turns in served.values() for earlier, later in pairwise(turns)]
    assert max(gaps, default=0) < 200
