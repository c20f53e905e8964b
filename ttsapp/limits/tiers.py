"""Which tiers of a price may still apply this month, by what the ledger says was charged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from billing.prices.rates import Rate
from billing.prices.selectors import USABLE_SECONDS, kept
from billing.prices.uses import by_day, next_month, windows
from ttsapp import database

# More than so many tenants at once: all of it is read again.
MOST = 10_000

# Of a rate: its model and kind of voice.
RateKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Reached:
    """Characters of the month by rate, minimums included, by the prices of that book."""

    book: str
    volumes: Mapping[RateKey, int]
    read_at: float


_reached: dict[tuple[int, date], _Reached] = {}


def dearest(rate: Rate, volume: int) -> int:
    """Micros a million, of the tiers that characters after `volume` others may fall into.

    A month only grows, and what is not settled yet comes after what is: whatever runs beside it,
    and however old `volume` is, no request that begins now falls into a tier before that."""
    ends = [tier.above for tier in rate.tiers[1:]]
    open_ones = [tier for tier, end in zip(rate.tiers, ends, strict=False) if end > volume]
    return max(tier.per_million for tier in (*open_ones, rate.tiers[-1]))


async def volume(tenant_id: int, month: date, rate: RateKey, book: str, *, anew: bool) -> int:
    """As it was a few seconds ago, or as it is now."""
    found = _reached.get((tenant_id, month))
    if found is None or anew or found.book != book or _is_old(found):
        found = await database.read(_read, tenant_id, month)
        if len(_reached) >= MOST:
            _reached.clear()
        _reached[tenant_id, month] = found
    return found.volumes.get(rate, 0) if found.book == book else 0


def _read(tenant_id: int, month: date) -> _Reached:
    read_at, book = time.monotonic(), kept.get().book(tenant_id, month)
    volumes: Counter[RateKey] = Counter()
    if book is not None:
        for window in windows(book, by_day(month, next_month(month), tenant_id)):
            for use in window.uses:
                volumes[window.terms.rate(use.model, use.voice_kind).key] += use.characters
    return _Reached(book.slug if book is not None else "", volumes, read_at)


def _is_old(found: _Reached) -> bool:
    return time.monotonic() - found.read_at > USABLE_SECONDS
