"""Tenants that speak on prepaid credit alone: what they have paid ahead, and how much is used up.

What is used up is what invoices have drawn, and what months that are not invoiced yet come to. So
nothing is used up twice when an invoice is issued, and topping up changes the funds alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any

from django.db.models import F, Q, Sum

from billing.credit.models import CreditEntry, Reason
from billing.invoices.models import BillingDetails
from billing.models import Reservation
from billing.money import MICROS
from billing.prices.models import DaySale
from billing.prices.rates import charges, picos
from billing.prices.selectors import price_list
from billing.prices.uses import by_day, next_month, windows


@dataclass(frozen=True, slots=True)
class Account:
    """Micros. `left` is below zero where what ran when it was used up cost more."""

    tenant_id: int
    currency: str
    funds: int
    used: int

    @property
    def left(self) -> int:
        return self.funds - self.used


def funds(tenants: Iterable[int]) -> dict[int, Mapping[str, int]]:
    """Micros by currency, of those of them that are on prepaid credit: all that was ever booked,
    whatever of it invoices have drawn."""
    entry = "tenant__credit_entries"
    booked = Sum(f"{entry}__amount_micros", filter=~Q(**{f"{entry}__reason": Reason.DRAWN}))
    prepaid = BillingDetails.objects.filter(tenant__in=tenants, is_prepaid=True).order_by()
    found: defaultdict[int, dict[str, int]] = defaultdict(dict)
    rows = prepaid.values_list("tenant_id", f"{entry}__currency").annotate(sum=booked)
    for tenant_id, currency, micros in rows:
        # Who was never booked anything has one row, of nothing.
        found[tenant_id][currency or ""] = micros or 0
    return dict(found)


def used(tenant_id: int, currency: str, now: datetime) -> int:
    """Micros, by what is in the ledger now.

    The month is read before the entries: an invoice that is issued between the two is counted
    twice for once, and never not at all."""
    first = _open_since([tenant_id]).get(tenant_id)
    not_invoiced = _open_picos(tenant_id, first, now).get(currency, 0) if first else 0
    return _drawn([tenant_id]).get((tenant_id, currency), 0) + -(-not_invoiced // MICROS)


def account(tenant_id: int, now: datetime) -> Account | None:
    """In the currency of this month's prices. None: not on prepaid credit, or without a price."""
    paid = funds([tenant_id]).get(tenant_id)
    book = price_list().book(tenant_id, _month(now)) if paid is not None else None
    if book is None or paid is None:
        return None
    gone = used(tenant_id, book.currency, now)
    return Account(tenant_id, book.currency, paid.get(book.currency, 0), gone)


def left_to_pay_back(tenant_id: int, currency: str, now: datetime) -> int | None:
    """Micros: of what is left that which no request holds. None: not on prepaid credit alone.

    What runs is read first: what ends between the two is counted twice, and never not at all."""
    paid = funds([tenant_id]).get(tenant_id)
    if paid is None:
        return None
    held = _held(tenant_id, currency, now.date())
    return max(0, paid.get(currency, 0) - held - used(tenant_id, currency, now))


def accounts(now: datetime) -> Iterator[Account]:
    """Of all tenants that are on prepaid credit, as their days were last added up: four questions,
    however many they are."""
    prices, months = price_list(), _open_since()
    paid, drawn, sold = funds(months), _drawn(months), _sold(months)
    for tenant_id in sorted(paid):
        book = prices.book(tenant_id, _month(now))
        if book is not None:
            place = tenant_id, book.currency
            gone = drawn.get(place, 0) + sold.get(place, 0)
            yield Account(*place, paid[tenant_id].get(book.currency, 0), gone)


def _open_picos(tenant_id: int, first: date, now: datetime) -> dict[str, int]:
    """What months that no invoice is of come to, by currency."""
    prices, found = price_list(), defaultdict[str, int](int)
    uses = by_day(first, next_month(_month(now)), tenant_id)
    for month, part in groupby(uses, key=lambda use: use.day.replace(day=1)):
        book = prices.book(tenant_id, month)
        if book is not None:
            found[book.currency] += sum(map(picos, charges(windows(book, part))))
    return found


def _held(tenant_id: int, currency: str, today: date) -> int:
    prices, found = price_list(), 0
    for row in Reservation.objects.filter(tenant=tenant_id):
        price = prices.price(tenant_id, today, row.model, row.voice_kind)
        if price is not None and price.currency == currency:
            found += price.cost(row.characters)
    return found


def _drawn(tenants: Iterable[int]) -> dict[tuple[int, str], int]:
    """Micros, by tenant and currency."""
    entries: Any = CreditEntry.objects.filter(tenant__in=tenants, reason=Reason.DRAWN).order_by()
    rows = entries.values_list("tenant_id", "currency").annotate(sum=Sum("amount_micros"))
    return {(tenant_id, currency): -micros for tenant_id, currency, micros in rows}


def _sold(tenants: Iterable[int]) -> dict[tuple[int, str], int]:
    """The same of days that no invoice is of."""
    days: Any = DaySale.objects.filter(
        tenant__in=tenants, day__gte=F("tenant__billing_details__next_month")
    ).order_by()
    rows = days.values_list("tenant_id", "currency").annotate(sum=Sum("micros"))
    return {(tenant_id, currency): micros for tenant_id, currency, micros in rows}


def _open_since(tenants: Iterable[int] | None = None) -> dict[int, date]:
    """The first month that is not invoiced, of these tenants or of all on prepaid credit."""
    found = BillingDetails.objects.order_by()
    wanted = {"is_prepaid": True} if tenants is None else {"tenant__in": tenants}
    return dict(found.filter(**wanted).values_list("tenant_id", "next_month"))


def _month(now: datetime) -> date:
    return now.date().replace(day=1)
