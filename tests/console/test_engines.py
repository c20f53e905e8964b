"""The live view of the engines: over the socket, by asking, and who gets neither."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client
from django.utils import timezone
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, base, engine, engine_thread, eventually, web_thread
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.seeded import use
from ttsapp.audit.services import SYSTEM
from ttsapp.console.live.sampler import Sampler
from ttsapp.speech import history
from ttsapp.tenants.models import PlatformRole
from ttsapp.tenants.services import set_platform_role, take_platform_role

__all__ = ["base", "engine", "engine_thread", "web_thread"]


@pytest.fixture
def operator(transactional_db: None, alice: Party) -> Client:
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    client = Client()
    client.force_login(alice.user)
    return client


def messages(base: str, client: Client, count: int, origin: str = "") -> list[dict]:
    """What the socket says."""

    async def listen() -> list[dict]:
        headers = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
        url = f"{base.replace('http', 'ws')}/platform/engines/live"
        async with asyncio.timeout(10):
            async with connect(url, additional_headers=headers, origin=origin or base) as socket:
                return [json.loads(await socket.recv()) for _ in range(count)]

    return async_to_sync(listen)()


def test_it_works(base: str, operator: Client) -> None:
    first, second = messages(base, operator, 2)
    for message in (first, second):
        (engine,) = message["engines"]
        assert (engine["id"], engine["state"]) == ("scripted", "ready")
        assert engine["about"].startswith("serves scripted-")
        assert message["waits"]["count"] == "0"


def test_the_same_by_asking(base: str, operator: Client, alice: Party) -> None:
    (engine,) = operator.get("/platform/engines/now").json()["engines"]
    take_platform_role(SYSTEM, alice.user)
    refusals = [client.get("/platform/engines/now") for client in (Client(), operator)]
    assert engine["state"] == "ready"
    assert [answer.status_code for answer in refusals] == [401, 404]


def test_waits_and_memory_are_shown_and_sent(
    base: str, operator: Client, engine: ScriptedEngine
) -> None:
    engine.told.waits["codec"].CopyFrom(pb.WaitStatus(rows=7, median_ms=1.5, p95_ms=25.0))
    engine.told.memory.parts["weights"] = 3 << 20

    # What an engine says is asked for once a second.
    (sent,) = eventually(
        lambda: [told for told in messages(base, operator, 1)[0]["engines"] if told["between"]]
    )
    page = operator.get("/platform/engines").content.decode()

    assert sent["between"][0]["p95"] == "25"
    assert sent["parts"][0]["bytes"] == "3.0 MiB"
    assert 'data-live="engines.0.between.0.p95">25</td>' in page
    assert 'data-live="engines.0.parts.0.bytes">3.0 MiB</td>' in page
    assert '<rect class="weights" y="0" height="10" x="0.0" width="100.0"' in page


def test_another_site_gets_nothing(base: str, operator: Client) -> None:
    with pytest.raises(InvalidStatus):
        messages(base, operator, 1, origin="https://evil.example")


def test_who_has_no_role_gets_nothing(base: str, operator: Client, alice: Party) -> None:
    take_platform_role(SYSTEM, alice.user)
    with pytest.raises(InvalidStatus):
        messages(base, operator, 1)


def test_the_last_failure_of_an_engine_is_shown(
    operator: Client, engine: ScriptedEngine, alice: Party, bob: Party
) -> None:
    now = timezone.now()
    for party, minutes, ended, by in (
        (alice, 3, "error", "scripted"),
        (bob, 5, "error", "scripted"),
        (alice, 1, "stop", "scripted"),
        (alice, 1, "error", "another"),
    ):
        request = use(party.tenant, party.key, now - timedelta(minutes=minutes), ended)
        UsageEvent.objects.filter(pk=request).update(engine=by)

    found = history.last_failures(now - timedelta(hours=1))["scripted"]
    page = operator.get("/platform/engines").content.decode()

    assert (found.at, found.code) == (now - timedelta(minutes=3), "engine_unavailable")
    assert "last failure <code>engine_unavailable</code>" in page


def test_an_hour_without_a_failure_says_so(
    operator: Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = use(alice.tenant, alice.key, timezone.now() - timedelta(minutes=61), "error")
    UsageEvent.objects.filter(pk=request).update(engine="scripted")
    page = operator.get("/platform/engines").content.decode()
    assert "no request failed in the last hour" in page


def test_an_engine_that_is_away_is_told_of(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ["unix:/nowhere/engine.sock"])
    (found,) = async_to_sync(Sampler()._look)()
    assert (found.state, found.fits) == ("away", 0)
