"""What one request costs, as its month's invoice will have it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from fractions import Fraction

from billing.models import UsageEvent
from billing.money import MICROS
from billing.prices.selectors import kept
from billing.prices.uses import by_day, next_month


@dataclass(frozen=True, slots=True)
class Quote:
    micros: Fraction
    currency: str


def quote(event: UsageEvent) -> Quote | None:
    """At the tiers that its month has reached by now. None: nothing is charged."""
    day = event.started_at.astimezone(UTC).date()
    month = day.replace(day=1)
    book = kept.get().book(event.tenant_id, month)
    if book is None:
        return None
    terms = book.version(day).terms
    rate = terms.rate(event.model, event.voice_kind)
    uses = (each.use for each in by_day(month, next_month(month), event.tenant_id))
    volume = sum(
        use.characters for use in uses if terms.rate(use.model, use.voice_kind).key == rate.key
    )
    characters = event.billed_characters + event.top_up_characters
    shares = rate.shares(max(0, volume - characters), characters)
    return Quote(Fraction(sum(share.picos for share in shares), MICROS), book.currency)
