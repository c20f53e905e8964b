"""What two looks at an engine's status say: by hand-made statuses, without an engine."""

from __future__ import annotations

import pytest

from gpu_engine.proto import engine_pb2 as pb
from ttsapp.console.live import cells
from ttsapp.console.live.readings import Sample, reading


def status(frames: int, busy: float = 0.0, steps: int = 0, **fields: object) -> pb.EngineStatus:
    """An engine with two modules that share its device."""
    told = pb.EngineStatus(
        state=pb.EngineStatus.STATE_READY, capacity=64, frames_total=frames, **fields
    )
    for name, part in (("talker", 0.25), ("codec", 0.75)):
        told.modules[name].steps = steps
        told.modules[name].rows = 4 * steps
        told.modules[name].busy_seconds = part * busy
    return told


def test_it_works() -> None:
    before = Sample(10.0, status(1000, busy=5.0, steps=100, underruns_total=2))
    now = Sample(12.0, status(1100, busy=5.5, steps=150, underruns_total=3, streams=4))
    found = reading(before, now)

    assert (found.frames_per_second, found.realtime) == (50.0, pytest.approx(4.0))
    assert (found.underruns, found.busy) == (1, 0.25)
    talker, codec = found.modules
    assert (talker.steps_per_second, talker.occupancy, codec.busy) == (25.0, 4.0, 0.1875)


def test_how_many_more_fit() -> None:
    """A frame costs 5 ms of the device and is 80 ms long: 16 streams in real time."""
    before, now = Sample(0.0, status(0)), Sample(1.0, status(100, busy=0.5, streams=4))
    assert reading(before, now).fits == 12


def test_no_more_fit_than_the_engine_has_places() -> None:
    before, now = Sample(0.0, status(0)), Sample(1.0, status(100, busy=0.01, streams=60))
    assert reading(before, now).fits == 4


def test_an_idle_engine_is_judged_by_its_last_frames() -> None:
    before, now = Sample(0.0, status(100, busy=1)), Sample(1.0, status(100, busy=1))
    assert reading(before, now, known_cost=0.005).fits == 16
    assert reading(before, now).fits == 8


def test_an_engine_that_never_spoke_is_not_judged() -> None:
    assert reading(Sample(0.0, status(0)), Sample(1.0, status(0))).fits is None


def test_an_engine_that_does_not_serve_has_no_room() -> None:
    now = Sample(1.0, pb.EngineStatus(state=pb.EngineStatus.STATE_DRAINING, capacity=64))
    assert reading(None, now, known_cost=0.005).fits == 0


@pytest.mark.parametrize(
    "before",
    [
        None,
        Sample(-20.0, status(0)),
        Sample(0.0, status(500)),
        Sample(0.0, status(0, core_restarts=1)),
    ],
    ids=["none", "long ago", "more frames", "before a restart"],
)
def test_nothing_is_said_of_a_time_that_was_not_watched(before: Sample | None) -> None:
    found = reading(before, Sample(1.0, status(100, busy=50.0)))
    assert (found.frames_per_second, found.busy, found.modules[0].occupancy) == (0.0, 0.0, None)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1536, "1.5 KiB"),
        (3 << 30, "3.0 GiB"),
        (4 << 40, "4,096.0 GiB"),
    ],
)
def test_memory_is_told_in_units(count: int, shown: str) -> None:
    assert cells.size(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(59, "0 min"), (3660, "1 h 1 min"), (180_000, "2 d 2 h")]
)
def test_times_are_told_in_units(seconds: int, shown: str) -> None:
    assert cells.duration(seconds) == shown
