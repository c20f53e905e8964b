"""The rules in this process: for an installation without Redis, and while Redis is away."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from ttsapp.limits.rules import (
    LEASE_MS,
    SLOT_MS,
    SLOTS,
    STREAM_WAIT_MS,
    Answer,
    Ask,
    Limit,
    Limits,
    Refusal,
    State,
    Subject,
)

# More than so many tenants and keys at once: the one that was idle longest is forgotten.
MOST_SUBJECTS = 10_000


@dataclass(slots=True)
class _Count:
    """One subject's minute (by slot: requests, characters), streams and month."""

    slots: dict[int, tuple[int, int]] = field(default_factory=dict)
    leases: dict[str, tuple[int, int]] = field(default_factory=dict)
    held: int = 0
    first_end: int = 0
    month: str = ""
    spent: int | None = None
    spent_at: int = 0

    def tidy(self, now: int, month: str) -> None:
        oldest = now // SLOT_MS - SLOTS + 1
        if any(slot < oldest for slot in self.slots):
            self.slots = {slot: used for slot, used in self.slots.items() if slot >= oldest}
        if self.first_end <= now:
            self._drop_dead(now)
        if month != self.month:
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

    def lease(self, name: str, end: int, characters: int) -> None:
        self.leases[name] = (end, characters)
        self.held += characters
        self.first_end = min(self.first_end, end) if len(self.leases) > 1 else end

    def free(self, name: str) -> None:
        self.held -= self.leases.pop(name, (0, 0))[1]

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
        for name in [name for name, (end, _) in self.leases.items() if end <= now]:
            self.free(name)
        self.first_end = min((end for end, _ in self.leases.values()), default=0)


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
        unknown = tuple(
            place
            for place, (count, subject) in enumerate(pairs)
            if subject.limits.has_budget and count.spent is None
        )
        if unknown:
            return Answer(unknown=unknown)
        refusals = [
            Refusal(limit, place, wait)
            for place, (count, subject) in enumerate(pairs)
            for limit, wait in _waits(count, subject.limits, ask, now)
        ]
        if not refusals:
            for count in counts:
                count.add(now, 1, ask.characters)
                count.lease(ask.id, now + LEASE_MS, ask.characters)
        states = tuple(count.state(now, subject.limits) for count, subject in pairs)
        return Answer(states, max(refusals, key=lambda refusal: refusal.wait_ms, default=None))

    async def renew(self, asks: list[Ask]) -> None:
        until = self._clock() + LEASE_MS
        for ask in asks:
            for subject in ask.subjects:
                count = self._counts.get(subject.name)
                if count is not None and ask.id in count.leases:
                    count.leases[ask.id] = (until, count.leases[ask.id][1])

    async def release(self, ask: Ask, more_characters: int, charged: int) -> None:
        now = self._clock()
        for subject in ask.subjects:
            count = self._counts.get(subject.name)
            if count is None:
                continue
            count.free(ask.id)
            if more_characters:
                count.add(now, 0, more_characters)
            if count.spent is not None and count.month == ask.month:
                count.spent += charged

    async def tell_spent(self, ask: Ask, subject: int, characters: int, *, again: bool) -> None:
        now = self._clock()
        count = self._count(ask.subjects[subject], now, ask.month)
        if again or count.spent is None:
            count.spent, count.spent_at = characters, now

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
    streams, budget = limits.concurrent_streams, limits.hard_monthly_characters
    if streams is not None and len(count.leases) + 1 > streams:
        found.append((Limit.STREAMS, STREAM_WAIT_MS))
    if budget is not None and count.committed + ask.characters > budget:
        found.append((Limit.BUDGET, ask.month_left_ms))
    return found
