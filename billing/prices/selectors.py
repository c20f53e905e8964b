"""Reading price books."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from django.db.models import QuerySet, Sum

from billing.prices.books import Agreed, Book, PriceList, Version
from billing.prices.models import (
    Agreement,
    DaySale,
    DefaultBook,
    PriceBook,
    PriceRate,
    PriceVersion,
)
from billing.prices.rates import Rate, Terms, Tier
from ttsapp.tenants.models import Tenant

# A price that anybody is charged by begins on a day to come, so an older list is as true.
USABLE_SECONDS = 5.0


def price_list() -> PriceList:
    """Everything there is, read now: five queries, whatever there is of it."""
    found = PriceBook.objects.prefetch_related("versions__rates").order_by("pk")
    books = {row.slug: book for row in found if (book := book_of(row)) is not None}
    agreed: defaultdict[int, tuple[Agreed, ...]] = defaultdict(tuple)
    for row in Agreement.objects.order_by("from_month").select_related("book"):
        agreed[row.tenant_id] += (Agreed(row.from_month, row.book.slug),)
    return PriceList(books, dict(agreed), tuple(defaults()))


def defaults() -> list[Agreed]:
    """By which book tenants without an agreement pay from which month on, oldest first."""
    rows = DefaultBook.objects.order_by("from_month").select_related("book")
    return [Agreed(row.from_month, row.book.slug) for row in rows]


class _Kept:
    """The list of a few seconds ago, for what asks with every request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._list: PriceList | None = None
        self._read_at = 0.0

    def get(self) -> PriceList:
        with self._lock:
            if self._list is None or time.monotonic() - self._read_at > USABLE_SECONDS:
                self._list, self._read_at = price_list(), time.monotonic()
            return self._list

    def at_hand(self) -> PriceList | None:
        """Without waiting for the database."""
        is_usable = time.monotonic() - self._read_at <= USABLE_SECONDS
        return self._list if is_usable else None

    def forget(self) -> None:
        with self._lock:
            self._list = None


kept = _Kept()


def books() -> QuerySet[PriceBook]:
    return PriceBook.objects.prefetch_related("versions__rates", "agreements__tenant")


def book_of(row: PriceBook) -> Book | None:
    """One of `books` as the price list has it; None: it has no version yet."""
    versions = tuple(_version(version) for version in row.versions.all())
    return Book(row.slug, row.name, row.currency, versions) if versions else None


@dataclass(frozen=True, slots=True)
class Sold:
    """What a UTC day was sold for in one currency; empty: without a price."""

    day: date
    currency: str
    micros: int


def sold_by_day(since: date, until: date) -> list[Sold]:
    """As it was last added up, at most some minutes ago."""
    rows: Any = _sales(since, until).order_by("day", "currency").values("day", "currency")
    return [
        Sold(row["day"], row["currency"], row["sum"]) for row in rows.annotate(sum=Sum("micros"))
    ]


def sold_to(tenant_id: int, since: date, until: date) -> list[Sold]:
    """What one tenant's days were sold for, where there is a price."""
    found = _sales(since, until).filter(tenant_id=tenant_id).exclude(currency="")
    rows = found.order_by("day", "currency").values_list("day", "currency", "micros")
    return [Sold(*row) for row in rows]


def earned(since: date, until: date, currency: str) -> dict[int, int]:
    """Micros by tenant, as it was last added up."""
    rows: Any = _sales(since, until).filter(currency=currency).order_by().values("tenant_id")
    return {row["tenant_id"]: row["sum"] for row in rows.annotate(sum=Sum("micros"))}


def agreements(tenant: Tenant) -> QuerySet[Agreement]:
    """The latest first."""
    return Agreement.objects.filter(tenant=tenant).select_related("book").order_by("-from_month")


def book_in_force(tenant_id: int, day: date) -> Book | None:
    """At most a few seconds old. None: nothing is charged."""
    return kept.get().book(tenant_id, day.replace(day=1))


def _sales(since: date, until: date) -> QuerySet[DaySale]:
    return DaySale.objects.filter(day__gte=since, day__lt=until)


def _version(row: PriceVersion) -> Version:
    terms = Terms(row.number, row.minimum_characters, rates_of(row.rates.all()))
    return Version(row.valid_from, row.note, terms)


def rates_of(rows: Iterable[PriceRate]) -> tuple[Rate, ...]:
    """They come ordered by model, kind and tier."""
    return tuple(
        Rate(model, kind, tuple(Tier(row.above, row.per_million_micros) for row in tiers))
        for (model, kind), tiers in groupby(rows, key=lambda row: (row.model, row.voice_kind))
    )
