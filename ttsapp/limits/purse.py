"""What a request may cost a tenant that speaks on prepaid credit alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from billing.prices.books import PriceList
from billing.prices.rates import Price
from billing.prices.selectors import kept
from ttsapp import database
from ttsapp.limits import tiers
from ttsapp.limits.rules import Purse


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be spoken, as prices tell it apart."""

    model: str
    voice_kind: str


async def price(tenant_id: int, wanted: Wanted, *, anew: bool = False) -> Price | None:
    """The dearest of the tiers that may still apply this month, by what was charged a few seconds
    ago, or `anew`. None where nothing is paid for. A thread is asked only every few seconds."""
    prices: PriceList | None = kept.at_hand()
    if prices is None:
        prices = await database.read(kept.get)
    today = datetime.now(UTC).date()
    month = today.replace(day=1)
    book = prices.book(tenant_id, month)
    if book is None:
        return None
    terms = book.version(today).terms
    rate, volume = terms.rate(wanted.model, wanted.voice_kind), 0
    if len(rate.tiers) > 1:
        volume = await tiers.volume(tenant_id, month, rate.key, book.slug, anew=anew)
    per_million = tiers.dearest(rate, volume)
    return Price(book.currency, per_million, terms.minimum_characters) if per_million else None


def of(price: Price | None, funds: Mapping[str, int], characters: int) -> Purse | None:
    """Text may come later, and what is used up is used up: the least that it costs is a micro."""
    if price is None:
        return None
    cost = max(1, price.cost(characters))
    paid, least = funds.get(price.currency, 0), price.cost(1)
    return Purse(price.currency, paid, cost, price.per_million, least)
