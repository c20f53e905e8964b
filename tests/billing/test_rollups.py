"""Sums that are equal to their events at any moment, however they came to be."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.models import Rollup, UsageEvent
from billing.rating import Outcome
from billing.rollups.selectors import Span, days, spans, sums, total
from billing.rollups.services import rebuild
from billing.upkeep.guard import opened
from billing.upkeep.reconciliation import sums as differences
from billing.upkeep.tally import Tally
from tests.billing.used import use
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import Tenant

MIDNIGHT = datetime(2026, 5, 4, tzinfo=UTC)
HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)
NAMES = ("requests", "billed_characters")


def rows() -> set[tuple[Any, ...]]:
    return set(Rollup.objects.values_list())


def test_it_works(alice: Tenant) -> None:
    use(alice, MIDNIGHT + HOUR, 10, audio_ms=800, talker_ms=1.2344, first_audio_ms=90)
    use(alice, MIDNIGHT + HOUR + MINUTE, 5, underruns=2, outcome=Outcome.FAILED)

    by_grain = {row.grain: row for row in Rollup.objects.all()}

    assert set(by_grain) == {"hour", "day"}
    hour = by_grain["hour"]
    assert (hour.start, hour.requests, hour.characters, hour.failures) == (
        MIDNIGHT + HOUR,
        2,
        15,
        1,
    )
    assert (hour.talker_us, hour.first_audio_ms, hour.first_audios) == (1234, 90, 1)
    assert (hour.underruns, hour.interrupted) == (2, 1)


def test_what_is_rebuilt_is_what_was_there(alice: Tenant, bob: Tenant) -> None:
    key, _ = create_key(SYSTEM, alice, "a key")
    for minute in range(0, 3000, 170):
        at = MIDNIGHT + minute * MINUTE
        use(alice, at, minute, key_id=key.pk, codec_ms=minute / 7)
        use(bob, at, 7, voice="otto", outcome=Outcome.CANCELLED)
    live = rows()

    rebuilt = rebuild(MIDNIGHT, MIDNIGHT + 3 * DAY)

    assert rebuilt == len(live) == 42
    assert rows() == live


def test_a_rebuild_mends_rows_that_are_wrong_missing_or_too_many(alice: Tenant) -> None:
    use(alice, MIDNIGHT)
    use(alice, MIDNIGHT + HOUR)
    right = rows()
    Rollup.objects.filter(start=MIDNIGHT, grain="hour").update(requests=5)
    Rollup.objects.filter(start=MIDNIGHT + HOUR).delete()
    Rollup.objects.filter(grain="day").update(voice="nobody")

    found = [each.detail.split(";")[0] for each in differences(MIDNIGHT, Tally())]

    assert sorted(found) == [
        "requests: 0, and its events say 1",
        "requests: 0, and its events say 2",
        "requests: 2, and its events say 0",
        "requests: 5, and its events say 1",
    ]
    rebuild(MIDNIGHT, MIDNIGHT + MINUTE)
    assert rows() == right
    assert not list(differences(MIDNIGHT, Tally()))


def test_a_settlement_that_is_repeated_adds_nothing(alice: Tenant) -> None:
    from billing.services import Metered, Usage, settle

    request = use(alice, MIDNIGHT)
    again = Metered(request, alice.pk, None, "tiny", "anna")
    assert settle(again, Usage(Outcome.COMPLETED, 100, 100)) is False
    assert total(MIDNIGHT, MIDNIGHT + DAY, NAMES) == {"requests": 1, "billed_characters": 100}


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (0, 24, [("day", 0, 24)]),
        (1.5, 1.75, [(None, 1.5, 1.75)]),
        (1.5, 3, [(None, 1.5, 2), ("hour", 2, 3)]),
        (
            22.5,
            73.25,
            [
                (None, 22.5, 23),
                ("hour", 23, 24),
                ("day", 24, 72),
                ("hour", 72, 73),
                (None, 73, 73.25),
            ],
        ),
    ],
)
def test_a_range_is_read_from_the_coarsest_sums(
    since: float, until: float, expected: list[tuple[str | None, float, float]]
) -> None:
    parts = list(spans(MIDNIGHT + since * HOUR, MIDNIGHT + until * HOUR))
    assert parts == [
        Span(grain, MIDNIGHT + begin * HOUR, MIDNIGHT + end * HOUR)  # type: ignore[arg-type]
        for grain, begin, end in expected
    ]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    used=st.lists(st.integers(0, 72 * 60 - 1), max_size=6),
    edges=st.tuples(st.integers(0, 72 * 60), st.integers(0, 72 * 60)),
)
def test_any_range_has_what_was_used_in_it(
    alice: Tenant, used: list[int], edges: tuple[int, int]
) -> None:
    with opened():
        UsageEvent.objects.all().delete()
    Rollup.objects.all().delete()
    for minute in used:
        use(alice, MIDNIGHT + minute * MINUTE, minute)
    since, until = sorted(edges)
    inside = [minute for minute in used if since <= minute < until]

    found = total(MIDNIGHT + since * MINUTE, MIDNIGHT + until * MINUTE, NAMES, tenant_id=alice.pk)

    assert found == {"requests": len(inside), "billed_characters": sum(inside)}


def test_sums_by_interval_and_column(alice: Tenant, bob: Tenant) -> None:
    for hours, voice in ((1, "anna"), (30, "anna"), (31, "otto"), (49.5, "otto")):
        use(alice, MIDNIGHT + hours * HOUR, 10, voice=voice)
    use(bob, MIDNIGHT, 1000)

    found = sums(
        MIDNIGHT,
        MIDNIGHT + 50 * HOUR,
        ("requests",),
        by=("voice",),
        interval="day",
        tenant_id=alice.pk,
    )

    counted = Counter({(row["start"], row["voice"]): row["requests"] for row in found})
    first, second, third = days(MIDNIGHT, MIDNIGHT + 3 * DAY)
    assert counted == {
        (first, "anna"): 1,
        (second, "anna"): 1,
        (second, "otto"): 1,
        (third, "otto"): 1,
    }
