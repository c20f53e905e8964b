"""DashScope's realtime socket as its clients use it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.conftest import Party

OPENING = ["response.created", "response.output_item.added", "response.content_part.added"]


CLOSING = [
    *("response.audio.done", "response.content_part.done", "response.output_item.done"),
    "response.done",
]


PLACE = {"output_index": 0, "content_index": 0}


def url_of(base: str) -> str:
    return base.replace("http:", "ws:") + "/api-ws/v1/realtime"


@contextmanager
def opened(url: str, party: Party) -> Iterator[ClientConnection]:
    address = f"{url}?model=qwen3-tts-flash-realtime"
    with connect(address, additional_headers=party.headers) as client:
        assert received(client)["type"] == "session.created"
        yield client


def send(socket: ClientConnection, kind: str, **fields: object) -> None:
    socket.send(json.dumps({"event_id": "event_mine", "type": kind, **fields}))


def update(socket: ClientConnection, **fields: object) -> dict:
    send(socket, "session.update", session=fields)
    return received(socket)


def append(socket: ClientConnection, text: str) -> None:
    send(socket, "input_text_buffer.append", text=text)


def commit(socket: ClientConnection, text: str) -> None:
    append(socket, text)
    send(socket, "input_text_buffer.commit")


def received(socket: ClientConnection) -> dict:
    message = socket.recv(10)
    assert isinstance(message, str), "its clients take no binary message"
    return json.loads(message)


def until(socket: ClientConnection, *kinds: str) -> list[dict]:
    """Everything up to an event of one of these kinds."""
    heard = [received(socket)]
    while heard[-1]["type"] not in kinds:
        heard.append(received(socket))
    return heard


def kinds(events: list[dict]) -> list[str]:
    """A row of deltas counts as one."""
    found: list[str] = []
    for event in events:
        if not (event["type"] == "response.audio.delta" and found[-1:] == [event["type"]]):
            found.append(event["type"])
    return found


def audio(events: list[dict]) -> bytes:
    deltas = [event["delta"] for event in events if event["type"] == "response.audio.delta"]
    return b"".join(base64.b64decode(delta) for delta in deltas)


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code
