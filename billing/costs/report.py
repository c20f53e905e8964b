"""Cost, revenue and margin of some days: the figures behind the page and the API."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from fractions import Fraction

from django.conf import settings

from billing.costs import attribution, selectors
from billing.costs.classes import by_class
from billing.costs.figures import Day, Figures, Report
from billing.costs.selectors import Hours
from billing.prices.selectors import Sold, earned, sold_by_day

TARGET_UTILISATION = Fraction(1, 2)


def report(since: date, until: date, target: Fraction = TARGET_UTILISATION) -> Report:
    """UTC days from `since` to before `until`."""
    found, sold = selectors.hours(since, until), sold_by_day(since, until)
    days = _days(since, until, found, sold)
    total = _total(day.figures for day in days)
    classes = by_class(found, total, target)
    return Report(
        since,
        until,
        settings.CURRENCY,
        total,
        days,
        classes,
        attribution.by_tenant(since, until, total, earned(since, until, settings.CURRENCY)),
        attribution.by_voice(since, until, total),
        _elsewhere(sold),
        tuple(each.name for each in classes if each.per_hour is None and each.up_hours),
    )


def totals(since: date, until: date) -> Figures:
    """The report's totals alone, without asking for whom or by which engines they came about."""
    days = _days(since, until, selectors.hours(since, until), sold_by_day(since, until))
    return _total(day.figures for day in days)


def _elsewhere(sold: Iterable[Sold]) -> Mapping[str, int]:
    sums: Counter[str] = Counter()
    for each in sold:
        if each.currency not in ("", settings.CURRENCY):
            sums[each.currency] += each.micros
    return sums


def _days(
    since: date, until: date, found: Iterable[Hours], sold: Iterable[Sold]
) -> tuple[Day, ...]:
    cost: defaultdict[date, Fraction] = defaultdict(Fraction)
    busy: defaultdict[date, Fraction] = defaultdict(Fraction)
    for hours in found:
        cost[hours.day] += hours.cost
        busy[hours.day] += hours.busy_cost
    characters = attribution.characters_by_day(since, until)
    revenue: Counter[date] = Counter()
    for each in sold:
        if each.currency == settings.CURRENCY:
            revenue[each.day] += each.micros
    fixed = selectors.fixed_by_day(since, until)
    days = [since + timedelta(days=offset) for offset in range((until - since).days)]
    return tuple(
        Day(day, _figures(characters.get(day, 0), cost[day], busy[day], fixed[day], revenue[day]))
        for day in days
    )


def _figures(
    characters: int, cost: Fraction, busy: Fraction, fixed: Fraction, revenue: int
) -> Figures:
    return Figures(characters, busy, cost - busy, fixed, Fraction(revenue))


def _total(figures: Iterable[Figures]) -> Figures:
    rows = list(figures)
    return Figures(
        sum(row.characters for row in rows),
        sum((row.busy_cost for row in rows), Fraction(0)),
        sum((row.idle_cost for row in rows), Fraction(0)),
        sum((row.fixed_cost for row in rows), Fraction(0)),
        sum((row.revenue for row in rows), Fraction(0)),
    )
