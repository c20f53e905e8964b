"""Speaking with ElevenLabs' sockets."""

from __future__ import annotations

import base64
import json

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.conftest import Party

FORMAT = "output_format=pcm_24000"


def opened(url: str, party: Party) -> ClientConnection:
    return connect(url, additional_headers={"xi-api-key": party.secret})


def send(socket: ClientConnection, text: str | None = None, **fields: object) -> None:
    message = fields if text is None else {"text": text, **fields}
    socket.send(json.dumps(message))


def received(socket: ClientConnection) -> dict:
    return json.loads(socket.recv(10))


def hear(socket: ClientConnection, name: str | None = None) -> bytes:
    """All audio of one context, up to its last message."""
    audio = b""
    while True:
        message = received(socket)
        assert "error" not in message, message
        assert message.get("contextId") == name
        if message["isFinal"]:
            assert message["audio"] is None
            return audio
        assert {"alignment", "normalizedAlignment"} <= set(message)
        audio += base64.b64decode(message["audio"])


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def failed(socket: ClientConnection, error: str, code: int = 1008) -> dict:
    message = received(socket)
    assert (message["error"], message["code"]) == (error, code)
    assert message["message"]
    return message
