"""What two looks at an engine's status say: by hand-made statuses, without an engine."""

from __future__ import annotations

import json

import pytest

from gpu_engine.proto import engine_pb2 as pb
from ttsapp.console.live import cells, kept
from ttsapp.console.live.kept import Past
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


def test_an_engine_whose_core_says_nothing_is_suspect() -> None:
    down = pb.EngineStatus(state=pb.EngineStatus.STATE_DOWN)
    hangs = pb.EngineStatus(state=pb.EngineStatus.STATE_DOWN, silent=True)
    assert [reading(None, Sample(1.0, each)).state for each in (down, hangs)] == ["down", "suspect"]


def test_parts_of_memory_are_pieces_of_one_bar() -> None:
    told = status(0)
    told.memory.parts.update({"rest": 1 << 20, "weights": 2 << 20, "kv": 1 << 20, "newer": 0})
    told.memory.free_bytes, told.memory.total_bytes = 3 << 30, 4 << 30
    shown = cells.engine(reading(None, Sample(1.0, told)))
    assert [(each["name"], each["start"], each["share"]) for each in shown["parts"]] == [
        ("weights", 0.0, 50.0),
        ("keys and values", 50.0, 25.0),
        ("all else", 75.0, 25.0),
        ("newer", 100.0, 0.0),
    ]
    assert shown["parts"][0] | {"bytes": "2.0 MiB", "percent": "50 %"} == shown["parts"][0]
    assert shown["free"] == "holds 4.0 MiB now; 3.0 GiB of 4.0 GiB free beside it"


def test_waits_are_told_in_the_order_of_a_stream_s_life() -> None:
    told = status(0)
    told.waits["sent"].CopyFrom(pb.WaitStatus(rows=1200, median_ms=0.126, p95_ms=1250.4))
    told.waits["talker"].CopyFrom(pb.WaitStatus(median_ms=5.0))
    told.waits["place"].CopyFrom(pb.WaitStatus(rows=1, median_ms=9.99, p95_ms=10.0))
    shown = cells.engine(reading(None, Sample(1.0, told)))["between"]
    assert [tuple(each.values()) for each in shown] == [
        ("request → place", "1", "9.99", "10"),
        ("predictor → Talker", "0", "\N{EN DASH}", "\N{EN DASH}"),
        ("codec → way out", "1,200", "0.13", "1,250"),
    ]


def test_an_older_engine_tells_neither_waits_nor_parts() -> None:
    shown = cells.engine(reading(None, Sample(1.0, status(0))))
    assert (shown["between"], shown["parts"], shown["free"]) == ([], [], "")


def test_what_was_noted_of_an_engine_is_drawn_and_tabled() -> None:
    hour = (*(None,) * 58, 0.0, 50.0)
    found = cells.past(Past(hour, hour))
    assert found["streams"]["path"] == "M58,100h.01L59,50"
    assert json.loads(found["busy"]["data"]) == list(hour)
    assert found["busy"]["said"] == "58 min not noted"
    assert found["rows"][:2] == [(0, 25.0, 25.0), (5, None, None)]
    assert len(found["rows"]) == 12


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (kept.UNKNOWN.busy, "nothing noted yet"),
        ((0.0,) * 60, "idle all this time"),
        ((*(0.0,) * 59, 1.0), ""),
    ],
)
def test_an_engine_is_called_idle_only_where_somebody_looked(
    shares: tuple[float | None, ...], said: str
) -> None:
    assert cells.past(Past(shares, shares))["streams"]["said"] == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "never restarted"), (1, "restarted once"), (1200, "restarted 1,200 times")],
)
def test_restarts_are_told_in_words(count: int, said: str) -> None:
    assert cells.restarts(count) == said
