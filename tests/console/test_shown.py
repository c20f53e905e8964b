"""How pages write numbers and times."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from ttsapp.console.charts import chart, stroke
from ttsapp.console.templatetags import shown


@pytest.mark.parametrize(
    ("value", "written"), [(0, "0"), (999, "999"), (-1234567, "-1,234,567"), (None, shown.NONE)]
)
def test_whole_numbers_are_grouped(value: int | None, written: str) -> None:
    assert shown.grouped(value) == written


@pytest.mark.parametrize(
    ("value", "count", "written"), [(1234.56, 1, "1,234.6"), (0.5, 0, "0"), (None, 2, shown.NONE)]
)
def test_others_have_places(value: float | None, count: int, written: str) -> None:
    assert shown.places(value, count) == written


@pytest.mark.parametrize(
    ("ms", "written"),
    [(0, "0.0 s"), (2600, "2.6 s"), (59_949, "59.9 s"), (60_000, "1.0 min"), (9e7, "1,500.0 min")],
)
def test_short_audio_is_told_in_seconds(ms: int, written: str) -> None:
    assert shown.spoken(ms) == written


@pytest.mark.parametrize(
    ("text", "written"), [("unpaid", "unpaid."), ("Unpaid.", "Unpaid."), ("Why?", "Why?")]
)
def test_a_reason_ends_with_a_stop(text: str, written: str) -> None:
    assert shown.stopped(text) == written


def test_days_are_written_as_machines_do() -> None:
    written = [shown.day(each) for each in (date(2026, 3, 1), datetime(2026, 3, 1, 23), None)]
    assert written == ["2026-03-01", "2026-03-01", shown.NONE]


def test_a_moment_is_told_in_utc() -> None:
    at = datetime(2026, 11, 30, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    expected = (
        '<time datetime="2026-11-29T23:02:03+00:00" title="2026-11-29 23:02:03 UTC">'
        "2026-11-29 23:02 UTC</time>"
    )
    assert shown.moment(at) == expected
    assert shown.moment(at.astimezone(UTC)) == expected


def test_a_bar_is_drawn_over_what_is_behind_it() -> None:
    drawing = chart([1], ["<b>"], behind=[2]).drawing
    assert drawing == (
        '<g><title>&lt;b&gt;</title><rect class="slot" x="30" y="0" width="10" height="100"/>'
        '<rect class="behind" x="30" y="0" width="7" height="100"/>'
        '<rect x="30" y="50" width="7" height="50"/></g>'
    )


def test_a_line_lies_over_the_bars() -> None:
    drawing = chart([0, 0], ["a", "b"], line=[0.25, 1.0]).drawing
    assert drawing.endswith('<path class="line" d="M28.5,75h.01L38.5,0"/>')


def test_a_line_of_values_is_as_high_as_they_are() -> None:
    drawing = chart([1, 0, 2], ["a", "b", "c"], above=[2, 0, 4]).drawing
    assert 'y="50" width="7" height="50"' in drawing
    assert drawing.endswith('<path class="line" d="M23.5,50h.01M43.5,0h.01"/>')


def test_a_line_has_gaps_where_nothing_is_known() -> None:
    assert stroke([1, None, None, 4, 5]) == "M0,1h.01M3,4h.01L4,5"
    assert stroke([None, None]) == ""
