"""What a request may cost a tenant that speaks on prepaid credit alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from billing.prices.books import PriceList
from billing.prices.rates import Price
from billing.prices.selectors import kept
from ttsapp import database
from ttsapp.limits.rules import Purse


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be spoken, as prices tell it apart."""

    model: str
    voice_kind: str


async def price(tenant_id: int, wanted: Wanted) -> Price | None:
    """The dearest that holds today: what was charged is read from the ledger. None where nothing
    is paid for. A thread is asked only every few seconds."""
    prices: PriceList | None = kept.at_hand()
    if prices is None:
        prices = await database.read(kept.get)
    found = prices.price(tenant_id, datetime.now(UTC).date(), wanted.model, wanted.voice_kind)
    return found if found is not None and found.per_million else None


def of(price: Price | None, funds: Mapping[str, int], characters: int) -> Purse | None:
    """Text may come later, and what is used up is used up: the least that it costs is a micro."""
    if price is None:
        return None
    cost = max(1, price.cost(characters))
    return Purse(price.currency, funds.get(price.currency, 0), cost, price.per_million)
