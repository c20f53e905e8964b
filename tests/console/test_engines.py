"""The live view of the engines: over the socket, by asking, and who gets neither."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.ttsapp.conftest import Party, base, engine, engine_thread, web_thread
from ttsapp.audit.services import SYSTEM
from ttsapp.console.live.sampler import Sampler
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


def test_another_site_gets_nothing(base: str, operator: Client) -> None:
    with pytest.raises(InvalidStatus):
        messages(base, operator, 1, origin="https://evil.example")


def test_who_has_no_role_gets_nothing(base: str, operator: Client, alice: Party) -> None:
    take_platform_role(SYSTEM, alice.user)
    with pytest.raises(InvalidStatus):
        messages(base, operator, 1)


def test_an_engine_that_is_away_is_told_of(alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ["unix:/nowhere/engine.sock"])
    (found,) = async_to_sync(Sampler()._look)()
    assert (found.state, found.fits) == ("away", 0)
