"""Sums over the ledger for people: by hour, by day, by key, always of one tenant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from operator import add
from typing import Any

from billing.rollups.selectors import DAY, HOUR, sums, total
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Tenant

# The console's own test sentences have no key.
CONSOLE = "console"
# What a rollup calls the fields of `Used`.
_MEASURES = {
    "requests": "requests",
    "characters": "characters",
    "charged": "billed_characters",
    "topped_up": "top_up_characters",
    "audio_ms": "audio_ms",
    "failures": "failures",
    "interrupted": "interrupted",
}
_COLUMNS = tuple(_MEASURES.values())


@dataclass(frozen=True, slots=True)
class Used:
    """What was used. `charged`: characters that are charged for; `topped_up`: further ones that
    are paid for, where a price has a minimum a request; `interrupted`: requests whose playback had
    a gap."""

    requests: int = 0
    characters: int = 0
    charged: int = 0
    topped_up: int = 0
    audio_ms: int = 0
    failures: int = 0
    interrupted: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(*map(add, astuple(self), astuple(other)))

    @property
    def audio_seconds(self) -> float:
        return self.audio_ms / 1000


@dataclass(frozen=True, slots=True)
class Period:
    """One hour or day, UTC, with what was used in it."""

    start: datetime
    used: Used


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One key's share; `public_id` is empty for the console's own."""

    name: str
    public_id: str
    used: Used
    day: datetime | None = None


def between(tenant: Tenant, since: datetime, until: datetime) -> Used:
    """`since` is in it, `until` is not."""
    return _used(total(since, until, _COLUMNS, tenant_id=tenant.pk))


def by_hour(tenant: Tenant, since: datetime, until: datetime) -> list[Period]:
    """Every hour that begins in the range, empty ones too."""
    return _periods(tenant, since, until, "hour", HOUR)


def by_day(tenant: Tenant, since: datetime, until: datetime) -> list[Period]:
    """Every UTC day that begins in the range, empty ones too."""
    return _periods(tenant, since, until, "day", DAY)


def by_key(
    tenant: Tenant, since: datetime, until: datetime, voices: Iterable[str] | None = None
) -> list[KeyUse]:
    """Who used most comes first, and of equals the console last. `voices`: with those alone."""
    scope: dict[str, Any] = {} if voices is None else {"voice__in": list(voices)}
    rows = sums(since, until, _COLUMNS, by=("key_id",), tenant_id=tenant.pk, **scope)
    uses = _key_uses(rows)
    return sorted(uses, key=lambda use: (-use.used.charged, *_console_last(use)))


def by_part(
    tenant: Tenant, since: datetime, until: datetime, column: str
) -> list[tuple[str, Used]]:
    """By `voice` or `model`; who used most comes first."""
    rows = sums(since, until, _COLUMNS, by=(column,), tenant_id=tenant.pk)
    uses = [(row[column], _used(row)) for row in rows]
    return sorted(uses, key=lambda use: (-use[1].charged, use[0]))


def charged_by_key(tenant: Tenant, since: datetime, until: datetime) -> dict[int, int]:
    """Characters, by the number of each key that used any."""
    rows = sums(since, until, ("billed_characters",), by=("key_id",), tenant_id=tenant.pk)
    return {row["key_id"]: row["billed_characters"] for row in rows if row["key_id"]}


def charged_by_tenant(tenants: Iterable[int], since: datetime, until: datetime) -> dict[int, int]:
    """Characters, of those that used any: for who runs the installation."""
    names = ("billed_characters",)
    rows = sums(since, until, names, by=("tenant_id",), tenant_id__in=list(tenants))
    return {row["tenant_id"]: row["billed_characters"] for row in rows}


def by_day_and_key(tenant: Tenant, since: datetime, until: datetime) -> list[KeyUse]:
    """Oldest day first; only days with use."""
    rows = sums(since, until, _COLUMNS, by=("key_id",), interval="day", tenant_id=tenant.pk)
    return sorted(_key_uses(rows), key=lambda use: (str(use.day), *_console_last(use)))


def _used(row: dict[str, Any]) -> Used:
    return Used(**{name: row[measure] for name, measure in _MEASURES.items()})


def _key_uses(rows: list[dict[str, Any]]) -> list[KeyUse]:
    keys = ApiKey.objects.in_bulk({row["key_id"] for row in rows if row["key_id"]})
    return [_key_use(keys.get(row["key_id"]), row) for row in rows]


def _key_use(key: ApiKey | None, row: dict[str, Any]) -> KeyUse:
    name, public_id = (key.name, key.public_id) if key else (CONSOLE, "")
    return KeyUse(name, public_id, _used(row), row.get("start"))


def _console_last(use: KeyUse) -> tuple[bool, str]:
    return not use.public_id, use.public_id


def _periods(
    tenant: Tenant, since: datetime, until: datetime, interval: str, step: timedelta
) -> list[Period]:
    rows = sums(since, until, _COLUMNS, interval=interval, tenant_id=tenant.pk)
    found = {row["start"]: _used(row) for row in rows}
    start, periods = since, []
    while start < until:
        periods.append(Period(start, found.get(start, Used())))
        start += step
    return periods
