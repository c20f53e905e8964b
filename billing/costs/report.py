"""Cost, revenue and margin of some days: the figures behind the page and the API."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from fractions import Fraction

from django.conf import settings

from billing.costs import attribution, selectors
from billing.costs.attribution import Parts
from billing.costs.classes import by_class
from billing.costs.figures import Charged, Day, Figures, Report
from billing.costs.selectors import Hours
from billing.prices.selectors import Sold, earned, sold_by_day

TARGET_UTILISATION = Fraction(1, 2)


def report(
    since: date, until: date, target: Fraction = TARGET_UTILISATION, *, has_parts: bool = True
) -> Report:
    """UTC days from `since` to before `until`; without parts nobody asks whose the cost was."""
    found, sold = selectors.hours(since, until), sold_by_day(since, until)
    days = _days(since, until, found, sold, attribution.characters_by_day(since, until))
    whole = total(day.figures for day in days)
    classes = by_class(found, whole, target)
    tenants, voices = _parts(since, until, whole) if has_parts else ((), ())
    return Report(
        since,
        until,
        settings.CURRENCY,
        whole,
        days,
        classes,
        tenants,
        voices,
        in_other_currencies(sold),
        tuple(each.name for each in classes if each.per_hour is None and each.up_hours),
    )


def parts(since: date, until: date) -> Parts:
    """The report's tenants and voices alone: of its days no more is asked than what they cost."""
    days = _days(since, until, selectors.hours(since, until), (), {})
    return _parts(since, until, total(day.figures for day in days))


def by_day(since: date, until: date) -> tuple[Day, ...]:
    """The report's days alone, without asking for whom or by which engines they came about."""
    found, sold = selectors.hours(since, until), sold_by_day(since, until)
    return _days(since, until, found, sold, attribution.characters_by_day(since, until))


def totals(since: date, until: date) -> Figures:
    return total(day.figures for day in by_day(since, until))


def _parts(since: date, until: date, whole: Figures) -> Parts:
    revenues = earned(since, until, settings.CURRENCY)
    return attribution.by_tenant_and_voice(since, until, whole, revenues)


def in_other_currencies(sold: Iterable[Sold]) -> Mapping[str, int]:
    """Micros of each."""
    sums: Counter[str] = Counter()
    for each in sold:
        if each.currency not in ("", settings.CURRENCY):
            sums[each.currency] += each.micros
    # A template takes `.items` of a Counter for the count of "items".
    return dict(sums)


def _days(
    since: date,
    until: date,
    found: Iterable[Hours],
    sold: Iterable[Sold],
    charged: Mapping[date, Charged],
) -> tuple[Day, ...]:
    heard: defaultdict[date, list[Hours]] = defaultdict(list)
    for hours in found:
        heard[hours.day].append(hours)
    revenue: defaultdict[date, Fraction | None] = defaultdict(lambda: None)
    for each in sold:
        if each.currency == settings.CURRENCY:
            revenue[each.day] = (revenue[each.day] or Fraction(0)) + each.micros
    fixed = selectors.fixed_by_day(since, until)
    days = [since + timedelta(days=offset) for offset in range((until - since).days)]
    return tuple(
        Day(day, _figures(charged.get(day, Charged()), heard[day], fixed[day], revenue[day]))
        for day in days
    )


def _figures(
    charged: Charged, hours: Iterable[Hours], fixed: Fraction, sold: Fraction | None
) -> Figures:
    rows = list(hours)
    busy = _sum(row.busy_cost for row in rows)
    return Figures(
        charged.spoken,
        busy,
        _sum(row.cost for row in rows) - busy,
        fixed,
        sold,
        _sum(row.up for row in rows),
        _sum(row.up for row in rows if row.per_hour is None),
        top_ups=charged.top_ups,
    )


def total(figures: Iterable[Figures]) -> Figures:
    rows = list(figures)
    sold = [row.sold for row in rows if row.sold is not None]
    return Figures(
        sum(row.characters for row in rows),
        _sum(row.busy for row in rows),
        _sum(row.idle for row in rows),
        _sum(row.fixed_cost for row in rows),
        _sum(sold) if sold else None,
        _sum(row.up for row in rows),
        _sum(row.unpriced for row in rows),
        top_ups=sum(row.top_ups for row in rows),
    )


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))
