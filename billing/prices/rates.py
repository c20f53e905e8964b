"""Rating: characters to money, exact until an amount is to be paid. No database, no clock.

A character at a price in micros a million is a whole number of "picos": millionths of a micro."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

# A rate for any model, or for any kind of voice.
ANY = ""


class VoiceKind(StrEnum):
    PRESET = "preset"
    CLONED = "cloned"
    DESIGNED = "designed"
    TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class Tier:
    """From the month's character number `above` + 1 on; `per_million` in micros."""

    above: int
    per_million: int


@dataclass(frozen=True, slots=True)
class Share:
    """Characters that fall into one tier."""

    tier: Tier
    characters: int

    @property
    def picos(self) -> int:
        return self.characters * self.tier.per_million


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of a model's and voice kind's characters; its tiers begin at 0 and rise."""

    model: str
    voice_kind: str
    tiers: tuple[Tier, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.model, self.voice_kind

    def fits(self, model: str, voice_kind: str) -> bool:
        return self.model in (ANY, model) and self.voice_kind in (ANY, voice_kind)

    def shares(self, before: int, characters: int) -> Iterator[Share]:
        """How `characters` that follow `before` others of the month spread over the tiers."""
        first, last = before, before + characters
        ends = [tier.above for tier in self.tiers[1:]] + [last]
        for tier, end in zip(self.tiers, ends, strict=True):
            inside = min(last, max(end, tier.above)) - max(first, tier.above)
            if inside > 0:
                yield Share(tier, inside)


@dataclass(frozen=True, slots=True)
class Terms:
    """One version of a price book. One of its rates is for any model and any kind of voice."""

    version: int
    minimum_characters: int
    rates: tuple[Rate, ...]

    def rate(self, model: str, voice_kind: str) -> Rate:
        """The one that says most about it; a model says more than a kind of voice."""
        fitting = [rate for rate in self.rates if rate.fits(model, voice_kind)]
        return max(fitting, key=lambda rate: (rate.model != ANY, rate.voice_kind != ANY))

    def top_up(self, billed: int) -> int:
        """Characters charged beyond the text of a request, where there is a minimum."""
        return max(0, self.minimum_characters - billed) if billed else 0


@dataclass(frozen=True, slots=True)
class Price:
    """What characters cost at most, whichever tier they fall into, in micros a million."""

    currency: str
    per_million: int
    minimum_characters: int

    def cost(self, characters: int) -> int:
        """Micros, rounded up."""
        charged = max(characters, self.minimum_characters) if characters else 0
        return -(-charged * self.per_million // 1_000_000)


@dataclass(frozen=True, slots=True)
class Use:
    """What was charged for in some stretch of a month. `characters`: minimums included;
    `topped_up`: those of them that no text has."""

    model: str
    voice_kind: str
    characters: int
    requests: int = 0
    topped_up: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a month under the same terms."""

    terms: Terms
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Charge:
    """One rate's tier in one window: a line of an invoice, before rounding."""

    version: int
    rate: Rate
    share: Share


def charges(windows: Sequence[Window]) -> list[list[Charge]]:
    """Of each window of one month, oldest first. Volume for the tiers is counted by rate, and goes
    on where a version of the price book ends and the next begins."""
    volumes: Counter[tuple[str, str]] = Counter()
    return [_of_window(window, volumes) for window in windows]


def picos(found: Iterable[Charge]) -> int:
    """What they come to, exactly."""
    return sum(charge.share.picos for charge in found)


def _of_window(window: Window, volumes: Counter[tuple[str, str]]) -> list[Charge]:
    found: list[Charge] = []
    for rate, characters in _by_rate(window):
        shares = rate.shares(volumes[rate.key], characters)
        found += [Charge(window.terms.version, rate, share) for share in shares]
        volumes[rate.key] += characters
    return found


def _by_rate(window: Window) -> list[tuple[Rate, int]]:
    sums: Counter[Rate] = Counter()
    for use in window.uses:
        sums[window.terms.rate(use.model, use.voice_kind)] += use.characters
    return sorted(sums.items(), key=lambda item: item[0].key)
