"""Both stores of the limits, in this process and in Redis, under a clock that only a test moves."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest
import redis.asyncio

from ttsapp.limits.local import LocalStore
from ttsapp.limits.rules import Answer, Ask, Limits, Purse, Refusal, Store, Subject
from ttsapp.limits.shared import SharedStore

REDIS = os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0"
START = 1_800_000_000_000
Result = TypeVar("Result")


@dataclass
class Bench:
    """A store under a clock that only the test moves, with a name of its own for each."""

    kind: str
    loop: asyncio.AbstractEventLoop
    client: redis.asyncio.Redis | None
    now: int = START
    prefix: str = field(default_factory=lambda: f"test:{uuid.uuid4()}")

    def fresh(self) -> Bench:
        bench = replace(self, now=START, prefix=f"test:{uuid.uuid4()}")
        bench.store = bench.make()
        return bench

    def make(self) -> Store:
        if self.client is None:
            return LocalStore(lambda: self.now)
        return SharedStore(self.client, lambda: self.now, prefix=self.prefix)

    store: Store = field(init=False, default=None)

    def wait(self, ms: int) -> None:
        self.now += ms

    def run(self, work: Awaitable[Result]) -> Result:
        return self.loop.run_until_complete(work)

    def admit(self, ask: Ask) -> Answer:
        answer = self.run(self.store.admit(ask))
        for subject in answer.unknown:
            self.run(self.store.tell_spent(ask, subject, 0, again=False))
        if answer.is_credit_unknown:
            self.run(self.store.tell_used(ask, 0, again=False))
        is_known = not (answer.unknown or answer.is_credit_unknown)
        return answer if is_known else self.run(self.store.admit(ask))

    def grow(self, ask: Ask, more: int) -> Refusal | None:
        answer = self.run(self.store.grow(ask, more))
        assert answer == Answer(refusal=answer.refusal), "it was told all before"
        return answer.refusal

    def end(self, ask: Ask, charged: int = 0, more: int = 0, micros: int = 0) -> None:
        self.run(self.store.release(ask, more, charged, micros))

    def renew(self, *asks: Ask) -> None:
        self.run(self.store.renew(list(asks)))


@pytest.fixture(scope="module", params=["local", pytest.param("redis", marks=pytest.mark.services)])
def benches(request: pytest.FixtureRequest) -> Iterator[Bench]:
    loop = asyncio.new_event_loop()
    client = redis.asyncio.Redis.from_url(REDIS) if request.param == "redis" else None
    if client is not None:
        try:
            loop.run_until_complete(client.ping())
        except redis.ConnectionError:
            if os.environ.get("PARLANCE_REQUIRE_SERVICES") == "1":
                raise
            pytest.skip("no Redis")
    yield Bench(request.param, loop, client)
    if client is not None:
        loop.run_until_complete(client.aclose())
    loop.close()


@pytest.fixture
def bench(benches: Bench) -> Bench:
    return benches.fresh()


def ask(characters: int = 10, key: Limits | None = None, *, name: str = "t1", **limits: int) -> Ask:
    subjects = [Subject(name, Limits(**limits))]
    if key is not None:
        subjects.append(Subject(f"{name}-k", key))
    return Ask(str(uuid.uuid4()), tuple(subjects), characters, "2027-01", 86_400_000)


def paid(cost: int, funds: int, currency: str = "EUR", *, name: str = "t1", **limits: int) -> Ask:
    """Asked by a tenant that has paid so much ahead, at ten micros a character."""
    wanted = ask(cost // 10, name=name, **limits)
    return replace(wanted, purse=Purse(currency, funds, cost, 10_000_000))


def without_age(answer: Answer) -> Answer:
    """Redis' expiry runs by its own clock."""
    states = tuple(replace(state, spent_age_ms=None) for state in answer.states)
    credit = replace(answer.credit, age_ms=0) if answer.credit else None
    return replace(answer, states=states, credit=credit)


def answer_alike(
    benches: Bench,
    steps: Sequence[tuple[int, int, bool]],
    wanted: Callable[[int], Ask],
    end: Callable[[Bench, Ask], None],
    grown: Callable[[Ask, int], Ask],
) -> None:
    """Both stores, told the same: what is `wanted` of each size, what the oldest of them has
    `grown` to, and how each ends."""
    if benches.client is None:
        pytest.skip("compared from the other side")
    both = benches.fresh(), replace(benches, client=None).fresh()
    living: list[Ask] = []
    for pause, size, ends in steps:
        one = wanted(size)
        for each in both:
            each.wait(pause)
        shared, local = (without_age(each.admit(one)) for each in both)
        assert shared == local
        living += [one] if shared.refusal is None else []
        if living:
            more = grown(living[0], size)
            refusals = [each.grow(more, more.characters - living[0].characters) for each in both]
            assert refusals[0] == refusals[1]
            living[0] = more if refusals[0] is None else living[0]
        if ends and living:
            ended = living.pop(0)
            for each in both:
                end(each, ended)
