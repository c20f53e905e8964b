"""What a million characters costs, and how long engines were up, from their own word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.costs.formulas import at_speed, break_even, margin, per_million
from billing.costs.uptime import Beat, Slice, between

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("per_hour", "characters_per_second", "cost"), [("6.50", 594, 3.04), ("4.29", 630, 1.89)]
)
def test_it_works(per_hour: str, characters_per_second: int, cost: float) -> None:
    assert round(float(at_speed(Fraction(per_hour), Fraction(characters_per_second))), 2) == cost


def test_half_used_costs_twice_as_much() -> None:
    full = at_speed(Fraction(5), Fraction(600))
    assert at_speed(Fraction(5), Fraction(600), Fraction(1, 2)) == 2 * full


def test_without_characters_there_is_no_cost_per_million() -> None:
    assert per_million(Fraction(10), 0) is None


def test_without_revenue_there_is_neither_margin_nor_break_even() -> None:
    assert margin(Fraction(0), Fraction(1)) is None
    assert break_even(Fraction(1), None) is None


def test_at_break_even_a_million_earns_what_it_costs() -> None:
    full, earned = at_speed(Fraction(5), Fraction(600)), Fraction(12)
    use = break_even(full, earned)
    assert use is not None
    assert at_speed(Fraction(5), Fraction(600), use) == earned
    assert margin(earned, full) == 1 - use


def beat(minutes: float, uptime: float, busy: float = 0.0) -> Beat:
    return Beat(NOON + timedelta(minutes=minutes), uptime * 60, busy * 60)


def test_time_between_two_beats_is_split_over_the_hours() -> None:
    slices = between(beat(-5, 60, 1), beat(15, 80, 5))

    assert slices == [
        Slice(NOON - timedelta(hours=1), 300.0, 60.0),
        Slice(NOON, 900.0, 180.0),
    ]


def test_an_engine_that_was_up_all_the_time_is_believed_after_a_gap() -> None:
    [slice] = between(beat(0, 60), beat(45, 105))
    assert slice.up_seconds == 45 * 60


def test_an_engine_that_was_started_anew_was_up_since_then() -> None:
    [slice] = between(beat(0, 60, 30), beat(45, 10, 2))
    assert (slice.up_seconds, slice.busy_seconds) == (600.0, 120.0)


def test_a_first_beat_counts_from_the_start() -> None:
    [slice] = between(None, beat(20, 10, 1))
    assert (slice.up_seconds, slice.busy_seconds) == (600.0, 60.0)


def test_a_core_that_was_replaced_counts_its_work_from_zero() -> None:
    [slice] = between(beat(0, 60, 30), beat(10, 70, 4))
    assert slice.busy_seconds == 240.0


def test_a_beat_that_was_counted_adds_nothing() -> None:
    assert between(beat(10, 70), beat(10, 70)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(0.1, 600), min_size=1, max_size=20), st.floats(0, 1))
def test_hours_add_up_to_the_time_and_hold_no_more_work_than_time(
    gaps: list[float], load: float
) -> None:
    at, last, up, busy = 0.0, beat(0, 0), 0.0, 0.0
    for gap in gaps:
        at += gap
        now = beat(at, at, at * load)
        for slice in between(last, now):
            assert slice.busy_seconds <= slice.up_seconds + 1e-6
            up, busy = up + slice.up_seconds, busy + slice.busy_seconds
        last = now
    assert up == pytest.approx(60 * at)
    assert busy == pytest.approx(60 * at * load)
