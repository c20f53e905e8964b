"""A client's transport that knows how much of what was written to it the client has taken."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

# In the kernel's `struct tcp_info`: how many bytes the other side has acknowledged.
_ACKNOWLEDGED = struct.Struct("Q")
_ACKNOWLEDGED_AT = 120
_TCP_INFO_BYTES = _ACKNOWLEDGED_AT + _ACKNOWLEDGED.size
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_NO_LINGER = struct.pack("ii", 1, 0)
# How often, within the patience, a client that owes an acknowledgement is looked at.
_LOOKS = 4

SCOPE_KEY = "connection"


class Connection(asyncio.Transport):
    """Wraps the event loop's transport. A client that takes nothing of what waits for it for
    `patience` seconds is cut off: neither memory nor a stream is held for it any longer."""

    def __init__(self, transport: asyncio.Transport, patience: float) -> None:
        super().__init__()
        self._transport = transport
        self._patience = patience
        self._socket: socket.socket | None = transport.get_extra_info("socket")
        self._before = self._acknowledged() or 0
        self._final: int | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._seen = 0
        self._seen_at = 0.0
        self.written = 0
        self.is_stalled = False

    @property
    def taken(self) -> int:
        """Bytes of `written` that the client's machine has acknowledged; where the system cannot
        say, those that have left this process. What it then does with them nobody can know."""
        if self._final is not None:
            return self._final
        acknowledged = self._acknowledged()
        if acknowledged is None:
            return self.written - self._transport.get_write_buffer_size()
        return min(acknowledged - self._before, self.written)

    @property
    def is_gone(self) -> bool:
        """Whether what has not been taken yet never will be."""
        return self._final is not None or self._transport.is_closing()

    def lost(self) -> None:
        """To be called once from the protocol's `connection_lost`: the socket closes after it."""
        self._final = self.taken
        for timer in (self._watch, self._closing):
            if timer is not None:
                timer.cancel()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._final is not None:
            return  # as asyncio's transports do, where uvloop's raise
        self.written += len(data)
        self._transport.write(data)
        if self._watch is None:
            self._seen, self._seen_at = self.taken, self._loop().time()
            self._look_later()

    def _look_later(self) -> None:
        self._watch = self._loop().call_later(self._patience / _LOOKS, self._look)

    def _look(self) -> None:
        self._watch = None
        taken, now = self.taken, self._loop().time()
        if taken >= self.written:
            return
        if taken > self._seen:
            self._seen, self._seen_at = taken, now
        if now - self._seen_at >= self._patience:
            self.is_stalled = True
            self.abort()
        else:
            self._look_later()

    def _acknowledged(self) -> int | None:
        if self._socket is None or _TCP_INFO is None:
            return None
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _TCP_INFO_BYTES)
        except OSError:
            return None
        if len(info) < _TCP_INFO_BYTES:
            return None
        acknowledged: int = _ACKNOWLEDGED.unpack_from(info, _ACKNOWLEDGED_AT)[0]
        return acknowledged

    @staticmethod
    def _loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def abort(self) -> None:
        """A reset: what has not been taken yet, the kernel's part of it too, never arrives."""
        if self._socket is not None and not self._transport.is_closing():
            with suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()

    # The rest of a transport, as it is.

    def close(self) -> None:
        """What is written still leaves, if the client takes it within the patience."""
        if self._closing is None and not self._transport.is_closing():
            self._closing = self._loop().call_later(self._patience, self._transport.abort)
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._transport.set_protocol(protocol)

    def write_eof(self) -> None:
        self._transport.write_eof()

    def can_write_eof(self) -> bool:
        return self._transport.can_write_eof()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()


def of(scope: Mapping[str, Any]) -> Connection | None:
    """The connection that an ASGI scope came by; None under a server that is not ours."""
    found = (scope.get("state") or {}).get(SCOPE_KEY)
    return found if isinstance(found, Connection) else None
