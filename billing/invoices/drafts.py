"""What a month comes to: the lines of an invoice before it is one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from billing import money
from billing.prices.books import Book
from billing.prices.rates import ANY, Charge, Rate, Share, charges
from billing.prices.uses import DayUse, windows


@dataclass(frozen=True, slots=True)
class Line:
    """Characters at one price; the amount can be paid."""

    text: str
    rate: Rate
    version: int
    share: Share
    amount_micros: int

    @property
    def exact_micros(self) -> int:
        """Before it is rounded to what can be paid."""
        return money.exact(self.share.picos)


@dataclass(frozen=True, slots=True)
class Draft:
    """A month of a tenant's; its total is the sum of its lines as they are shown.
    `top_up_characters`: of those of its lines, what short requests were topped up with."""

    month: date
    book: Book
    lines: tuple[Line, ...]
    top_up_characters: int = 0

    @property
    def currency(self) -> str:
        return self.book.currency

    @property
    def total_micros(self) -> int:
        return sum(line.amount_micros for line in self.lines)

    @property
    def exact_micros(self) -> int:
        """What usage comes to; `total_micros` is what an invoice would have."""
        return money.exact(sum(line.share.picos for line in self.lines))

    @property
    def characters(self) -> int:
        return sum(line.share.characters for line in self.lines)


def draft(book: Book, month: date, uses: Iterable[DayUse]) -> Draft:
    """One tenant's uses of the month, oldest first."""
    parts = windows(book, uses)
    topped_up = sum(use.topped_up for window in parts for use in window.uses)
    found = [charge for window in charges(parts) for charge in window]
    lines = tuple(_line(charge, book.currency) for charge in found)
    return Draft(month, book, lines, topped_up)


def _line(charge: Charge, currency: str) -> Line:
    amount = money.payable(charge.share.picos, currency)
    return Line(_text(charge), charge.rate, charge.version, charge.share, amount)


def _text(charge: Charge) -> str:
    rate, tier = charge.rate, charge.share.tier
    what = "Speech" if rate.model == ANY else f"Speech by {rate.model}"
    voices = "" if rate.voice_kind == ANY else f", {rate.voice_kind} voices"
    above = f", beyond {tier.above:,} characters of the month" if tier.above else ""
    return f"{what}{voices}{above}"
