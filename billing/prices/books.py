"""Price books as plain values: which terms a tenant has on a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from billing.prices.rates import Price, Terms


@dataclass(frozen=True, slots=True)
class Version:
    valid_from: date
    note: str
    terms: Terms


@dataclass(frozen=True, slots=True)
class Book:
    """`versions` by number; at least one."""

    slug: str
    name: str
    currency: str
    versions: tuple[Version, ...]

    def version(self, day: date) -> Version:
        """The last that has begun by then; before all of them the first."""
        begun = [version for version in self.versions if version.valid_from <= day]
        return begun[-1] if begun else self.versions[0]

    @property
    def never_in_force(self) -> frozenset[int]:
        """The versions whose place another took before they began."""
        return frozenset(
            version.terms.version
            for version in self.versions[1:]  # the first holds until the next one begins
            if self.version(version.valid_from) is not version
        )


@dataclass(frozen=True, slots=True)
class Agreed:
    from_month: date
    book: str


@dataclass(frozen=True, slots=True)
class PriceList:
    """All books with a price, by slug, what each tenant agreed to, and what holds for all others,
    oldest first."""

    books: Mapping[str, Book]
    agreed: Mapping[int, tuple[Agreed, ...]]
    defaults: tuple[Agreed, ...]

    def book(self, tenant_id: int, month: date) -> Book | None:
        """None: nothing is charged."""
        found = in_force(self.agreed.get(tenant_id, ()), month) or self.default(month)
        return self.books.get(found) if found else None

    def books_from(self, tenant_id: int, month: date) -> list[Book]:
        """What it pays by in that month, and in those to come."""
        changes = (*self.agreed.get(tenant_id, ()), *self.defaults)
        months = {month, *(each.from_month for each in changes if each.from_month > month)}
        found = (self.book(tenant_id, each) for each in sorted(months))
        return [book for book in found if book is not None]

    def default(self, month: date) -> str:
        """The book of tenants without an agreement; empty: none."""
        return in_force(self.defaults, month)

    def terms(self, tenant_id: int, day: date) -> Terms | None:
        book = self.book(tenant_id, day.replace(day=1))
        return book.version(day).terms if book else None

    def price(self, tenant_id: int, day: date, model: str, voice_kind: str) -> Price | None:
        """What a request of that day may cost at most."""
        book = self.book(tenant_id, day.replace(day=1))
        if book is None:
            return None
        terms = book.version(day).terms
        dearest = max(tier.per_million for tier in terms.rate(model, voice_kind).tiers)
        return Price(book.currency, dearest, terms.minimum_characters)


def in_force(agreed: Sequence[Agreed], month: date) -> str:
    """The book of the last that has begun by that month; empty: none has."""
    begun = [each.book for each in agreed if each.from_month <= month]
    return begun[-1] if begun else ""
