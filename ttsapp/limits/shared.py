"""The rules in Redis, one script a request: what many web processes on many machines share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import redis.asyncio

from ttsapp.limits.rules import (
    LEASE_MS,
    LIMITS,
    SPENT_MS,
    Answer,
    Ask,
    Credit,
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
        folder = Path(__file__).parent
        self._admit, self._release, self._renew = (
            client.register_script((folder / f"{name}.lua").read_text("utf-8"))
            for name in ("admit", "release", "renew")
        )

    async def admit(self, ask: Ask) -> Answer:
        arguments: list[str | int] = [self._clock(), ask.id, LEASE_MS, ask.characters]
        arguments += [ask.month_left_ms, SPENT_MS]
        arguments += [ask.purse.funds, ask.purse.cost] if ask.purse else [-1, -1]
        for subject in ask.subjects:
            arguments += _numbers(subject.limits)
        reply: list[int] = await self._admit(self._keys(ask), arguments)
        return _answer(reply, len(ask.subjects))

    async def renew(self, asks: list[Ask]) -> None:
        async with self._client.pipeline(transaction=False) as pipeline:
            for ask in asks:
                keys = [key for key in self._keys(ask) if key.endswith((":leases", ":held"))]
                arguments: list[str | int] = [self._clock(), ask.id, LEASE_MS]
                await self._renew(keys, arguments, client=pipeline)
            await pipeline.execute()

    async def release(
        self, ask: Ask, more_characters: int, charged: int, charged_micros: int = 0
    ) -> None:
        arguments: list[str | int] = [self._clock(), ask.id]
        arguments += [more_characters, charged, charged_micros]
        await self._release(self._keys(ask), arguments)

    async def tell_spent(self, ask: Ask, subject: int, characters: int, *, again: bool) -> None:
        key = self._keys(ask)[len(_KINDS) * subject + _KINDS.index("spent")]
        await self._client.set(key, characters, px=SPENT_MS, nx=not again)

    async def tell_used(self, ask: Ask, micros: int, *, again: bool) -> None:
        await self._client.set(self._keys(ask)[-1], micros, px=SPENT_MS, nx=not again)

    def _keys(self, ask: Ask) -> list[str]:
        """All of a tenant's keys are in one slot of a cluster: the first subject is the tenant."""
        group = f"{self._prefix}:{{{ask.subjects[0].name}}}"
        keys = [key for subject in ask.subjects for key in _names(group, subject, ask.month)]
        return [*keys, f"{group}:credit:{ask.purse.currency}"] if ask.purse else keys


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
        budgets = tuple(place for place in range(subjects) if unknown >> place & 1)
        return Answer(unknown=budgets, is_credit_unknown=bool(unknown >> subjects & 1))
    starts = range(_HEAD, len(reply), _FIELDS)
    states = tuple(_state(reply[start : start + _FIELDS]) for start in starts)
    refusal = Refusal(LIMITS[limit - 1], subject, wait_ms) if limit else None
    return Answer(states, refusal, credit=Credit(used, age_ms) if used >= 0 else None)


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
