"""uvicorn's HTTP protocol, with bounds on what a client may send and how long it may take to.

They hold for everyone and before a key is known: a request head of any size, or one that
never ends, would otherwise cost a process its memory, its loop or a file descriptor for ever."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
from django.conf import settings
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from ttsapp import ids, stopping
from ttsapp.dialects import registry
from ttsapp.errors import ApiError
from ttsapp.server.connection import SCOPE_KEY, Connection

HEAD_BYTES = 32 * 1024
HEAD_FIELDS = 100
PIECE_BYTES = 64 * 1024
# What framing a body of chunks may cost: five bytes around a single one, and room for trailers.
FRAMING_FACTOR = 8
# After a refusal what still comes is thrown away for so long, or the client would lose the answer.
LINGER_SECONDS = 2.0


class HttpProtocol(HttpToolsProtocol):
    """One client's connection. A refusal has the shape of the API called, and closes it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        plain = cast(asyncio.Transport, transport)
        self._connection = Connection(plain, float(settings.DELIVERY_SECONDS))
        self._timer: asyncio.TimerHandle | None = None
        self._is_refused = self._is_upgraded = False
        self._in_message = self._in_head = False
        self._starts_piece = True
        self._has_too_many_fields = False
        self._piece = self._fed = self._body = 0
        self.url = b""
        # uvicorn's own `cycle` is the latest request, which may wait behind the one in work.
        self._in_work: RequestResponseCycle | None = None
        super().connection_made(self._connection)
        self._allow(settings.HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_limit()
        self._connection.lost()
        self._tell_that_it_left()
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """Who closes its side in the middle of an answer has left: it pays for what it has taken,
        so no more may arrive."""
        if self._tell_that_it_left():
            self._connection.abort()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if not self._in_message and self._timer is None:
            self._allow(settings.HEAD_SECONDS)
        rest = memoryview(data)
        while rest and not self._is_refused and not self._is_upgraded:
            piece, rest = rest[: self._room()], rest[self._room() :]
            self._take(bytes(piece))

    def _room(self) -> int:
        """How much may be fed to the parser before its progress is looked at."""
        if self._in_head:
            return max(1, HEAD_BYTES - self._fed)
        return PIECE_BYTES if self._in_message else HEAD_BYTES

    def _take(self, piece: bytes) -> None:
        self._piece, self._starts_piece = len(piece), not self._in_message
        super().data_received(piece)
        self._fed += len(piece)
        if self._is_refused or not self._in_message:
            return
        if self._in_head:
            if self._fed >= HEAD_BYTES:
                message = f"The head of a request may have {HEAD_BYTES} bytes: shorten its headers."
                self.refuse(ApiError(431, "headers_too_large", message))
        elif self._fed - self._body > 2 * HEAD_BYTES + FRAMING_FACTOR * self._body:
            self.refuse(ApiError(400, "invalid_http", "The framing outweighs the body."))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"][SCOPE_KEY] = self._connection
        self._in_message = self._in_head = True
        self._has_too_many_fields = False
        self._body = 0
        # Behind another request's end in the same piece: where it began there is not known.
        self._fed = 0 if self._starts_piece else -self._piece

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:
            return  # a trailer: nothing here asks for one
        if len(self.headers) < HEAD_FIELDS:
            super().on_header(name, value)
        else:
            self._has_too_many_fields = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._is_refused:
            return
        if self._has_too_many_fields:
            message = f"A request may have {HEAD_FIELDS} headers: send fewer."
            self.refuse(ApiError(431, "headers_too_large", message))
            return
        self._allow(settings.BODY_SECONDS)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        self._starts_piece = False
        if not self._is_refused:
            self._forget_limit()
            super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._is_upgraded = True
        self._forget_limit()
        super().handle_websocket_upgrade()

    def shutdown(self) -> None:
        super().shutdown()
        stopping.begin(settings.GRACE_SECONDS)

    def timeout_keep_alive_handler(self) -> None:
        self._forget_limit()
        super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        self.refuse(ApiError(400, "invalid_http", "This is not a valid HTTP request."))

    def refuse(self, error: ApiError) -> None:
        """Answers, if no other answer is under way, and takes nothing more."""
        if self._is_refused:
            return
        self._is_refused = True
        self._forget_limit()
        if self._tell_that_it_left():
            self._connection.abort()
            return
        self._connection.write(_rendered(error, self.url.partition(b"?")[0]))
        self._connection.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self._connection.abort)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._in_work = cycle
        super()._start_asgi_task(cycle, app)

    def _tell_that_it_left(self) -> bool:
        """The request in work ends, those behind it never begin. Whether its answer had begun."""
        cycle = self._in_work
        if cycle is None or cycle.response_complete:
            return False
        cycle.disconnected = True
        cycle.message_event.set()
        return cycle.response_started

    def _allow(self, seconds: int) -> None:
        """From now on the client has so long for the part of a request that it is in."""
        self._forget_limit()
        self._timer = self.loop.call_later(seconds, self._expire, seconds)

    def _forget_limit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self, seconds: int) -> None:
        self._timer = None
        if self.flow.read_paused or self._is_answering():
            self._allow(seconds)
        elif not self._in_message:
            self._connection.close()
        else:
            part = "head" if self._in_head else "body"
            message = f"The {part} of the request did not arrive within {seconds} s: send it again."
            self.refuse(ApiError(408, "request_timeout", message))

    def _is_answering(self) -> bool:
        """Whether what is late belongs to a request behind one that is being served."""
        earlier = self.cycle is not None and not self.cycle.response_complete
        return bool(self.pipeline) or (earlier and (self._in_head or not self._in_message))


def _rendered(error: ApiError, path: bytes) -> bytes:
    rendered = registry.of(path.decode("latin-1")).render(error)
    body = msgspec.json.encode(rendered.body)
    head = (
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"x-request-id: {ids.uuid7()}\r\nconnection: close\r\n\r\n"
    )
    return STATUS_LINE[rendered.status] + head.encode() + body
