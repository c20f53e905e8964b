"""What use was sold for, by day and tenant, exactly: the days of a month add up to the month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from billing.prices.books import PriceList
from billing.prices.rates import Use, Window, charges, picos
from billing.prices.uses import DayUse


@dataclass(frozen=True, slots=True)
class Sale:
    """A tenant's day; `picos` of the currency, which is empty where there is no price."""

    day: date
    tenant_id: int
    currency: str
    characters: int
    picos: int


def sales(prices: PriceList, uses: Iterable[DayUse]) -> list[Sale]:
    """`uses` from the first of a month on, oldest first: what a tenant's earlier characters of the
    month cost decides what later ones do."""
    return [
        sale
        for (tenant_id, month), part in _by_month(uses).items()
        for sale in _of_month(prices, tenant_id, month, part)
    ]


def _by_month(uses: Iterable[DayUse]) -> dict[tuple[int, date], list[DayUse]]:
    months: defaultdict[tuple[int, date], list[DayUse]] = defaultdict(list)
    for each in uses:
        months[each.tenant_id, each.day.replace(day=1)].append(each)
    return months


def _of_month(prices: PriceList, tenant_id: int, month: date, uses: list[DayUse]) -> list[Sale]:
    days = {
        day: tuple(each.use for each in part)
        for day, part in groupby(uses, key=lambda each: each.day)
    }
    book = prices.book(tenant_id, month)
    if book is None:
        return [Sale(day, tenant_id, "", _characters(part), 0) for day, part in days.items()]
    windows = [Window(book.version(day).terms, part) for day, part in days.items()]
    return [
        Sale(day, tenant_id, book.currency, _characters(part), picos(found))
        for (day, part), found in zip(days.items(), charges(windows), strict=True)
    ]


def _characters(part: Iterable[Use]) -> int:
    return sum(use.characters for use in part)
