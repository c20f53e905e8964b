"""What Cartesia's socket refuses, and how it says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.cartesia_calls import RAW, body
from tests.ttsapp.cartesia_socket import Socket, opened
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import revoke_key
from ttsapp.speech.models import RequestLog


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + "/tts/websocket"


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[Socket]:
    with opened(url, alice.headers) as client:
        yield client


def refused(told: dict[str, Any], status: int, code: str, name: str | None = "a") -> str:
    fields = {"type", "title", "message", "error_code", "request_id", "status_code", "done"}
    assert set(told) == {*fields, "context_id"}
    assert (told["type"], told["done"], told["context_id"]) == ("error", False, name)
    assert (told["status_code"], told["error_code"]) == (status, code)
    return told["message"]


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"transcript": ...}, "missing_field", "transcript is required"),
        ({"model_id": ...}, "missing_field", "model_id is required"),
        ({"voice": ...}, "missing_field", "voice is required"),
        ({"voice": "nobody"}, "unknown_voice", "Unknown voice 'nobody'"),
        ({"output_format": {**RAW, "container": "wav"}}, "invalid_value", "choose one of raw."),
        ({"max_buffer_delay_ms": 5001}, "invalid_value", "max_buffer_delay_ms 5001"),
        ({"continue": "yes"}, "invalid_type", "continue is text"),
        ({"save": False}, "unknown_field", "Unknown field 'save'"),
        ({"transcript": "x" * 5000}, "string_above_max_length", "4096 characters"),
    ],
)
def test_it_goes_on(
    socket: Socket, engine: ScriptedEngine, fields: dict[str, Any], code: str, message: str
) -> None:
    socket.send(body(context_id="a", **fields))
    assert message in refused(socket.next(), 400, code)
    assert engine.heard == []
    socket.say("Fine.")
    assert socket.audio() == spoken(5)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ("[]", "invalid_json"),
        ('{"cancel": true}', "missing_field"),
        ('{"context_id": 7, "transcript": "Hi."}', "invalid_type"),
        ('{"transcript": "Hi."}', "missing_field"),
    ],
)
def test_a_message_of_nobody(socket: Socket, message: str, code: str) -> None:
    socket.send(message)
    told = socket.next()
    name = told["context_id"] if code == "missing_field" else None
    refused(told, 400, code, name)


def test_a_long_name(socket: Socket) -> None:
    socket.say("Hello.", context_id="x" * 257)
    assert "1 to 256" in refused(socket.next(), 400, "invalid_value", "x" * 256)


def test_settings_that_change(socket: Socket) -> None:
    """The context goes on as if that had not been said."""
    socket.say("Hello there.", **{"continue": True})
    socket.say(" You too.", voice="Ben")
    told = socket.next()
    while told["type"] == "chunk":
        told = socket.next()
    assert "voice cannot change" in refused(told, 400, "context_changed")


def test_text_after_the_end(socket: Socket, engine: ScriptedEngine) -> None:
    engine.script = Script(hold_after=0)
    socket.say("Hello there.")
    engine.wait_for_stream().reached.wait(10)
    socket.say("And then?")
    refused(socket.next(), 400, "out_of_order")
    engine.release.set()
    assert socket.audio() == spoken(5)


@pytest.mark.parametrize("how", ["done", "refused", "cancelled"])
def test_an_end_of_what_is_over_is_not_told_again(
    socket: Socket, engine: ScriptedEngine, how: str
) -> None:
    """A client that reads several contexts would take it for the end of another."""
    if how == "done":
        socket.say("Hello.")
        socket.until("done")
    elif how == "refused":
        socket.say("Hello.", voice="nobody")
        assert socket.next()["type"] == "error"
    else:
        socket.say("Half", **{"continue": True})
        socket.send({"context_id": "a", "cancel": True})
    socket.say("")
    socket.say("Next.", context_id="b")
    assert {one["context_id"] for one in socket.until("done")} == {"b"}


def test_too_many_contexts(socket: Socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttsapp.dialects.cartesia.sockets.MOST_CONTEXTS", 2)
    for name in ("a", "b", "c"):
        socket.say("Half", **{"continue": True, "context_id": name})
    refused(socket.next(), 429, "too_many_contexts", "c")
    eventually(lambda: RequestLog.objects.filter(status=429).exists())


def test_a_broken_engine_ends_one_context(socket: Socket, engine: ScriptedEngine) -> None:
    broken = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    engine.next_scripts.extend([broken, Script()])
    socket.say("Hello.")
    assert socket.next()["type"] == "chunk"
    refused(socket.next(), 500, "internal")
    socket.say("Again.")
    assert socket.audio() == spoken(5)
    assert sorted(UsageEvent.objects.values_list("billed_characters", flat=True)) == [0, 6]


def test_leaving_frees_the_engine(url: str, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(hold_after=1)
    with opened(url, alice.headers) as socket:
        socket.say("A long story.")
        socket.next()
    assert engine.heard[0].ended.wait(10)
    eventually(lambda: UsageEvent.objects.filter(outcome="cancelled").count() == 1)


def test_a_revoked_key(socket: Socket, alice: Party) -> None:
    revoke_key(SYSTEM, alice.key)

    def is_refused() -> bool:
        socket.say("Hello.")
        told = socket.next()
        while told["type"] == "chunk":
            told = socket.next()
        return told["type"] == "error" and bool(refused(told, 401, "revoked_api_key"))

    eventually(is_refused)
    with pytest.raises(ConnectionClosed) as ended:
        socket.next()
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 1008


@pytest.mark.parametrize("query", ["", "?api_key=nonsense&cartesia_version=2026-03-01"])
def test_the_handshake_without_a_key(url: str, query: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, connect(url + query):
        pass
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["error_code"] == "invalid_api_key"


@pytest.mark.parametrize("name", ["api_key", "access_token"])
def test_credentials_in_the_query(url: str, alice: Party, name: str) -> None:
    query = f"?cartesia_version=2025-04-16&{name}={alice.secret}"
    with opened(url.replace("/tts", "/cartesia/tts") + query, {}) as socket:
        socket.say("Hello.")
        assert socket.audio() == spoken(5)


def test_usage_stays_with_its_tenant(url: str, alice: Party, bob: Party, mallory: Party) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        with opened(url, {"X-API-Key": party.secret}) as socket:
            socket.say(text)
            assert socket.audio() == spoken(5)
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
