"""What one request costs, as its month's invoice will have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date
from fractions import Fraction
from uuid import UUID

from billing.models import UsageEvent
from billing.money import MICROS
from billing.prices.books import Book
from billing.prices.rates import Use
from billing.prices.selectors import kept
from billing.prices.uses import by_day, next_month


@dataclass(frozen=True, slots=True)
class Quote:
    micros: Fraction
    currency: str


def quote(event: UsageEvent) -> Quote | None:
    """At the tiers that its month has reached by now. None: nothing is charged."""
    return quotes([event]).get(event.pk)


def quotes(events: Iterable[UsageEvent]) -> dict[UUID, Quote]:
    """Of those that something is charged for; each month is read once."""
    months: defaultdict[tuple[int, date], list[UsageEvent]] = defaultdict(list)
    for event in events:
        months[event.tenant_id, _day(event).replace(day=1)].append(event)
    found: dict[UUID, Quote] = {}
    for (tenant_id, month), part in months.items():
        if book := kept.get().book(tenant_id, month):
            uses = [each.use for each in by_day(month, next_month(month), tenant_id)]
            found |= {event.pk: _quote(event, book, uses) for event in part}
    return found


def _quote(event: UsageEvent, book: Book, uses: Iterable[Use]) -> Quote:
    terms = book.version(_day(event)).terms
    rate = terms.rate(event.model, event.voice_kind)
    volume = sum(
        use.characters for use in uses if terms.rate(use.model, use.voice_kind).key == rate.key
    )
    characters = event.paid_characters
    shares = rate.shares(max(0, volume - characters), characters)
    return Quote(Fraction(sum(share.picos for share in shares), MICROS), book.currency)


def _day(event: UsageEvent) -> date:
    return event.started_at.astimezone(UTC).date()
