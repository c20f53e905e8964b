"""Who may open ElevenLabs' sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_socket import FORMAT, closed, failed, hear, opened, received, send
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.test_tokens import mark
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.elevenlabs import sockets
from ttsapp.keys import single_use
from ttsapp.keys.services import revoke_key, rotate_key

RACHEL = "21m00Tcm4TlvDq8ikWAM"


@pytest.fixture
def voice(base: str) -> str:
    return base.replace("http:", "ws:") + f"/v1/text-to-speech/{RACHEL}"


@pytest.fixture
def multi(voice: str, alice: Party) -> Iterator[ClientConnection]:
    with opened(f"{voice}/multi-stream-input?{FORMAT}", alice) as client:
        yield client


@pytest.mark.parametrize("field", ["xi_api_key", "xi-api-key", "authorization"])
def test_the_key_in_the_first_message(voice: str, alice: Party, field: str) -> None:
    with connect(f"{voice}/multi-stream-input?{FORMAT}") as socket:
        send(socket, " ", **{field: alice.secret})
        send(socket, "Hello.")
        send(socket, close_context=True)
        assert hear(socket, "default") == spoken(5)
    assert UsageEvent.objects.get().tenant_id == alice.tenant.id


@pytest.mark.parametrize("call", ["multi-stream-input", "stream-input"])
@pytest.mark.parametrize("fields", [{}, {"xi_api_key": "nonsense"}])
def test_no_key_in_the_first_message(
    voice: str, engine: ScriptedEngine, call: str, fields: dict
) -> None:
    with connect(f"{voice}/{call}") as socket:
        send(socket, "Hello.", **fields)
        failed(socket, "invalid_api_key")
        assert closed(socket) == 1008
    assert engine.heard == []


def test_a_wrong_key_is_refused_in_the_handshake(voice: str) -> None:
    headers = {"xi-api-key": "nonsense"}
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(f"{voice}/stream-input", additional_headers=headers),
    ):
        pass
    assert refusal.value.response.status_code == 401
    assert json.loads(refusal.value.response.body)["detail"]["status"] == "invalid_api_key"


def test_a_revoked_key(multi: ClientConnection, alice: Party) -> None:
    """No context begins with it, a second later at most."""
    revoke_key(SYSTEM, alice.key)
    last: dict = {}

    def is_refused() -> bool:
        send(multi, "Hello.")
        send(multi, close_context=True)
        while not (last.get("isFinal") or "error" in last):
            last.update(received(multi))
        is_over = "error" in last
        return is_over or bool(last.clear())

    eventually(is_refused)
    assert last["error"] == "invalid_api_key"
    assert closed(multi) == 1008


def test_a_key_that_is_revoked_while_text_waits(
    multi: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    send(multi, "One.")
    send(multi, close_context=True)
    assert received(multi)["audio"]  # all that comes before the engine holds
    send(multi, "Two.")
    # A message that is answered: the ones before it have arrived.
    send(multi, context_id="b", close_context=True)
    while received(multi)["contextId"] != "b":
        pass
    revoke_key(SYSTEM, alice.key)
    assert failed(multi, "invalid_api_key")["contextId"] == "default"
    assert received(multi)["isFinal"] is True
    # Its next text begins nothing more.
    assert "contextId" not in failed(multi, "invalid_api_key")
    assert closed(multi) == 1008
    assert len(engine.heard) == 1


def test_no_first_message(voice: str, alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LATE_KEY_SECONDS", 0.1)
    with connect(f"{voice}/multi-stream-input") as socket:
        failed(socket, "invalid_api_key")
        assert closed(socket) == 1008


def test_a_single_use_token_opens_one_socket(voice: str, alice: Party) -> None:
    token = single_use.mint(alice.key.public_id, mark(alice))
    url = f"{voice}/multi-stream-input?{FORMAT}&single_use_token={token}"
    with connect(url) as socket:
        for _ in range(2):
            send(socket, "Hello.")
            send(socket, close_context=True)
            assert hear(socket, "default") == spoken(5)
    assert {event.key_id for event in UsageEvent.objects.all()} == {alice.key.id}
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
    assert "used before" in json.loads(refusal.value.response.body)["detail"]["message"]


@pytest.mark.parametrize("fault", ["expired", "forged", "revoked", "rotated"])
def test_a_bad_single_use_token(
    voice: str, alice: Party, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "expired":
        monkeypatch.setattr(single_use, "SECONDS", -1)
    token = single_use.mint(alice.key.public_id, mark(alice))
    if fault == "forged":
        token = token[:-3] + "AAA"
    if fault == "revoked":
        revoke_key(SYSTEM, alice.key)
    if fault == "rotated":
        rotate_key(SYSTEM, alice.key, timedelta(0))
    url = f"{voice}/stream-input?single_use_token={token}"
    with pytest.raises(InvalidStatus) as refusal, connect(url):
        pass
    assert refusal.value.response.status_code == 401
