"""What use was sold for, by day and tenant, exactly: the days of a month add up to the month."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from billing.prices.books import PriceList
from billing.prices.rates import Window, charges, picos
from billing.prices.uses import DayUse


@dataclass(frozen=True, slots=True)
class Sale:
    """A tenant's day; `picos` of the currency."""

    day: date
    tenant_id: int
    currency: str
    picos: int


def sales(prices: PriceList, uses: Iterable[DayUse]) -> list[Sale]:
    """`uses` from the first of a month on, oldest first: what a tenant's earlier characters of the
    month cost decides what later ones do. Where there is no price there is no sale."""
    return [
        sale
        for (tenant_id, month), part in _by_month(uses).items()
        for sale in _of_month(prices, tenant_id, month, part)
    ]


def by_currency(found: Iterable[Sale]) -> Mapping[str, int]:
    sums: Counter[str] = Counter()
    for sale in found:
        sums[sale.currency] += sale.picos
    return sums


def _by_month(uses: Iterable[DayUse]) -> dict[tuple[int, date], list[DayUse]]:
    months: defaultdict[tuple[int, date], list[DayUse]] = defaultdict(list)
    for each in uses:
        months[each.tenant_id, each.day.replace(day=1)].append(each)
    return months


def _of_month(prices: PriceList, tenant_id: int, month: date, uses: list[DayUse]) -> list[Sale]:
    book = prices.book(tenant_id, month)
    if book is None:
        return []
    days = [(day, list(part)) for day, part in groupby(uses, key=lambda each: each.day)]
    windows = [
        Window(book.version(day).terms, tuple(each.use for each in part)) for day, part in days
    ]
    return [
        Sale(day, tenant_id, book.currency, picos(found))
        for (day, _), found in zip(days, charges(windows), strict=True)
    ]
