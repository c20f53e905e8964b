"""A client of /v1/audio/speech/ws."""

from __future__ import annotations

import contextlib
import json
import socket as socket_module
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import spoken

PATH = "/v1/audio/speech/ws"


def send(socket: ClientConnection, **message: object) -> None:
    socket.send(json.dumps(message))


def start(socket: ClientConnection, **fields: object) -> dict:
    send(socket, type="start", **{"voice": "alloy", **fields})
    accepted = json.loads(socket.recv(10))
    assert accepted["type"] == "accepted", accepted
    return accepted


def hear(socket: ClientConnection) -> tuple[bytes, dict]:
    """All audio up to the next message, and that message."""
    audio = b""
    while isinstance(piece := socket.recv(10), bytes):
        audio += piece
    return audio, json.loads(piece)


def refused(socket: ClientConnection, code: str, param: str | None) -> dict:
    audio, message = hear(socket)
    assert (audio, message["type"]) == (b"", "error")
    assert set(message["error"]) == {"message", "type", "param", "code"}
    assert (message["error"]["code"], message["error"]["param"]) == (code, param)
    return message


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def still_works(socket: ClientConnection) -> bool:
    start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, finished = hear(socket)
    return audio == spoken(5) and finished["type"] == "finished"


@contextlib.contextmanager
def raw_socket(url: str, party: Party) -> Iterator[socket_module.socket]:
    """A WebSocket after its handshake, for what no library would send."""
    host, port = url.removeprefix("ws://").split("/")[0].split(":")
    head = f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head += f"Authorization: {party.headers['Authorization']}\r\n\r\n"
    with socket_module.create_connection((host, int(port)), 5) as client:
        client.sendall(head.encode())
        assert b" 101 " in client.recv(4096)
        yield client
