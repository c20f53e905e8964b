"""The rules in this process: for an installation without Redis, and while Redis is away."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from ttsapp.limits.rules import (
    LEASE_MS,
    NEVER_MS,
    SLOT_MS,
    SLOTS,
    STREAM_WAIT_MS,
    Answer,
    Ask,
    Credit,
    Limit,
    Limits,
    Purse,
    Refusal,
    State,
    Subject,
)

# More than so many tenants and keys at once: the one that was idle longest is forgotten.
MOST_SUBJECTS = 10_000


@dataclass(slots=True)
class _Lease:
    """A stream that lives, until `end`, and what it holds of a budget and of a purse."""

    end: int
    characters: int
    cost: int


@dataclass(slots=True)
class _Count:
    """One subject's minute (by slot: requests, characters), streams, month and credit."""

    slots: dict[int, tuple[int, int]] = field(default_factory=dict)
    leases: dict[str, _Lease] = field(default_factory=dict)
    held: int = 0
    held_cost: int = 0
    first_end: int = 0
    month: str = ""
    spent: int | None = None
    spent_at: int = 0
    currency: str = ""
    used_up: int | None = None
    used_at: int = 0

    def tidy(self, now: int, month: str) -> None:
        oldest = now // SLOT_MS - SLOTS + 1
        if any(slot < oldest for slot in self.slots):
            self.slots = {slot: used for slot, used in self.slots.items() if slot >= oldest}
        if self.first_end <= now:
            self._drop_dead(now)
        # A stream of the month before is as old as its ask.
        if month > self.month:
            self.month, self.spent = month, None

    def used(self, measure: int) -> int:
        return sum(used[measure] for used in self.slots.values())

    @property
    def committed(self) -> int:
        """Spent, and held by streams that live."""
        return (self.spent or 0) + self.held

    def add(self, now: int, requests: int, characters: int) -> None:
        slot = now // SLOT_MS
        before = self.slots.get(slot, (0, 0))
        self.slots[slot] = (before[0] + requests, before[1] + characters)

    def lease(self, name: str, end: int, characters: int, cost: int) -> None:
        self.leases[name] = _Lease(end, characters, cost)
        self.held += characters
        self.held_cost += cost
        self.first_end = min(self.first_end, end) if len(self.leases) > 1 else end

    def hold(self, name: str, end: int, characters: int, cost: int) -> None:
        """So much at least, and the stream again where it was forgotten."""
        characters, cost = map(max, (characters, cost), self.held_by(name))
        self.free(name)
        self.lease(name, end, characters, cost)

    def held_by(self, name: str) -> tuple[int, int]:
        """Characters, and of the purse."""
        lease = self.leases.get(name)
        return (lease.characters, lease.cost) if lease is not None else (0, 0)

    def free(self, name: str) -> None:
        lease = self.leases.pop(name, None)
        if lease is not None:
            self.held -= lease.characters
            self.held_cost -= lease.cost

    def credit(self, now: int, purse: Purse) -> Credit | None:
        """None: what is used up in its currency is not known."""
        if self.used_up is None or self.currency != purse.currency:
            return None
        return Credit(self.used_up + self.held_cost, now - self.used_at)

    def wait(self, now: int, measure: int, cost: int, limit: int) -> int:
        """Until enough of the minute's oldest slots have left."""
        excess, wait = self.used(measure) + cost - limit, 0
        for slot in sorted(self.slots):
            if excess <= 0:
                break
            excess -= self.slots[slot][measure]
            wait = (slot + SLOTS) * SLOT_MS - now
        return wait

    def state(self, now: int, limits: Limits) -> State:
        has_budget, soft = limits.has_budget, limits.soft_monthly_characters
        return State(
            requests=self.used(0),
            characters=self.used(1),
            reset_ms=(max(self.slots) + SLOTS) * SLOT_MS - now if self.slots else 0,
            streams=len(self.leases),
            spent=self.committed if has_budget else None,
            spent_age_ms=now - self.spent_at if has_budget else None,
            is_past_soft=soft is not None and self.committed > soft,
        )

    def _drop_dead(self, now: int) -> None:
        for name in [name for name, lease in self.leases.items() if lease.end <= now]:
            self.free(name)
        self.first_end = min((lease.end for lease in self.leases.values()), default=0)


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


class LocalStore:
    """`clock` in milliseconds since 1970."""

    def __init__(self, clock: Callable[[], int] = wall_clock) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, _Count] = OrderedDict()

    async def admit(self, ask: Ask) -> Answer:
        now = self._clock()
        counts = [self._count(subject, now, ask.month) for subject in ask.subjects]
        pairs = list(zip(counts, ask.subjects, strict=True))
        if (unknown := _unknown(pairs, ask, now)) is not None:
            return unknown
        refusals = [
            Refusal(limit, place, wait)
            for place, (count, subject) in enumerate(pairs)
            for limit, wait in _waits(count, subject.limits, ask, now)
        ]
        refusals += _beyond_credit(counts[0], ask, now)
        if not refusals:
            for place, count in enumerate(counts):
                count.add(now, 1, ask.characters)
                count.lease(ask.id, now + LEASE_MS, ask.characters, _cost(ask, place))
        return Answer(
            tuple(count.state(now, subject.limits) for count, subject in pairs),
            max(refusals, key=lambda refusal: refusal.wait_ms, default=None),
            credit=counts[0].credit(now, ask.purse) if ask.purse else None,
        )

    async def grow(self, ask: Ask, more: int) -> Answer:
        now = self._clock()
        pairs = [(self._count(subject, now, ask.month), subject) for subject in ask.subjects]
        if (unknown := _unknown(pairs, ask, now)) is not None:
            return unknown
        refusals = _beyond_credit(pairs[0][0], ask, now)
        refusals += [
            Refusal(Limit.BUDGET, place, ask.month_left_ms)
            for place, (count, subject) in enumerate(pairs)
            if _is_beyond_budget(count, subject.limits, ask)
        ]
        if not refusals:
            for place, (count, _) in enumerate(pairs):
                if more:
                    count.add(now, 0, more)
                count.hold(ask.id, now + LEASE_MS, ask.characters, _cost(ask, place))
        return Answer(refusal=max(refusals, key=lambda refusal: refusal.wait_ms, default=None))

    async def renew(self, asks: list[Ask]) -> None:
        now = self._clock()
        for ask in asks:
            for place, subject in enumerate(ask.subjects):
                count = self._count(subject, now, ask.month)
                count.hold(ask.id, now + LEASE_MS, ask.characters, _cost(ask, place))

    async def release(
        self, ask: Ask, more_characters: int, charged: int, charged_micros: int = 0
    ) -> None:
        now = self._clock()
        for place, subject in enumerate(ask.subjects):
            count = self._counts.get(subject.name)
            if count is None:
                continue
            count.free(ask.id)
            if more_characters:
                count.add(now, 0, more_characters)
            if count.spent is not None and count.month == ask.month:
                count.spent += charged
            if place == 0 and ask.purse and count.credit(now, ask.purse):
                count.used_up = (count.used_up or 0) + charged_micros

    async def tell_spent(self, ask: Ask, subject: int, characters: int, *, again: bool) -> None:
        now = self._clock()
        count = self._count(ask.subjects[subject], now, ask.month)
        if count.month == ask.month and (again or count.spent is None):
            count.spent, count.spent_at = characters, now

    async def tell_used(self, ask: Ask, micros: int, *, again: bool) -> None:
        assert ask.purse is not None
        now = self._clock()
        count = self._count(ask.subjects[0], now, ask.month)
        if again or count.credit(now, ask.purse) is None:
            count.currency, count.used_up, count.used_at = ask.purse.currency, micros, now

    def _count(self, subject: Subject, now: int, month: str) -> _Count:
        count = self._counts.setdefault(subject.name, _Count())
        self._counts.move_to_end(subject.name)
        if len(self._counts) > MOST_SUBJECTS:
            self._counts.popitem(last=False)
        count.tidy(now, month)
        return count


def _waits(count: _Count, limits: Limits, ask: Ask, now: int) -> list[tuple[Limit, int]]:
    """The limits that stand in the way, each with how long it will."""
    found = []
    requests, characters = limits.requests_per_minute, limits.characters_per_minute
    if requests is not None and count.used(0) + 1 > requests:
        found.append((Limit.REQUESTS, count.wait(now, 0, 1, requests)))
    if characters is not None and count.used(1) + ask.characters > characters:
        found.append((Limit.CHARACTERS, count.wait(now, 1, ask.characters, characters)))
    streams = limits.concurrent_streams
    if streams is not None and len(count.leases) + 1 > streams:
        found.append((Limit.STREAMS, STREAM_WAIT_MS))
    if _is_beyond_budget(count, limits, ask):
        found.append((Limit.BUDGET, ask.month_left_ms))
    return found


def _is_beyond_budget(count: _Count, limits: Limits, ask: Ask) -> bool:
    budget = limits.hard_monthly_characters
    if budget is None or count.month != ask.month:
        return False
    return count.committed - count.held_by(ask.id)[0] + ask.characters > budget


def _beyond_credit(count: _Count, ask: Ask, now: int) -> list[Refusal]:
    credit = count.credit(now, ask.purse) if ask.purse else None
    if ask.purse is None or credit is None:
        return []
    others = credit.used - count.held_by(ask.id)[1]
    is_beyond = others + ask.purse.cost > ask.purse.funds
    return [Refusal(Limit.CREDIT, 0, NEVER_MS)] if is_beyond else []


def _unknown(pairs: list[tuple[_Count, Subject]], ask: Ask, now: int) -> Answer | None:
    """What the store has to be told first, if anything."""
    places = tuple(
        place
        for place, (count, subject) in enumerate(pairs)
        if subject.limits.has_budget and count.spent is None and count.month == ask.month
    )
    is_credit_unknown = ask.purse is not None and pairs[0][0].credit(now, ask.purse) is None
    if places or is_credit_unknown:
        return Answer(unknown=places, is_credit_unknown=is_credit_unknown)
    return None


def _cost(ask: Ask, place: int) -> int:
    """Only the first subject has a purse."""
    return ask.purse.cost if ask.purse and place == 0 else 0
