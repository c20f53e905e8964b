"""What the scheduler tells of its load: by a table set by hand."""

from __future__ import annotations

import pytest

from gpu_engine.scheduler.load import load
from gpu_engine.scheduler.stream import TALK, Stream
from gpu_engine.scheduler.table import Table


def seated(table: Table, slot: int, lead: float | None, **fields: bool) -> None:
    """A stream with so many seconds ahead of its listener; None: nothing was heard yet."""
    stream = Stream(id=slot, arrived=0.0, frame_cap=100, **fields)
    table.seat(slot, stream, 0, 0.0, TALK)
    if lead is not None:
        table.heard[slot], table.dry_at[slot] = True, 10.0 + lead


def test_it_works() -> None:
    table = Table(8)
    for slot, lead in enumerate((0.5, 1.0, 3.0, None)):
        seated(table, slot, lead)
    found = load(table, (), now=10.0)
    assert (found.lead_median, found.waiting_background) == (1.0, 0)
    assert found.lead_low == pytest.approx(0.55)


def test_who_may_wait_is_counted_apart() -> None:
    table = Table(4)
    seated(table, 0, None, background=True)
    seated(table, 1, None)
    queued = [Stream(id=9, arrived=0.0, frame_cap=1, background=True)]
    assert load(table, queued, now=0.0).waiting_background == 2


def test_a_listener_who_ran_dry_has_no_lead() -> None:
    table = Table(1)
    seated(table, 0, -2.0)
    assert load(table, (), now=10.0).lead_median == 0.0


def test_nobody_listens() -> None:
    table = Table(2)
    seated(table, 0, 5.0, paced=False)
    assert load(table, (), now=10.0).lead_median == 0.0
