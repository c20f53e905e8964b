"""A year of a hundred million events as its sums have it, and what pages ask of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from billing import reports, statistics
from billing.prices import uses
from billing.rollups.measures import MEASURES
from billing.rollups.selectors import sums
from ttsapp.limits.selectors import spent
from ttsapp.tenants.models import Tenant

EVENTS = 100_000_000
DAYS = 365
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
# Every tenth tenant is busy all day, the others for eight hours of it; in each hour every key
# speaks with every voice.
BUSY_EVERY, BUSY_HOURS, VOICES = 10, 8, 4

_EACH = {"requests": 1, "characters": 120, "billed_characters": 118, "audio_ms": 7800}
_COLUMNS = ("id", "grain", "start", "tenant_id", "key_id", "model", "voice", "voice_kind")
_INSERT = f"INSERT INTO billing_rollup ({', '.join((*_COLUMNS, *MEASURES))}) SELECT"
_HOURS = f"""{_INSERT}
    gen_random_uuid(), 'hour', hour, key.tenant_id, key.id, 'parlance-tiny', 'voice-' || voice,
    'preset', {", ".join(f"{_EACH.get(name, 0)} * requests" for name in MEASURES)}
  FROM keys_apikey key
  CROSS JOIN generate_series(1, {VOICES}) voice
  CROSS JOIN generate_series(%(begin)s, %(end)s - interval '1 hour', interval '1 hour') hour
  CROSS JOIN LATERAL (SELECT %(least)s + (extract(day FROM hour)::int + voice) %% 3) one (requests)
  WHERE key.tenant_id %% {BUSY_EVERY} = 0
     OR extract(hour FROM hour AT TIME ZONE 'UTC') < {BUSY_HOURS}"""
_DAYS = f"""{_INSERT}
    gen_random_uuid(), 'day', date_trunc('day', start, 'UTC'), tenant_id, key_id, model, voice,
    voice_kind, {", ".join(f"sum({name})" for name in MEASURES)}
  FROM billing_rollup WHERE grain = 'hour' GROUP BY 3, 4, 5, 6, 7, 8"""


def generate(keys: int) -> int:
    """Sums of the last year for so many keys; returns how many events they stand for."""
    end = _midnight()
    busy = keys // BUSY_EVERY * DAYS * 24
    rows = VOICES * (busy + (keys - keys // BUSY_EVERY) * DAYS * BUSY_HOURS)
    values: dict[str, Any] = {
        "begin": end - DAYS * DAY,
        "end": end,
        "least": round(EVENTS / rows) - 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOURS, values)
        cursor.execute(_DAYS)
        cursor.execute("ANALYZE billing_rollup")
        cursor.execute("SELECT sum(requests) FROM billing_rollup WHERE grain = 'day'")
        return int(cursor.fetchone()[0])


def questions(tenant: Tenant) -> dict[str, Callable[[], object]]:
    """What the console, the APIs and the worker ask, over the ranges that they ask it for."""
    end = _midnight()
    year, quarter, month = end - DAYS * DAY, end - 90 * DAY, end - 30 * DAY
    names = ("requests", "billed_characters", "audio_ms", "failures")
    axis = statistics.axis(end - 80 * DAY, end, "hour", 2000)
    first = end.date().replace(day=1) - DAY
    return {
        "a tenant's day by hour": lambda: reports.by_hour(tenant, end - DAY, end),
        "a tenant's month by day": lambda: reports.by_day(tenant, month, end),
        "a tenant's year by day": lambda: reports.by_day(tenant, year, end),
        "a tenant's year by key": lambda: reports.by_key(tenant, year, end),
        "a tenant's quarter by day and key": lambda: reports.by_day_and_key(tenant, quarter, end),
        "a tenant's 80 days by hour and voice": lambda: statistics.statistics(
            tenant.pk, axis, end, "hour", "characters", "voice"
        ),
        "what a tenant spent this month": lambda: spent(
            end.replace(day=1) - 28 * DAY, tenant.pk, None
        ),
        "all tenants' year by month": lambda: sums(year, end, names, interval="month"),
        "all tenants' month by tenant": lambda: sums(month, end, names, by=("tenant_id",)),
        "all tenants' month as it is priced": lambda: uses.by_day(first.replace(day=1), end.date()),
    }


def timed(ask: Callable[[], object], repeats: int) -> Sequence[float]:
    """Milliseconds of each time."""
    found = []
    for _ in range(repeats):
        began = time.monotonic()
        ask()
        found.append((time.monotonic() - began) * 1000)
    return found


def _midnight() -> datetime:
    return timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
