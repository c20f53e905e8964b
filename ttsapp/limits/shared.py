"""The rules in Redis, one script a request: what many web processes on many machines share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import redis.asyncio

from ttsapp.limits.rules import (
    LEASE_MS,
    LIMITS,
    NEVER_MS,
    SPENT_MS,
    Answer,
    Ask,
    Credit,
    Limit,
    Limits,
    Refusal,
    State,
    Subject,
)

_KINDS = ("minute", "leases", "held", "spent")
_FIELDS = 7
_HEAD = 6


def redis_clock() -> int:
    """0: by Redis' own clock, so that machines need not agree on the time."""
    return 0


class SharedStore:
    """Raises what redis-py raises, and waits as long as its client does."""

    def __init__(
        self,
        client: redis.asyncio.Redis,
        clock: Callable[[], int] = redis_clock,
        *,
        prefix: str,
    ) -> None:
        self._client = client
        self._clock = clock
        self._prefix = prefix
        self._admit, self._release, self._hold = (
            client.register_script(_lua("common") + _lua(name))
            for name in ("admit", "release", "hold")
        )

    async def admit(self, ask: Ask) -> Answer:
        arguments: list[str | int] = [self._clock(), ask.id, LEASE_MS, ask.characters]
        arguments += [ask.month_left_ms, SPENT_MS]
        arguments += [ask.purse.funds, ask.purse.cost] if ask.purse else [-1, -1]
        for subject in ask.subjects:
            arguments += _numbers(subject.limits)
        reply: list[int] = await self._admit(self._keys(ask), arguments)
        return _answer(reply, len(ask.subjects))

    async def grow(self, ask: Ask, more: int) -> Answer:
        budgets = [_numbers(subject.limits)[-2:] for subject in ask.subjects]
        limits = [number for soft_and_hard in budgets for number in soft_and_hard]
        arguments = [*self._held(ask), more, ask.purse.funds if ask.purse else -1, *limits]
        limit, subject, unknown = await self._hold(self._keys(ask), arguments)
        if unknown:
            return _unknown(unknown, len(ask.subjects))
        if not limit:
            return Answer()
        wait_ms = NEVER_MS if LIMITS[limit - 1] is Limit.CREDIT else ask.month_left_ms
        return Answer(refusal=Refusal(LIMITS[limit - 1], subject, wait_ms))

    async def renew(self, asks: list[Ask]) -> None:
        async with self._client.pipeline(transaction=False) as pipeline:
            for ask in asks:
                await self._hold(self._keys(ask), self._held(ask), client=pipeline)
            await pipeline.execute()

    async def release(
        self, ask: Ask, more_characters: int, charged: int, charged_micros: int = 0
    ) -> None:
        arguments: list[str | int] = [self._clock(), ask.id]
        arguments += [more_characters, charged, charged_micros]
        await self._release(self._keys(ask), arguments)

    async def tell_spent(self, ask: Ask, subject: int, characters: int, *, again: bool) -> None:
        key = self._keys(ask)[len(_KINDS) * subject + _KINDS.index("spent")]
        await self._tell(key, characters, again)

    async def tell_used(self, ask: Ask, micros: int, *, again: bool) -> None:
        await self._tell(self._keys(ask)[-1], micros, again)

    async def _tell(self, key: str, amount: int, again: bool) -> None:
        """Again only where it is still known: a Redis that has forgotten it has forgotten what runs
        too, and is told all of that first, by who is answered that it is unknown."""
        await self._client.set(key, amount, px=SPENT_MS, nx=not again, xx=again)

    def _held(self, ask: Ask) -> list[str | int]:
        cost = ask.purse.cost if ask.purse else 0
        return [self._clock(), ask.id, LEASE_MS, ask.characters, cost]

    def _keys(self, ask: Ask) -> list[str]:
        """All of a tenant's keys are in one slot of a cluster: the first subject is the tenant."""
        group = f"{self._prefix}:{{{ask.subjects[0].name}}}"
        keys = [key for subject in ask.subjects for key in _names(group, subject, ask.month)]
        return [*keys, f"{group}:credit:{ask.purse.currency}"] if ask.purse else keys


def _lua(name: str) -> str:
    return (Path(__file__).parent / f"{name}.lua").read_text("utf-8")


def _names(group: str, subject: Subject, month: str) -> tuple[str, ...]:
    own = f"{group}:{subject.name}"
    return (f"{own}:minute", f"{own}:leases", f"{own}:held", f"{own}:spent:{month}")


def _numbers(limits: Limits) -> list[int]:
    given = (
        limits.requests_per_minute,
        limits.characters_per_minute,
        limits.concurrent_streams,
        limits.soft_monthly_characters,
        limits.hard_monthly_characters,
    )
    return [-1 if number is None else number for number in given]


def _answer(reply: Sequence[int], subjects: int) -> Answer:
    limit, subject, wait_ms, unknown, used, age_ms = reply[:_HEAD]
    if unknown:
        return _unknown(unknown, subjects)
    starts = range(_HEAD, len(reply), _FIELDS)
    states = tuple(_state(reply[start : start + _FIELDS]) for start in starts)
    refusal = Refusal(LIMITS[limit - 1], subject, wait_ms) if limit else None
    return Answer(states, refusal, credit=Credit(used, age_ms) if used >= 0 else None)


def _unknown(bits: int, subjects: int) -> Answer:
    budgets = tuple(place for place in range(subjects) if bits >> place & 1)
    return Answer(unknown=budgets, is_credit_unknown=bool(bits >> subjects & 1))


def _state(fields: Sequence[int]) -> State:
    requests, characters, reset_ms, streams, spent, age, past = fields
    has_budget = spent >= 0
    return State(
        requests,
        characters,
        reset_ms,
        streams,
        spent if has_budget else None,
        age if has_budget else None,
        bool(past),
    )
