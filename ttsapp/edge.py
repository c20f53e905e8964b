"""What happens at the edge of the process, before Django sees a request and after it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from django.core.handlers.asgi import ASGIHandler

from ttsapp import background, ids
from ttsapp.dialects.openai import codec
from ttsapp.engine import client
from ttsapp.errors import ApiError
from ttsapp.http import is_api

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DRAIN_SECONDS = 10.0


class _TooLargeError(Exception):
    pass


class BodyLimit:
    """Refuses a body above the limit while it arrives, whatever its length claims to be."""

    def __init__(self, application: Any, limit: int) -> None:
        self._application = application
        self._limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._limit:
                raise _TooLargeError
            return message

        try:
            if _claimed_length(scope) > self._limit:
                raise _TooLargeError
            await self._application(scope, limited, send)
        except _TooLargeError:
            await _refuse(send, self._limit)


class PagesAndApi(ASGIHandler):
    """Django's handler. It opens a thread for each request, which only the pages need: starting
    one holds up the loop for half a millisecond, and with it every stream."""

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if is_api(scope["path"]):
            await self.handle(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class Lifespan:
    """Lets what runs in the background end before the process does."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await background.drain(DRAIN_SECONDS)
                await client.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


class RefuseUnknownSockets:
    """403 in the handshake for a path that no socket lives at."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.close"})


def _claimed_length(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: Send, limit: int) -> None:
    error = ApiError(413, "request_too_large", f"The most a request may carry is {limit} bytes.")
    headers = [
        (b"content-type", b"application/json"),
        (b"x-request-id", str(ids.uuid7()).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": msgspec.json.encode(codec.error_body(error))})
