"""The sums of a year of a hundred million requests, as the rollups have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from billing.rollups.measures import MEASURES

EVENTS = 100_000_000
DAYS, VOICES = 365, 2
# Pages tell hours of the last days alone; before that they read days.
HOURLY_DAYS = 8
PER_MILLION = 15_000_000  # micros

_EACH = {
    "requests": 1,
    "characters": 120,
    "billed_characters": 118,
    "audio_ms": 7800,
    "first_audio_ms": 130,
    "first_audios": 1,
}
_COLUMNS = ("id", "grain", "start", "tenant_id", "key_id", "model", "voice", "voice_kind")
_INSERT = f"""INSERT INTO billing_rollup ({", ".join((*_COLUMNS, *MEASURES))})
  SELECT gen_random_uuid(), %(grain)s, start, key.tenant_id, key.id, 'parlance-tiny',
    'voice-' || voice, 'preset',
    {", ".join(f"{_EACH.get(name, 0)} * %(requests)s" for name in MEASURES)}
  FROM keys_apikey key CROSS JOIN generate_series(1, {VOICES}) voice
  CROSS JOIN generate_series(%(begin)s, %(last)s, %(step)s::interval) start"""


_SALES = """INSERT INTO billing_daysale (day, tenant_id, currency, characters, micros)
  SELECT (start AT TIME ZONE 'UTC')::date, tenant_id, %(currency)s, sum(billed_characters),
    sum(billed_characters) * %(per_million)s / 1000000
  FROM billing_rollup WHERE grain = 'day' GROUP BY 1, 2"""


def fill(keys: int, now: datetime) -> int:
    """Returns how many requests the days stand for."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    today = hour.replace(hour=0)
    daily = EVENTS // (keys * VOICES * DAYS) + 1
    with unchecked() as cursor:
        _rows(cursor, "day", today - timedelta(days=DAYS - 1), today, daily)
        _rows(cursor, "hour", today - timedelta(days=HOURLY_DAYS), hour, daily // 24)
        cursor.execute("SELECT sum(requests) FROM billing_rollup WHERE grain = 'day'")
        return int(cursor.fetchone()[0])


def sell() -> None:
    """What each day was sold for, as the worker has added it up."""
    with unchecked() as cursor:
        cursor.execute(_SALES, {"currency": str(settings.CURRENCY), "per_million": PER_MILLION})


@contextmanager
def unchecked() -> Iterator[CursorWrapper]:
    """Without a look at the other table for each foreign key of a million rows."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield cursor
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")


def _rows(cursor: CursorWrapper, grain: str, begin: datetime, last: datetime, each: int) -> None:
    values: dict[str, Any] = {"grain": grain, "begin": begin, "last": last, "requests": each}
    cursor.execute(_INSERT, {**values, "step": f"1 {grain}"})
