"""DashScope's dialect: how its socket and its responses end, and who may use it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.dashscope_socket import (
    append,
    closed,
    commit,
    kinds,
    opened,
    received,
    send,
    until,
    update,
    url_of,
)
from tests.ttsapp.scripted_engine import Script, ScriptedEngine
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.dashscope import session
from ttsapp.errors import ApiError
from ttsapp.keys.services import create_key, revoke_key
from ttsapp.speech.models import RequestLog


@pytest.fixture
def url(base: str) -> str:
    return url_of(base)


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(url, alice) as client:
        yield client


def test_a_broken_engine(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    commit(socket, "Hello.")
    events = until(socket, "response.done")
    told = [event["error"] for event in events if event["type"] == "error"]
    assert [(error["type"], error["code"]) for error in told] == [("server_error", "internal")]
    assert events[-1]["response"]["status"] == "failed"
    assert closed(socket) == 1011


def test_a_revoked_key(socket: ClientConnection, alice: Party) -> None:
    revoke_key(SYSTEM, alice.key)

    def is_refused() -> bool:
        commit(socket, "Hello.")
        return until(socket, "response.done", "error")[-1]["type"] == "error"

    eventually(is_refused)
    assert closed(socket) == 1008


def test_a_model_that_is_not_served(url: str, alice: Party) -> None:
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(f"{url}?model=qwen-vl", additional_headers=alice.headers),
    ):
        pass
    assert refusal.value.response.status_code == 404
    assert json.loads(refusal.value.response.body)["code"] == "ModelNotFound"


def test_no_key(url: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["code"] == "InvalidApiKey"


def test_finish_while_the_engine_is_away(
    socket: ClientConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: object) -> None:
        raise ApiError(503, "engine_unavailable", "The engine is away.")

    append(socket, "Hello")
    monkeypatch.setattr(session, "catalogue", away)
    send(socket, "session.finish")
    assert until(socket, "error")[-1]["error"]["code"] == "engine_unavailable"
    assert closed(socket) == 1011
    eventually(lambda: RequestLog.objects.filter(error_code="engine_unavailable").exists())


def test_more_text_after_the_finish(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script = Script(chunks=5, hold_after=1)
    append(socket, "Hello.")
    send(socket, "session.finish")
    until(socket, "response.audio.delta")
    append(socket, "And more.")
    assert until(socket, "error")[-1]["error"]["code"] == "out_of_order"
    engine.release.set()
    until(socket, "session.finished")
    assert closed(socket) == 1000


def test_a_text_longer_than_a_response_may_be(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    """Two responses, and not a character is lost."""
    texts = [f"Sentence {number} of a very long story. " for number in range(150)]
    for text in texts:
        append(socket, text)
    send(socket, "session.finish")
    events = until(socket, "session.finished")
    assert kinds(events).count("response.done") == 2
    assert "".join(heard.text for heard in engine.heard) == "".join(texts)
    assert closed(socket) == 1000


def test_a_client_that_leaves_frees_the_engine_and_pays_for_what_it_heard(
    url: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=50, hold_after=2)
    with connect(url, additional_headers=alice.headers) as client:
        commit(client, "A long story that nobody will hear to its end.")
        until(client, "response.audio.delta")
        append(client, "And what waits costs nothing.")
    assert engine.heard[0].ended.wait(10)
    event = eventually(UsageEvent.objects.first)
    assert event.outcome == "cancelled"
    assert 0 < event.billed_characters < 46


def test_a_key_for_one_voice_alone(url: str, alice: Party, engine: ScriptedEngine) -> None:
    """It opens a session whose usual voice it may not use, and sets its own."""
    _, secret = create_key(SYSTEM, alice.tenant, "Ben's", allowed_voices=["Ben"])
    with connect(url, additional_headers={"Authorization": f"Bearer {secret}"}) as client:
        received(client)
        assert update(client, voice="Ethan")["type"] == "session.updated"
        commit(client, "Hello.")
        until(client, "response.done")
        assert update(client, voice="Cherry")["error"]["code"] == "voice_not_allowed"
        commit(client, "Hello again.")
        until(client, "response.done")
    assert [heard.start.voice.preset for heard in engine.heard] == ["Ben", "Ben"]


def test_an_origin_is_no_hindrance(base: str, url: str, alice: Party) -> None:
    headers = {**alice.headers, "X-DashScope-WorkSpace": "mine"}
    prefixed = url.replace("/api-ws", "/dashscope/api-ws")
    with connect(prefixed, additional_headers=headers, origin=base) as client:
        assert received(client)["type"] == "session.created"


def test_usage_stays_with_its_tenant(url: str, alice: Party, bob: Party, mallory: Party) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        with connect(url, additional_headers=party.headers) as client:
            commit(client, text)
            until(client, "response.done")
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
