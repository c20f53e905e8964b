"""Limits with Redis: shared by all processes, renewed while streams live; and without it."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import redis.asyncio
from django.conf import LazySettings, settings
from structlog.testing import capture_logs

from ttsapp.limits import stores as module
from ttsapp.limits.rules import Ask, Limit, Limits, Purse, Subject
from ttsapp.limits.spending import counted, forget
from ttsapp.limits.stores import Stores

REDIS = os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0"
ALERT = "limits are kept by this process alone: Redis does not answer"


def ask(name: str, **limits: int) -> Ask:
    return Ask(str(uuid.uuid4()), (Subject(name, Limits(**limits)),), 10, "2027-01", 1000)


@pytest.fixture
def name() -> str:
    return f"test-{uuid.uuid4()}"


@pytest.fixture
async def two() -> AsyncIterator[tuple[Stores, Stores]]:
    """As two web processes would have them."""
    probe = redis.asyncio.Redis.from_url(REDIS)
    try:
        await probe.ping()
    except redis.ConnectionError:
        if os.environ.get("PARLANCE_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip("no Redis")
    finally:
        await probe.aclose()
    both = Stores(REDIS), Stores(REDIS)
    yield both
    for one in both:
        await one.close()


@pytest.mark.services
async def test_two_processes_count_together(two: tuple[Stores, Stores], name: str) -> None:
    refusals = []
    for place in range(4):
        _, answer = await two[place % 2].admit(ask(name, requests_per_minute=3))
        refusals.append(answer.refusal.limit if answer.refusal else None)
    assert refusals == [None, None, None, Limit.REQUESTS]


@pytest.mark.services
async def test_many_at_once_never_pass_the_limit(two: tuple[Stores, Stores], name: str) -> None:
    asks = [ask(name, concurrent_streams=5) for _ in range(40)]
    answers = await asyncio.gather(*(two[n % 2].admit(one) for n, one in enumerate(asks)))
    assert sum(answer.refusal is None for _, answer in answers) == 5


@pytest.mark.services
async def test_what_one_process_ends_another_may_begin(
    two: tuple[Stores, Stores], name: str
) -> None:
    first = ask(name, concurrent_streams=1)
    store, _ = await two[0].admit(first)
    assert (await two[1].admit(ask(name, concurrent_streams=1)))[1].refusal is not None
    await two[0].release(store, first, 0, 0)
    assert (await two[1].admit(ask(name, concurrent_streams=1)))[1].refusal is None


@pytest.mark.services
async def test_streams_are_renewed_while_they_live_and_end_with_their_process(
    two: tuple[Stores, Stores], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ttsapp.limits import shared

    monkeypatch.setattr(module, "LEASE_MS", 300)
    monkeypatch.setattr(shared, "LEASE_MS", 300)
    living = ask(name, concurrent_streams=1)
    store, _ = await two[0].admit(living)
    two[0].hold(store, living)
    for _ in range(5):
        await asyncio.sleep(0.1)
        assert (await two[1].admit(ask(name, concurrent_streams=1)))[1].refusal is not None
    # The process dies here: nobody renews, nobody releases.
    two[0]._living.clear()
    for _ in range(100):
        await asyncio.sleep(0.1)
        if (await two[1].admit(ask(name, concurrent_streams=1)))[1].refusal is None:
            return
    pytest.fail("its stream was never freed")


@pytest.mark.services
async def test_what_ends_while_it_is_renewed_has_ended(
    two: tuple[Stores, Stores], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = ask(name, concurrent_streams=1)
    store, _ = await two[0].admit(living)
    two[0].hold(store, living)
    renew = store.renew

    async def late(asks: list[Ask]) -> None:
        await asyncio.sleep(0.05)
        await renew(asks)

    monkeypatch.setattr(store, "renew", late)
    two[0]._renew_now()
    await asyncio.sleep(0)
    await two[0].release(store, living, 0, 0)
    assert (await two[1].admit(ask(name, concurrent_streams=1)))[1].refusal is None


@pytest.mark.services
async def test_a_redis_that_forgot_its_scripts_is_told_them_again(
    two: tuple[Stores, Stores], name: str
) -> None:
    client = redis.asyncio.Redis.from_url(REDIS)
    await two[0].admit(ask(name, requests_per_minute=5))
    await client.script_flush()
    await client.aclose()
    store, answer = await two[0].admit(ask(name, requests_per_minute=5))
    assert (store, answer.states[0].requests) == (two[0].shared, 2)


@pytest.mark.services
async def test_two_installations_of_one_redis_count_apart(
    two: tuple[Stores, Stores], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SECRET_KEY", "of another installation")
    other = Stores(REDIS)
    assert (await two[0].admit(ask(name, requests_per_minute=1)))[1].refusal is None
    store, answer = await other.admit(ask(name, requests_per_minute=1))
    assert (store, answer.refusal) == (other.shared, None)
    await other.close()


async def test_without_redis_the_process_keeps_the_limits_itself(name: str) -> None:
    away = Stores(f"redis://127.0.0.1:{_free_port()}/0")
    with capture_logs() as logs:
        answers = [await away.admit(ask(name, requests_per_minute=2)) for _ in range(3)]

    assert [answer.refusal is None for _, answer in answers] == [True, True, False]
    assert all(store is away.local for store, _ in answers)
    # The pause: asked once, not by every request.
    assert [line["event"] for line in logs if line["log_level"] == "error"] == [ALERT]
    await away.close()


async def test_a_redis_that_hangs_is_waited_for_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        away = Stores(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        with capture_logs() as logs:
            answers = [await away.admit(ask(name, concurrent_streams=1)) for _ in range(2)]
        assert [answer.refusal is None for _, answer in answers] == [True, False]
        assert len([line for line in logs if line["event"] == ALERT]) == 1
        await away.close()


async def test_what_began_without_redis_ends_without_it(name: str) -> None:
    away = Stores(f"redis://127.0.0.1:{_free_port()}/0")
    first = ask(name, concurrent_streams=1)
    store, _ = await away.admit(first)
    away.hold(store, first)
    await away.release(store, first, 0, 0)
    assert (await away.admit(ask(name, concurrent_streams=1)))[1].refusal is None
    await away.close()


@pytest.mark.services
async def test_redis_is_asked_again_after_the_pause(two: tuple[Stores, Stores], name: str) -> None:
    two[0]._away_until = float("inf")
    assert (await two[0].admit(ask(name)))[0] is two[0].local
    two[0]._away_until = 0.0
    assert (await two[0].admit(ask(name)))[0] is two[0].shared


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.services
async def test_what_is_read_again_is_not_told_to_a_redis_that_forgot(
    two: tuple[Stores, Stores], name: str
) -> None:
    """Given a stream that holds budget and credit, when Redis forgets it while the ledger is read
    again, then what that says, which is without what runs, is not taken for all there is."""
    purse = Purse("EUR", funds=1000, cost=10, per_million=1_000_000)
    wanted = replace(ask(name, hard_monthly_characters=10), purse=purse)
    store, _ = await two[0].admit(wanted)
    await two[0].tell_spent(store, wanted, 0, 0, again=False)
    await two[0].tell_used(store, wanted, 0, again=False)
    assert (await two[0].admit(wanted))[1].refusal is None
    async with redis.asyncio.Redis.from_url(REDIS) as client:
        await client.delete(*await client.keys(f"*{name}*"))

    await two[0].tell_spent(store, wanted, 0, 0, again=True)
    await two[0].tell_used(store, wanted, 0, again=True)

    answer = (await two[0].admit(wanted))[1]
    assert (answer.unknown, answer.is_credit_unknown) == ((0,), True)


@pytest.mark.services
async def test_what_was_spent_is_told_and_forgotten(
    two: tuple[Stores, Stores], name: str, settings: LazySettings
) -> None:
    settings.REDIS_URL = REDIS
    wanted = ask(name, hard_monthly_characters=100)
    store, answer = await two[0].admit(wanted)
    assert answer.unknown == (0,)
    await two[0].tell_spent(store, wanted, 0, 30, again=False)
    await two[0].admit(wanted)
    await two[0].release(store, wanted, 0, 7)

    assert (await asyncio.to_thread(counted, "2027-01"))[name] == 37
    await asyncio.to_thread(forget, "2027-01", [name])

    assert name not in await asyncio.to_thread(counted, "2027-01")
    assert (await two[1].admit(ask(name, hard_monthly_characters=100)))[1].unknown == (0,)
