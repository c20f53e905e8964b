"""What belongs to the request in hand and travels with it through tasks and threads."""

from __future__ import annotations

from contextvars import ContextVar
from uuid import UUID

from ttsapp.server.connection import Connection

request_id: ContextVar[UUID | None] = ContextVar("request_id", default=None)
connection: ContextVar[Connection | None] = ContextVar("connection", default=None)
