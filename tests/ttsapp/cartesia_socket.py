"""A client of Cartesia's socket."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.cartesia_calls import body


class Socket:
    def __init__(self, link: ClientConnection) -> None:
        self.link = link

    def send(self, message: object) -> None:
        self.link.send(message if isinstance(message, str) else json.dumps(message))

    def say(self, transcript: str, **fields: Any) -> None:
        """A whole message that ends context `a` unless told otherwise."""
        self.send(body(**{"transcript": transcript, "context_id": "a", **fields}))

    def next(self) -> dict[str, Any]:
        return json.loads(self.link.recv(10))

    def until(self, kind: str) -> list[dict[str, Any]]:
        """All messages up to one of that type, and that one."""
        told = [self.next()]
        while told[-1]["type"] != kind:
            assert told[-1]["type"] != "error", told[-1]
            told.append(self.next())
        return told

    def audio(self) -> bytes:
        return b"".join(base64.b64decode(one["data"]) for one in self.until("done")[:-1])


@contextmanager
def opened(url: str, headers: dict[str, str]) -> Iterator[Socket]:
    with connect(url, additional_headers=headers) as link:
        yield Socket(link)
