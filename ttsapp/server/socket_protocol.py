"""uvicorn's WebSocket protocol, which lets its application know the connection."""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from ttsapp.server.connection import SCOPE_KEY, Connection


class SocketProtocol(WebSocketsSansIOProtocol):
    """Takes over from the HTTP protocol, and its transport with it."""

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(self.transport, Connection):
            self.transport.lost()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["state"][SCOPE_KEY] = self.transport
