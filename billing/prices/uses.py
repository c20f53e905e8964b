"""What was used, as prices need it: by day, tenant, model and kind of voice, from the rollups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import groupby

from billing.prices.books import Book
from billing.prices.rates import Use, Window
from billing.rollups.selectors import Row, sums


@dataclass(frozen=True, slots=True)
class DayUse:
    tenant_id: int
    day: date
    use: Use


def by_day(since: date, until: date, tenant_id: int | None = None) -> list[DayUse]:
    """UTC days from `since` to before `until`, of one tenant or of all, oldest first."""
    scope = {} if tenant_id is None else {"tenant_id": tenant_id}
    measures = ("billed_characters", "top_up_characters", "requests")
    by = ("tenant_id", "model", "voice_kind")
    rows = sums(midnight(since), midnight(until), measures, by, "day", **scope)
    return sorted(map(_day_use, rows), key=lambda each: (each.day, each.tenant_id))


def windows(book: Book, uses: Iterable[DayUse]) -> list[Window]:
    """One tenant's uses of one month, oldest first, cut where a version begins."""
    versions = groupby(uses, key=lambda each: book.version(each.day))
    return [
        Window(version.terms, tuple(_merged(each.use for each in part)))
        for version, part in versions
    ]


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def next_month(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def months(since: date, until: date) -> Iterator[date]:
    """The first days of the months that the range touches."""
    month = since.replace(day=1)
    while month < until:
        yield month
        month = next_month(month)


def _day_use(row: Row) -> DayUse:
    characters = row["billed_characters"] + row["top_up_characters"]
    topped_up = row["top_up_characters"]
    use = Use(row["model"], row["voice_kind"], characters, row["requests"], topped_up)
    return DayUse(row["tenant_id"], row["start"].date(), use)


def _merged(uses: Iterable[Use]) -> Sequence[Use]:
    sums: dict[tuple[str, str], Use] = {}
    for use in uses:
        key = use.model, use.voice_kind
        have = sums.get(key, Use(*key, 0))
        sums[key] = Use(
            *key,
            have.characters + use.characters,
            have.requests + use.requests,
            have.topped_up + use.topped_up,
        )
    return list(sums.values())
