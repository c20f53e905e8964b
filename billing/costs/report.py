"""Cost, revenue and margin of some days: the figures behind the page and the API."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from fractions import Fraction

from django.conf import settings

from billing.costs import attribution, formulas, selectors
from billing.costs.classes import by_class
from billing.costs.figures import Day, Figures, Report
from billing.costs.selectors import Hours
from billing.prices import revenue, uses
from billing.prices.selectors import price_list

TARGET_UTILISATION = Fraction(1, 2)


def report(
    since: date, until: date, target: Fraction = TARGET_UTILISATION, voices: int = 50
) -> Report:
    """UTC days from `since` to before `until`, with the `voices` that took most."""
    found = selectors.hours(since, until)
    used = uses.by_day(since.replace(day=1), until)
    sold = [sale for sale in revenue.sales(price_list(), used) if sale.day >= since]
    ours = [sale for sale in sold if sale.currency == settings.CURRENCY]
    days = _days(since, until, found, used, ours)
    total = _total([day.figures for day in days])
    classes = by_class(found, total, target)
    return Report(
        since,
        until,
        settings.CURRENCY,
        total,
        days,
        classes,
        attribution.by_tenant(since, until, total, ours),
        attribution.by_voice(since, until, total)[:voices],
        {code: picos // 10**6 for code, picos in _elsewhere(sold).items()},
        tuple(each.name for each in classes if each.per_hour is None and each.up_hours),
    )


def _elsewhere(sold: Iterable[revenue.Sale]) -> Mapping[str, int]:
    return revenue.by_currency(sale for sale in sold if sale.currency != settings.CURRENCY)


def _days(
    since: date,
    until: date,
    found: Iterable[Hours],
    used: Iterable[uses.DayUse],
    sold: Iterable[revenue.Sale],
) -> tuple[Day, ...]:
    cost: defaultdict[date, Fraction] = defaultdict(Fraction)
    busy: defaultdict[date, Fraction] = defaultdict(Fraction)
    for hours in found:
        cost[hours.day] += hours.cost
        busy[hours.day] += hours.busy_cost
    characters: Counter[date] = Counter()
    for each in used:
        characters[each.day] += each.use.characters
    earned: Counter[date] = Counter()
    for sale in sold:
        earned[sale.day] += sale.picos
    fixed = selectors.fixed_by_day(since, until)
    return tuple(
        Day(
            day,
            Figures(
                characters[day],
                busy[day],
                cost[day] - busy[day],
                fixed[day],
                Fraction(earned[day], formulas.MILLION),
            ),
        )
        for day in (since + timedelta(days=offset) for offset in range((until - since).days))
    )


def _total(figures: Iterable[Figures]) -> Figures:
    rows = list(figures)
    return Figures(
        sum(row.characters for row in rows),
        sum((row.busy_cost for row in rows), Fraction(0)),
        sum((row.idle_cost for row in rows), Fraction(0)),
        sum((row.fixed_cost for row in rows), Fraction(0)),
        sum((row.revenue for row in rows), Fraction(0)),
    )
