"""How many sockets, and texts spoken word by word, a tenant may have open at once."""

from __future__ import annotations

import json

import pytest
from django.conf import settings
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp import elevenlabs_socket as elevenlabs
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.live_socket.client import PATH, refused, send, start
from tests.ttsapp.scripted_engine import ScriptedEngine

PATHS = (PATH, "/tts/websocket", "/api-ws/v1/realtime", "/v1/speak")


@pytest.fixture
def sockets(base: str) -> str:
    return base.replace("http:", "ws:")


@pytest.fixture
def one_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TENANT_SOCKETS", 1)


@pytest.fixture
def one_live_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TENANT_LIVE_STREAMS", 1)


def test_the_last_place_is_given_to_one_tenant_in_every_api(
    sockets: str, one_socket: None, alice: Party, bob: Party
) -> None:
    with connect(sockets + PATH, additional_headers=alice.headers) as socket:
        start(socket)
        for path in PATHS:
            refusal = refused_handshake(sockets + path, alice)
            assert refusal.status_code == 429
            assert refusal.headers["x-parlance-limit"] == "account.sockets"
            assert refusal.headers["Retry-After"] == "1"
        with connect(sockets + PATH, additional_headers=bob.headers) as other:
            start(other)
    eventually(lambda: opens(sockets + PATH, alice))


def test_a_refused_handshake_takes_no_place(sockets: str, one_socket: None, alice: Party) -> None:
    wrong = f"{sockets}/v1/speak?encoding=nonsense"
    for _ in range(3):
        assert refused_handshake(wrong, alice).status_code == 400
    eventually(lambda: opens(sockets + PATH, alice))


def test_a_key_in_the_first_message_needs_a_place_too(
    sockets: str, one_socket: None, alice: Party
) -> None:
    url = f"{sockets}/v1/text-to-speech/Anna/multi-stream-input"
    with connect(sockets + PATH, additional_headers=alice.headers), connect(url) as late:
        elevenlabs.send(late, " ", xi_api_key=alice.secret)
        elevenlabs.failed(late, "too_many_sockets")
        assert elevenlabs.closed(late) == 1008


def test_texts_that_are_spoken_word_by_word(
    sockets: str, one_live_text: None, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    headers = alice.headers
    with connect(sockets + PATH, additional_headers=headers) as first:
        say_words(first)
        engine.wait_for_stream()
        with connect(sockets + PATH, additional_headers=headers) as second:
            say_words(second)
            refused(second, "too_many_live_streams", None)
            start(second)
            send(second, type="text", text="A whole sentence.")
            send(second, type="end")
            engine.wait_for_stream()
            engine.release.set()
    assert len(engine.heard) == 2
    with connect(sockets + PATH, additional_headers=headers) as third:
        eventually(lambda: is_spoken(third))


def say_words(socket: ClientConnection) -> None:
    start(socket, mode="token")
    send(socket, type="text", text="Some words of a text that is ")


def is_spoken(socket: ClientConnection) -> bool:
    say_words(socket)
    send(socket, type="end")
    while isinstance(told := socket.recv(10), bytes):
        pass
    return json.loads(told)["type"] != "error"


def refused_handshake(url: str, party: Party) -> Response:
    with pytest.raises(InvalidStatus) as refusal, connect(url, additional_headers=party.headers):
        pass
    return refusal.value.response


def opens(url: str, party: Party) -> bool:
    try:
        with connect(url, additional_headers=party.headers):
            return True
    except InvalidStatus:
        return False
