"""Sockets are opened under the host names that requests are answered under."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine

SPEAK = "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM"
PATHS = [
    "/v1/audio/speech/ws",
    "/tts/websocket",
    "/api-ws/v1/realtime",
    "/v1/speak",
    f"{SPEAK}/stream-input",
    f"{SPEAK}/multi-stream-input",
]


def opened(base: str, host: str, path: str, party: Party) -> ClientConnection:
    place = urlsplit(base)
    reached = socket.create_connection((place.hostname, place.port))
    return connect(f"ws://{host}{path}", sock=reached, additional_headers=party.headers)


@pytest.mark.parametrize("path", PATHS)
def test_another_host_is_refused(
    base: str, alice: Party, engine: ScriptedEngine, path: str
) -> None:
    with pytest.raises(InvalidStatus) as refusal, opened(base, "evil.example", path, alice):
        pass
    response = refusal.value.response
    assert response.status_code == 400
    assert "This host name is not served here" in response.body.decode()
    assert engine.heard == []


def test_the_refusal_has_the_dialects_shape(base: str, alice: Party) -> None:
    with pytest.raises(InvalidStatus) as refusal, opened(base, "evil.example", PATHS[0], alice):
        pass
    assert json.loads(refusal.value.response.body)["error"]["code"] == "unknown_host"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "[::1]:9"])
def test_hosts_that_are_served(base: str, alice: Party, host: str) -> None:
    with opened(base, host, PATHS[0], alice) as client:
        client.ping().wait(10)
