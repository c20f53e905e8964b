"""What belongs to the request in hand and travels with it through tasks and threads."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ttsapp.server.connection import Connection


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from, past the proxies that are trusted, and by what program."""

    address: str = ""
    agent: str = ""


request_id: ContextVar[UUID | None] = ContextVar("request_id", default=None)
# On the monotonic clock. None on sockets, where one connection carries many requests.
arrived_at: ContextVar[float | None] = ContextVar("arrived_at", default=None)
connection: ContextVar[Connection | None] = ContextVar("connection", default=None)
origin: ContextVar[Origin] = ContextVar("origin", default=Origin())  # noqa: B039  it is frozen


def origin_of(scope: Mapping[str, Any]) -> Origin:
    """Of an ASGI scope. What the caller calls itself is only shown, so it must be printable."""
    client = scope.get("client")
    agent = next((value for name, value in scope["headers"] if name == b"user-agent"), b"")
    shown = "".join(letter for letter in agent.decode("latin-1")[:200] if letter.isprintable())
    return Origin(client[0] if client else "", shown)
