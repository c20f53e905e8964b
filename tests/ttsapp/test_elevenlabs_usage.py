"""ElevenLabs' dialect: usage over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.utils import timezone

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_calls import (
    found,
    get,
)
from tests.ttsapp.seeded import use


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.fixture
def monday() -> datetime:
    now = timezone.now().astimezone(UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=21)
    return start - timedelta(days=start.weekday())


def test_usage_by_day(http: httpx.Client, alice: Party, bob: Party, monday: datetime) -> None:
    use(alice.tenant, alice.key, monday + timedelta(hours=3))
    use(alice.tenant, alice.key, monday + timedelta(days=2, hours=5))
    use(bob.tenant, bob.key, monday + timedelta(hours=4))
    each = UsageEvent.objects.filter(tenant=alice.tenant).values_list(
        "billed_characters", flat=True
    )
    spoken = float(each[0])
    days = [monday + timedelta(days=day) for day in range(3)]
    query = {"start_unix": ms(monday), "end_unix": ms(monday + timedelta(days=3)) - 1}
    stats = found(http, alice, "/v1/usage/character-stats", **query)
    assert stats == {
        "time": [ms(day) for day in days],
        "usage": {"All": [spoken, 0.0, spoken]},
    }
    count = found(http, alice, "/v1/usage/character-stats", metric="request_count", **query)
    assert count["usage"] == {"All": [1.0, 0.0, 1.0]}


def test_waits_for_first_audio(
    http: httpx.Client, alice: Party, bob: Party, monday: datetime
) -> None:
    for hours, wait in ((1, 100), (2, 300), (26, 80)):
        use(alice.tenant, alice.key, monday + timedelta(hours=hours), first_audio_ms=wait)
    use(bob.tenant, bob.key, monday + timedelta(hours=1), first_audio_ms=9000)
    query = {"start_unix": ms(monday), "end_unix": ms(monday + timedelta(days=3))}
    path = "/v1/usage/character-stats"
    stats = found(http, alice, path, metric="ttfb_avg", **query)
    assert stats["usage"] == {"All": [200.0, 80.0, 0.0]}
    whole = found(http, alice, path, metric="ttfb_avg", aggregation_interval="cumulative", **query)
    assert whole["usage"] == {"All": [160.0]}
    refusal = get(http, alice, path, metric="ttfb_avg", breakdown_type="voice", **query)
    assert refusal.json()["detail"]["param"] == "breakdown_type"


@pytest.mark.parametrize(
    ("interval", "points"), [("hour", 48), ("week", 1), ("month", None), ("cumulative", 1)]
)
def test_intervals(
    http: httpx.Client, alice: Party, monday: datetime, interval: str, points: int | None
) -> None:
    use(alice.tenant, alice.key, monday + timedelta(hours=30))
    stats = found(
        http,
        alice,
        "/v1/usage/character-stats",
        start_unix=ms(monday),
        end_unix=ms(monday + timedelta(days=2)),
        aggregation_interval=interval,
        metric="request_count",
    )
    assert len(stats["time"]) == len(stats["usage"]["All"])
    assert len(stats["time"]) == (points or len(stats["time"]))
    assert sum(stats["usage"]["All"]) == 1.0


@pytest.mark.parametrize("breakdown", ["voice", "model", "api_keys"])
def test_breakdowns(http: httpx.Client, alice: Party, monday: datetime, breakdown: str) -> None:
    use(alice.tenant, alice.key, monday)
    event = UsageEvent.objects.get()
    name = {"voice": event.voice, "model": event.model, "api_keys": "alice's key"}[breakdown]
    query = {"start_unix": ms(monday), "end_unix": ms(monday) + 1, "breakdown_type": breakdown}
    stats = found(http, alice, "/v1/usage/character-stats", metric="request_count", **query)
    assert stats["usage"] == {name: [1.0]}
    assert found(http, alice, "/v1/usage/character-stats", start_unix=1, end_unix=2)["usage"] == {
        "All": [0.0]
    }


@pytest.mark.parametrize("interval", ["hour", "day", "week", "month", "cumulative"])
def test_usage_of_the_last_moments_that_may_be_asked_for(
    http: httpx.Client, alice: Party, interval: str
) -> None:
    last = {"start_unix": 253370764790000, "end_unix": 253370764799000}
    query = {**last, "aggregation_interval": interval}
    assert get(http, alice, "/v1/usage/character-stats", **query).status_code == 200


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"end_unix": 5}, "start_unix"),
        ({"start_unix": 5}, "end_unix"),
        ({"start_unix": 5, "end_unix": 5}, "end_unix"),
        ({"start_unix": "x", "end_unix": 5}, "start_unix"),
        ({"start_unix": 1, "end_unix": 10**13, "aggregation_interval": "hour"}, "aggregation_"),
        ({"start_unix": 253402300790000, "end_unix": 253402300799000}, "start_unix"),
        ({"start_unix": 1, "end_unix": 253402300799000}, "end_unix"),
        ({"start_unix": 1, "end_unix": 5, "metric": "ttfb_p95"}, "metric"),
        ({"start_unix": 1, "end_unix": 5, "breakdown_type": "user"}, "breakdown_type"),
    ],
)
def test_bad_usage(http: httpx.Client, alice: Party, query: dict, param: str) -> None:
    answer = get(http, alice, "/v1/usage/character-stats", **query)
    assert answer.status_code == 400
    assert answer.json()["detail"]["param"].startswith(param)
