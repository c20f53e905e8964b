"""A Redis that forgets everything (FLUSHALL): what runs and what was spoken count on."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import LazySettings

from billing.services import Metered, reserve
from tests.billing.selling import EUR, fresh_prices, price_book, speak
from tests.ttsapp.conftest import Party
from tests.ttsapp.test_prepaid import pay, put_on_credit
from ttsapp import ids
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.limits.admission import Admission
from ttsapp.limits.purse import Wanted
from ttsapp.limits.stores import close, stores

__all__ = ["fresh_prices"]
pytestmark = [pytest.mark.services, pytest.mark.usefixtures("fresh_prices")]

# Of its own, since all of it is forgotten.
REDIS = (os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0").rsplit("/", 1)[0] + "/9"
MODEL = "scripted-voices"


class Process:
    """Web processes that share a Redis, of which a test is one."""

    def __init__(self, party: Party, client: redis.asyncio.Redis) -> None:
        self.caller = Caller(party.tenant.pk, party.key.pk, "key:alice")
        self.client = client

    async def begin(self, characters: int) -> Admission:
        """A request of so many characters. Raises ApiError."""
        request_id = ids.uuid7()
        admission = Admission(self.caller, request_id, "input", Wanted(MODEL, "preset"))
        await admission.enter(characters)
        tenant_id, key_id = self.caller.tenant_id, self.caller.key_id
        request = Metered(request_id, tenant_id, key_id, MODEL, "Anna", characters=characters)
        await sync_to_async(reserve)(request)
        return admission

    async def forget(self, *, is_ours: bool) -> None:
        """Redis does; what lives is this process', or another's."""
        await self.client.flushdb()
        if not is_ours:
            stores()._living.clear()


@pytest.fixture
async def process(alice: Party, settings: LazySettings) -> AsyncIterator[Process]:
    """Of Alice, who has paid for a thousand characters."""
    settings.REDIS_URL = REDIS
    client = redis.asyncio.Redis.from_url(REDIS)
    try:
        await client.flushdb()
    except redis.ConnectionError:
        if os.environ.get("PARLANCE_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip("no Redis")
    await sync_to_async(price_book)()
    await sync_to_async(put_on_credit)(alice)
    await sync_to_async(pay)(alice, EUR // 100)
    await close()
    yield Process(alice, client)
    await close()
    await client.aclose()


async def refusal(begun: object) -> str:
    with pytest.raises(ApiError) as refused:
        await begun
    return refused.value.headers["x-parlance-limit"]


@pytest.mark.parametrize("is_ours", [True, False])
async def test_what_runs_is_held_again(process: Process, is_ours: bool) -> None:
    await process.begin(600)
    await process.forget(is_ours=is_ours)
    assert await refusal(process.begin(401)) == "account.prepaid_credit"
    assert (await process.begin(400)).headers["x-parlance-credit-remaining"] == "0"


@pytest.mark.parametrize("is_ours", [True, False])
async def test_what_ends_afterwards_is_used_up_once(process: Process, is_ours: bool) -> None:
    running = await process.begin(600)
    await process.forget(is_ours=is_ours)
    other = await process.begin(100)
    await running.leave(600, 250)
    await other.leave(100, 100)
    assert (await process.begin(650)).headers["x-parlance-credit-remaining"] == "0"


async def test_text_that_comes_afterwards_is_held_with_the_rest(process: Process) -> None:
    running = await process.begin(100)
    await process.forget(is_ours=True)
    await running.grow(600)
    assert await refusal(process.begin(401)) == "account.prepaid_credit"
    assert await refusal(running.grow(1001)) == "account.prepaid_credit"
    await running.grow(1000)


async def test_what_was_spoken_is_read_from_the_ledger(process: Process, alice: Party) -> None:
    await process.begin(1)
    await sync_to_async(speak)(alice.tenant, 900, datetime.now(UTC))
    await process.forget(is_ours=False)
    assert await refusal(process.begin(100)) == "account.prepaid_credit"
    assert (await process.begin(99)).headers["x-parlance-credit-remaining"] == "0"
