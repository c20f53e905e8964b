"""Whose the engines' cost was: shared out by engine time, each step's among the streams in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from fractions import Fraction

from billing.costs.figures import Figures, Part
from billing.prices.uses import midnight
from billing.rollups.selectors import Row, sums
from ttsapp.tenants.models import Tenant

TIMES = ("talker_us", "predictor_us", "codec_us")
CHARACTERS = ("billed_characters", "top_up_characters")


def characters_by_day(since: date, until: date) -> dict[date, int]:
    """Charged to all tenants, up to now: of the sums that tenants and voices are read from."""
    rows = sums(midnight(since), midnight(until), CHARACTERS, interval="day")
    return {row["start"].date(): _characters(row) for row in rows}


def by_tenant(
    since: date, until: date, total: Figures, earned: Mapping[int, int]
) -> tuple[Part, ...]:
    """The dearest first. `earned`: micros by tenant."""
    names = dict(Tenant.objects.values_list("pk", "name"))
    rows = _rows(since, until, "tenant_id")
    whole = sum(map(_time, rows))
    return _sorted(
        _part(row, names[row["tenant_id"]], whole, total, earned.get(row["tenant_id"], 0))
        for row in rows
    )


def by_voice(since: date, until: date, total: Figures) -> tuple[Part, ...]:
    """Of all tenants together; the dearest first."""
    rows = _rows(since, until, "voice")
    whole = sum(map(_time, rows))
    return _sorted(_part(row, row["voice"], whole, total) for row in rows)


def _rows(since: date, until: date, column: str) -> list[Row]:
    return sums(midnight(since), midnight(until), (*TIMES, *CHARACTERS), (column,))


def _part(row: Row, name: str, whole: int, total: Figures, micros: int | None = None) -> Part:
    share = Fraction(_time(row), whole) if whole else Fraction(0)
    return Part(
        name,
        _characters(row),
        _time(row) // 1000,
        share,
        share * (total.busy_cost + total.idle_cost),
        None if micros is None else Fraction(micros),
    )


def _time(row: Row) -> int:
    return sum(row[column] for column in TIMES)


def _characters(row: Row) -> int:
    return sum(row[column] for column in CHARACTERS)


def _sorted(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.share, part.name)))
