"""Answers that are seldom waited for, and never older than half a second."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import pytest
from django.db import OperationalError

from ttsapp import recent
from ttsapp.errors import ApiError
from ttsapp.recent import Recent

# The threads that read have connections of their own, which they look after.
pytestmark = pytest.mark.usefixtures("transactional_db")


class Facts:
    """What is true now, and how often it was asked for."""

    def __init__(self, **facts: int) -> None:
        self.facts = dict(facts)
        self.asked: Counter[tuple[str, ...]] = Counter()

    def find(self, names: list[str]) -> dict[str, int]:
        self.asked[tuple(names)] += 1
        return {name: self.facts[name] for name in names if name in self.facts}


async def until(answer: object, wanted: Recent[str, int], name: str) -> None:
    async with asyncio.timeout(5):
        while await wanted.get(name) != answer:  # noqa: ASYNC110  nobody else is told
            await asyncio.sleep(0.001)


async def test_it_works() -> None:
    facts = Facts(alice=1)
    wanted = Recent(facts.find, 10)
    assert [await wanted.get("alice"), await wanted.get("alice")] == [1, 1]
    assert facts.asked == {("alice",): 1}


async def test_what_is_asked_for_afresh_is_asked_for() -> None:
    facts = Facts(alice=1)
    wanted = Recent(facts.find, 10)
    await wanted.get("alice")
    facts.facts["alice"] = 2
    assert await wanted.get("alice", afresh=True) == 2


async def test_what_there_is_not_is_not_remembered() -> None:
    facts = Facts()
    wanted = Recent(facts.find, 10)
    assert await wanted.get("bob") is None
    facts.facts["bob"] = 3
    assert await wanted.get("bob") == 3


async def test_an_old_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(alice=1)
    wanted = Recent(facts.find, 10)
    await wanted.get("alice")
    facts.facts["alice"] = 2
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.0)
    assert await wanted.get("alice") == 2


async def test_what_is_in_use_is_renewed_by_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request waits for it: answers are good for ever here, and still change."""
    monkeypatch.setattr(recent, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(recent, "FRESH_SECONDS", 1e9)
    monkeypatch.setattr(recent, "IN_USE_SECONDS", 1e9)
    facts = Facts(alice=1, bob=2)
    wanted = Recent(facts.find, 10)
    for name in ("alice", "bob"):
        await wanted.get(name)

    facts.facts = {"alice": 5}

    await until(5, wanted, "alice")
    await until(None, wanted, "bob")
    assert facts.asked["bob", "alice"] + facts.asked["alice", "bob"] >= 1


async def test_what_is_idle_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(recent, "IN_USE_SECONDS", -1.0)
    facts = Facts(alice=1)
    await Recent(facts.find, 10).get("alice")
    await asyncio.sleep(0.05)
    assert facts.asked == {("alice",): 1}


async def test_the_memory_is_bounded() -> None:
    facts = Facts(alice=1, bob=2, mallory=3)
    wanted = Recent(facts.find, 2)
    for name in ("alice", "bob", "alice", "mallory", "alice"):
        await wanted.get(name)
    assert facts.asked["alice",] == 1
    await wanted.get("bob")
    assert facts.asked["bob",] == 2


async def test_an_earlier_question_that_is_answered_later_changes_nothing() -> None:
    facts, release, began = Facts(alice=1), threading.Event(), threading.Event()

    def find(names: list[str]) -> dict[str, int]:
        found = facts.find(names)
        if facts.asked["alice",] == 1:
            began.set()
            release.wait(5)
        return found

    wanted = Recent(find, 10)
    earlier = asyncio.create_task(wanted.get("alice"))
    await asyncio.to_thread(began.wait, 5)
    facts.facts["alice"] = 2
    assert await wanted.get("alice", afresh=True) == 2
    release.set()
    assert await earlier == 2


async def test_a_database_that_is_away_is_told_and_not_remembered() -> None:
    is_away = True

    def find(names: list[str]) -> dict[str, int]:
        if is_away:
            raise OperationalError
        return dict.fromkeys(names, 1)

    wanted = Recent(find, 10)
    with pytest.raises(ApiError) as caught:
        await wanted.get("alice")
    assert (caught.value.status, caught.value.code) == (503, "database_unavailable")
    is_away = False
    assert await wanted.get("alice") == 1
