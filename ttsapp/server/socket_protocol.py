"""uvicorn's WebSocket protocol, which lets its application know the connection."""

from __future__ import annotations

import logging
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

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

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        # uvicorn takes a handshake that was answered with a refusal for one left without an answer.
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

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
