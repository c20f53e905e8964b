"""uvicorn's WebSocket protocol, which lets its application know the connection."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request, Response

from ttsapp import ids
from ttsapp.dialects import registry
from ttsapp.errors import ApiError
from ttsapp.server.connection import SCOPE_KEY, Connection

# More than audio ever waits for a client that reads late. Beyond it pongs are left out, as they
# may be.
PONG_BACKLOG_BYTES = 512 * 1024

# uvicorn's and the library's own lines hold the query string and the headers, and so keys. Ours
# do not.
_log = logging.getLogger("ttsapp.server.sockets")
_log.setLevel(logging.WARNING)


class SocketProtocol(WebSocketsSansIOProtocol):
    """Takes over from the HTTP protocol, and its transport with it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = self.conn.logger = _log
        self._path = ""
        self._accept = self.conn.accept
        setattr(self.conn, "accept", self._answer)  # noqa: B010

    async def send(self, message: ASGISendEvent) -> None:
        is_open = self.handshake_complete or self.initial_response is not None
        if message["type"] == "websocket.close" and not is_open:
            self._refuse(ApiError(403, "forbidden", "You may not open this socket."))
            return
        await super().send(message)
        # uvicorn takes a handshake that was answered with a refusal for one left without an answer.
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def send_500_response(self) -> None:
        if not (self.initial_response or self.handshake_complete):
            self._refuse(ApiError(500, "internal_error", "Something went wrong on our side."))

    def handle_ping(self) -> None:
        """A client that pings and never reads must not fill the memory with its answers."""
        pong = b"".join(self.conn.data_to_send())
        if self.transport.get_write_buffer_size() < PONG_BACKLOG_BYTES:
            self.transport.write(pong)

    def eof_received(self) -> None:
        """As in the HTTP protocol; a socket that was closed in good order is closing already."""
        if isinstance(self.transport, Connection) and not self.transport.is_closing():
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(self.transport, Connection):
            self.transport.lost()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["state"][SCOPE_KEY] = self.transport

    def _answer(self, request: Request) -> Response:
        """To a handshake. The library says what is wrong with one in plain text."""
        self._path = request.path.partition("?")[0]
        response = self._accept(request)
        if response.status_code == 101:
            return response
        said = "This is not a valid WebSocket handshake: "
        said += str(self.conn.handshake_exc or response.reason_phrase)
        refusal = self._refusal(ApiError(response.status_code, "invalid_http", f"{said}."))
        for name in ("Allow", "Upgrade"):
            if name in response.headers:
                refusal.headers[name] = response.headers[name]
        return refusal

    def _refuse(self, error: ApiError) -> None:
        """Instead of the handshake's end."""
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1006})
        self.conn.send_response(self._refusal(error))
        self.close_sent = self.handshake_complete = True
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    def _refusal(self, error: ApiError) -> Response:
        """In the shape of the API whose address it is, with an id as every answer has."""
        rendered = registry.of(self._path).render(error)
        response = self.conn.reject(rendered.status, msgspec.json.encode(rendered.body).decode())
        del response.headers["Content-Type"]
        named = {"Content-Type": rendered.content_type, "x-request-id": str(ids.uuid7())}
        for name, value in {**named, **rendered.headers}.items():
            response.headers[name] = value
        return response
