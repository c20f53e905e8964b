"""What happens at the edge of the process, before Django sees a request and after it is done."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.exception import convert_exception_to_response
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, resolve

from ttsapp import background, context, ids, stopping
from ttsapp.dialects import registry
from ttsapp.dialects.dialect import Rendered
from ttsapp.engine import client
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.http import is_api
from ttsapp.limits import stores as limits
from ttsapp.middleware import RequestContext
from ttsapp.server import connection
from ttsapp.speech.text import detect
from ttsapp.voices import lookout

log = structlog.get_logger()

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DRAIN_SECONDS = 10.0


class _TooLargeError(Exception):
    pass


class BodyLimit:
    """Refuses a body above its path's limit while it arrives, whatever its length claims to be."""

    def __init__(self, application: Any, limit_of: Callable[[str], int]) -> None:
        self._application = application
        self._limit_of = limit_of

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        taken, limit = 0, self._limit_of(scope["path"])

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise _TooLargeError
            return message

        try:
            if _claimed_length(scope) > limit:
                raise _TooLargeError
            await self._application(scope, limited, send)
        except _TooLargeError:
            await _refuse(scope["path"], send, limit)


class PagesAndApi(ASGIHandler):
    """Django's handler, with a shorter way through it for the API.

    Django gives each request a thread, two tasks and a file for its body, and lets go of what it
    does when the server stops. An API request is answered in the server's own task: it ends when
    its client leaves or the process does, and nothing is started that it need not wait for. Of the
    middleware only the outermost layer concerns it: sessions, CSRF and pages do not."""

    def __init__(self) -> None:
        super().__init__()
        views: Any = self
        inside: Any = convert_exception_to_response(views._get_response_async)
        self._api: Any = convert_exception_to_response(RequestContext(inside))

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        # No address has one, no id and no name: what lies there is looked for as for any other.
        scope["path"] = scope["path"].replace("\0", "\ufffd")
        context.connection.set(connection.of(scope))
        context.origin.set(context.origin_of(scope))
        if is_api(scope["path"]):
            await self._answer(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    def resolve_request(self, request: Any) -> ResolverMatch:
        """An API's few addresses lead to the same views: Django compares each with some sixty."""
        found: ResolverMatch
        if not is_api(request.path_info):
            found = super().resolve_request(request)
            return found
        found = request.resolver_match = _view_at(request.path_info)
        return found

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        body = await _whole_body(receive)
        if body is None:
            return
        client = _Client(receive)
        django: Any = self
        with stopping.cut_short():
            client.watch()
            response: HttpResponseBase | None = None
            try:
                request = ASGIRequest(scope, BytesIO(body))
                response = await self._api(request)
                await django.send_response(response, send)
            except asyncio.CancelledError:
                if client.has_left:
                    return
                raise BrokenStreamError from None
            finally:
                client.forget()
                await _close(response)


async def _close(response: HttpResponseBase | None) -> None:
    """What makes an answer that is sent no further ends now, not when it is forgotten: an error
    that is under way remembers it."""
    chunks: Any = getattr(response, "_iterator", None)
    if isinstance(chunks, AsyncGenerator):
        await chunks.aclose()


@lru_cache(512)
def _view_at(path: str) -> ResolverMatch:
    """Raises Resolver404, which is not remembered."""
    return resolve(path)


class _Client:
    """Cancels the task that answers a client when the client has left."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._answering = asyncio.current_task()
        self._watching: asyncio.Task[None] | None = None
        self.has_left = False

    def watch(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    def forget(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _watch(self) -> None:
        with suppress(asyncio.CancelledError):
            while (await self._receive())["type"] != "http.disconnect":
                pass
            self.has_left = True
            if self._answering is not None:
                self._answering.cancel()


async def _whole_body(receive: Receive) -> bytes | None:
    """None when the client left before it had sent all of it."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


class Lifespan:
    """Loads beside the first requests what only some of them need; lets what runs in the background
    end before the process does."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                detect.load_beside()
                # What is loaded stays: no first audio waits while it is looked through for garbage.
                gc.freeze()
                lookout.begin()
                await send({"type": "lifespan.startup.complete"})
            else:
                lookout.end()
                await background.drain(DRAIN_SECONDS)
                await client.close()
                await limits.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


class RefuseUnknownSockets:
    """404 in the handshake for a path that no socket lives at, in its API's shape."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        log.info("socket refused", path=scope["path"], code="unknown_url")
        message = f"There is no socket at {scope['path'][:200]}."
        error = ApiError(404, "unknown_url", message)
        await refuse_handshake(scope, send, registry.of(scope["path"]).render(error), ids.uuid7())


async def refuse_handshake(scope: Any, send: Send, rendered: Rendered, id_: UUID) -> None:
    """With a true status where the server can answer a handshake with one, else its 403."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close"})
        return
    named = {"content-type": rendered.content_type, "x-request-id": str(id_), **rendered.headers}
    headers = [(name.lower().encode(), value.encode()) for name, value in named.items()]
    start = {"type": "websocket.http.response.start", "status": rendered.status}
    await send({**start, "headers": headers})
    body = msgspec.json.encode(rendered.body)
    await send({"type": "websocket.http.response.body", "body": body})


def _claimed_length(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(path: str, send: Send, limit: int) -> None:
    error = ApiError(413, "request_too_large", f"The most a request may carry is {limit} bytes.")
    rendered = registry.of(path).render(error)
    headers = [
        (b"content-type", rendered.content_type.encode()),
        (b"x-request-id", str(ids.uuid7()).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": rendered.status, "headers": headers})
    await send({"type": "http.response.body", "body": msgspec.json.encode(rendered.body)})
