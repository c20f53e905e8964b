"""The figures behind the overview: percentiles, hours without a gap, bars in proportion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from billing import reports
from billing.reports import Used
from billing.selectors import Settled, charges, settled
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.console.charts import Bar, chart
from ttsapp.speech import history
from ttsapp.speech.history import FirstAudio, percentile

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([7], 0.5, 7),
        ([7], 0.95, 7),
        ([3, 1], 0.5, 1),
        ([3, 1, 2], 0.5, 2),
        (list(range(1, 101)), 0.95, 95),
        (list(range(1, 21)), 0.95, 19),
    ],
)
def test_a_percentile(values: list[int], share: float, expected: int) -> None:
    assert percentile(values, share) == expected


def test_bars_are_in_proportion_to_the_highest() -> None:
    drawn = chart([0, 5, 10], ["a", "b", "c"], [0, 20, 10])
    # Fewer than seven stand in the middle.
    assert (drawn.highest, drawn.width) == (20, 70)
    assert drawn.bars[1] == Bar(30, 75.0, 25.0, 0.0, 100.0, "b")
    assert drawn.bars[2] == Bar(40, 50.0, 50.0, 50.0, 50.0, "c")
    assert [bar.x for bar in chart([1] * 8, ["x"] * 8).bars] == [10 * n for n in range(8)]


@pytest.mark.parametrize("values", [[], [0, 0]])
def test_a_chart_of_nothing(values: list[int]) -> None:
    assert chart(values, ["x"] * len(values)).is_empty


def test_every_hour_is_there_and_holds_its_own(alice: Party, bob: Party) -> None:
    use(alice.tenant, alice.key, NOON - timedelta(milliseconds=1), characters=1)
    use(alice.tenant, alice.key, NOON, "cancelled", 10, charged=4, audio_ms=800)
    use(alice.tenant, None, NOON + HOUR - timedelta(milliseconds=1), "error", 20, audio_ms=0)
    use(alice.tenant, alice.key, NOON + 2 * HOUR, characters=30, audio_ms=2000)
    use(bob.tenant, bob.key, NOON, characters=1000)

    hours = reports.by_hour(alice.tenant, NOON, NOON + 3 * HOUR)

    assert [hour.start for hour in hours] == [NOON, NOON + HOUR, NOON + 2 * HOUR]
    assert [hour.used for hour in hours] == [
        Used(requests=2, characters=30, charged=4, audio_ms=800, failures=1),
        Used(),
        Used(requests=1, characters=30, charged=30, audio_ms=2000),
    ]


def test_keys_come_by_what_they_cost_and_the_console_last(alice: Party) -> None:
    use(alice.tenant, None, NOON, characters=5)
    use(alice.tenant, alice.key, NOON, characters=5)
    rows = reports.by_key(alice.tenant, NOON, NOON + HOUR)
    assert [(row.name, row.public_id, row.used.charged) for row in rows] == [
        ("alice's key", alice.key.public_id, 5),
        ("console", "", 5),
    ]


def test_first_audio_over_all_and_by_hour(alice: Party, bob: Party) -> None:
    for milliseconds in (100, 200, 900):
        use(alice.tenant, alice.key, NOON, first_audio_ms=milliseconds)
    use(alice.tenant, alice.key, NOON + HOUR, first_audio_ms=50)
    use(alice.tenant, alice.key, NOON + HOUR, "error", first_audio_ms=None)
    use(alice.tenant, alice.key, NOON - HOUR, first_audio_ms=9999)
    use(bob.tenant, bob.key, NOON, first_audio_ms=9999)

    every, hours = history.first_audio(alice.tenant, NOON)

    assert every == FirstAudio(4, 100, 900, 900)
    assert hours == {NOON: FirstAudio(3, 200, 900, 900), NOON + HOUR: FirstAudio(1, 50, 50, 50)}


def test_first_audio_of_nothing(alice: Party) -> None:
    assert history.first_audio(alice.tenant, NOON) == (None, {})


def test_charges_are_of_ones_own_requests(alice: Party, bob: Party) -> None:
    mine = use(alice.tenant, alice.key, NOON, characters=12)
    refused = use(alice.tenant, alice.key, NOON, "refused")
    theirs = use(bob.tenant, bob.key, NOON, characters=34)
    assert settled(alice.tenant.pk, [mine, refused, theirs]) == {mine: Settled(12, 0)}
    assert charges(alice.tenant.pk, [mine, refused, theirs]) == {mine: 12}
