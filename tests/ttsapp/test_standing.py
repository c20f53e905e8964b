"""Speech that is under way when its key is revoked or its account suspended ends within a second;
nobody else's does."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.live_socket.client import PATH, hear, send, start
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import revoke_key
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.services import restore_tenant, suspend_tenant


def suspend(party: Party) -> None:
    suspend_tenant(SYSTEM, party.tenant, "unpaid")


def revoke(party: Party) -> None:
    revoke_key(SYSTEM, party.key)


ENDS = [(suspend, 403, "tenant_suspended"), (revoke, 401, "revoked_api_key")]


@pytest.mark.parametrize(("end", "status", "code"), ENDS, ids=["suspended", "revoked"])
def test_an_answer_that_is_streamed(
    http: httpx.Client,
    alice: Party,
    engine: ScriptedEngine,
    end: Callable[[Party], None],
    status: int,
    code: str,
) -> None:
    engine.script.hold_after = 2
    with (
        pytest.raises(httpx.RemoteProtocolError),
        http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as response,
    ):
        end(alice)
        heard = b"".join(response.iter_raw())
        assert heard == spoken(2)
    assert engine.heard[0].ended.wait(5)
    row = eventually(RequestLog.objects.first)
    assert isinstance(row, RequestLog)
    assert (row.status, row.error_code) == (status, code)
    event = UsageEvent.objects.get()
    assert event.outcome == "cancelled"
    assert 0 < event.billed_characters < event.characters


def test_a_text_that_is_still_being_written(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    url = base.replace("http:", "ws:") + PATH
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket)
        send(socket, type="text", text="A first sentence. And")
        engine.wait_for_stream()
        suspend(alice)
        _, told = hear(socket)
        while told["type"] != "error":
            _, told = hear(socket)
        assert told["error"]["code"] == "tenant_suspended"
        send(socket, type="start", voice="alloy")
        assert json.loads(socket.recv(10))["error"]["code"] == "tenant_suspended"
        with pytest.raises(ConnectionClosedError) as closed:
            socket.recv(10)
        assert closed.value.rcvd.code == 1008


def test_another_tenants_goes_on(
    http: httpx.Client, alice: Party, bob: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    hers, his = (
        http.stream("POST", "/v1/audio/speech", json=speech(), headers=party.headers)
        for party in (alice, bob)
    )
    with his as answer:
        with pytest.raises(httpx.RemoteProtocolError), hers as ended:
            suspend(alice)
            ended.read()
        engine.release.set()
        assert answer.read() == spoken(5)
    engine.script.hold_after = None
    restore_tenant(SYSTEM, alice.tenant)
    eventually(
        lambda: http.post("/v1/audio/speech", json=speech(), headers=alice.headers).is_success
    )
