"""What may be limited, what a request asks for, and what it is answered. docs/limits.md explains
the rules, which two stores keep: `local` in this process, `shared` in Redis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

# A minute is counted in slots. The oldest leaves as a whole, so what was used counts for 60 to
# 65 seconds: never too short.
SLOT_MS = 5_000
SLOTS = 13
# A process that died frees its streams after so long; one that lives renews them thrice in it.
LEASE_MS = 30_000
# Nobody knows when a stream ends: a client may look again after so long.
STREAM_WAIT_MS = 1_000
# What was spent this month is read from the ledger again before it is so old.
SPENT_MS = 3_600_000
# What is used up of prepaid credit, where it is money that is at stake.
CREDIT_SPENT_MS = 60_000
# No waiting brings credit back.
NEVER_MS = 10**15


class Limit(StrEnum):
    """Named in refusals, in the order in which the stores number them."""

    REQUESTS = "requests_per_minute"
    CHARACTERS = "characters_per_minute"
    STREAMS = "concurrent_streams"
    BUDGET = "hard_monthly_characters"
    CREDIT = "prepaid_credit"


LIMITS = tuple(Limit)


@dataclass(frozen=True, slots=True)
class Limits:
    """None is without limit. Of the budgets, in characters charged, the soft one only warns."""

    requests_per_minute: int | None = None
    characters_per_minute: int | None = None
    concurrent_streams: int | None = None
    soft_monthly_characters: int | None = None
    hard_monthly_characters: int | None = None

    @property
    def has_budget(self) -> bool:
        return (self.soft_monthly_characters, self.hard_monthly_characters) != (None, None)


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is limited: a tenant or one of its keys, as `name` under which it is counted."""

    name: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class Purse:
    """What the first subject has paid ahead, and what the request may cost of it at most, in
    millionths of the currency. `per_million`: the price of its characters; `least`: what any
    request costs, where there is a minimum."""

    currency: str
    funds: int
    cost: int
    per_million: int
    least: int = 0

    def characters(self, used: int) -> int:
        """That the rest is good for, in one request."""
        left = max(0, self.funds - used)
        return left * 1_000_000 // self.per_million if left >= self.least else 0


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to speak. `month` names the budgets' month, which ends in `month_left_ms`.
    `purse`: only of who pays ahead."""

    id: str
    subjects: tuple[Subject, ...]
    characters: int
    month: str = ""
    month_left_ms: int = 0
    purse: Purse | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """By which limit of which subject; asked again after `wait_ms` with nothing else used
    meanwhile, it would be admitted."""

    limit: Limit
    subject: int
    wait_ms: int


@dataclass(frozen=True, slots=True)
class State:
    """What a subject has in use, this request included if it was admitted. `reset_ms`: until the
    minute's count is zero again. `spent` and its age: None without a budget."""

    requests: int
    characters: int
    reset_ms: int
    streams: int
    spent: int | None = None
    spent_age_ms: int | None = None
    is_past_soft: bool = False


@dataclass(frozen=True, slots=True)
class Credit:
    """Of the purse: what is used up, and held by streams that live, this one included if it was
    admitted. `age_ms`: since the ledger was read for it."""

    used: int
    age_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Nothing was counted if it is refused, or if `unknown` lists subjects whose spending the
    store has to be told first, or `is_credit_unknown` that of the purse."""

    states: tuple[State, ...] = ()
    refusal: Refusal | None = None
    unknown: tuple[int, ...] = ()
    credit: Credit | None = None
    is_credit_unknown: bool = False


class Store(Protocol):
    async def admit(self, ask: Ask) -> Answer:
        """All of the rules at once, and all of the counting or none."""

    async def grow(self, ask: Ask, more: int) -> Answer:
        """Text has come to a stream that lives: `ask` with it, `more` characters of it new. Only
        budgets and credit may refuse, and then nothing was counted. Tells no states."""

    async def renew(self, asks: list[Ask]) -> None:
        """Their streams still live, and hold what they ask for: a store that has forgotten them
        counts them again."""

    async def release(
        self, ask: Ask, more_characters: int, charged: int, charged_micros: int = 0
    ) -> None:
        """The stream has ended. `more_characters` came after it was admitted; `charged` of all
        are spent, and `charged_micros` of the purse."""

    async def tell_spent(self, ask: Ask, subject: int, characters: int, *, again: bool) -> None:
        """What the ledger says of the subject's month. Only `again` replaces what is known."""

    async def tell_used(self, ask: Ask, micros: int, *, again: bool) -> None:
        """The same of the purse: what is used up of it, in its currency."""
