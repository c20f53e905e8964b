"""What a request may cost a tenant that speaks on prepaid credit alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

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
    found = prices.price(tenant_id, today, wanted.model, wanted.voice_kind)
    if found is None:
        return None
    per_million = await _dearest(prices, tenant_id, today, wanted, anew=anew)
    return replace(found, per_million=per_million) if per_million else None


async def _dearest(
    prices: PriceList, tenant_id: int, today: date, wanted: Wanted, *, anew: bool
) -> int:
    month = today.replace(day=1)
    book = prices.book(tenant_id, month)
    assert book is not None, "there is a price"
    rate = book.version(today).terms.rate(wanted.model, wanted.voice_kind)
    if len(rate.tiers) == 1:
        return rate.tiers[0].per_million
    volume = await tiers.volume(tenant_id, month, rate.key, book.slug, anew=anew)
    return tiers.dearest(rate, volume)


def of(price: Price | None, funds: Mapping[str, int], characters: int) -> Purse | None:
    """Text may come later, and what is used up is used up: the least that it costs is a micro."""
    if price is None:
        return None
    cost = max(1, price.cost(characters))
    paid, least = funds.get(price.currency, 0), price.cost(1)
    return Purse(price.currency, paid, cost, price.per_million, least)
