"""Settlements that come together are one transaction, and none suffers for another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.db import IntegrityError

from ttsapp import database, ids
from ttsapp.speech import services
from ttsapp.speech.ledger import close as close_one
from ttsapp.together import MOST_TOGETHER


@dataclass(frozen=True)
class Ended:
    """Stands for a closing; a `bad` one is beyond what the ledger takes until it is capped."""

    id: UUID
    is_bad: bool = False
    is_capped: bool = False

    @property
    def order(self) -> SimpleNamespace:
        return SimpleNamespace(id=self.id)

    def capped(self) -> Ended:
        return replace(self, is_bad=False, is_capped=True)


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[list[Ended]]:
    """What was written, transaction by transaction."""
    written: list[list[Ended]] = []

    def close_all(closings: list[Ended]) -> int:
        if any(closing.is_bad for closing in closings):
            raise IntegrityError("never_billed_beyond_text")
        written.append(closings)
        return len(closings)

    async def write(function: Callable[[list[Ended]], int], closings: list[Ended]) -> int:
        return function(closings)

    monkeypatch.setattr(services, "close_all", close_all)
    monkeypatch.setattr(database, "write", write)
    return written


def ended(count: int) -> list[Ended]:
    return [Ended(ids.uuid7()) for _ in range(count)]


async def close(*closings: Ended) -> list[object]:
    return await asyncio.gather(*map(close_one, closings), return_exceptions=True)


async def test_it_works(groups: list[list[Ended]]) -> None:
    many = ended(MOST_TOGETHER + 1)
    assert await close(*many) == [None] * len(many)
    assert groups == [many[:MOST_TOGETHER], many[MOST_TOGETHER:]]


async def test_one_that_is_refused_is_capped_and_the_others_are_written(
    groups: list[list[Ended]],
) -> None:
    first, bad, last = ended(3)
    assert await close(first, replace(bad, is_bad=True), last) == [None] * 3
    assert groups == [[first], [replace(bad, is_capped=True)], [last]]


async def test_one_that_is_refused_even_so_hears_of_it(groups: list[list[Ended]]) -> None:
    first, bad = ended(2)
    good, error = await close(first, replace(bad, is_bad=True, is_capped=True))
    assert good is None
    assert isinstance(error, IntegrityError)
