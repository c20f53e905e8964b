"""What the realtime socket says, each event with an id."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec

from ttsapp.dialects.dashscope.session import Session
from ttsapp.dialects.socket import POLICY, SERVER_FAULT
from ttsapp.errors import ApiError


def new_item() -> str:
    return f"item_{uuid4().hex}"


def of_session(kind: str, session: Session) -> str:
    return event(f"session.{kind}", session=session.document())


def committed(item_id: str) -> str:
    return event("input_text_buffer.committed", item_id=item_id)


def failure(error: ApiError, client_event: str | None = None) -> str:
    told = {
        "type": _error_type(error.status),
        "code": error.code,
        "message": error.message,
        "param": error.field,
    }
    if client_event is not None:
        told["event_id"] = client_event
    return event("error", error=told)


def event(kind: str, **fields: Any) -> str:
    content = {"event_id": f"event_{uuid4().hex}", "type": kind, **fields}
    return msgspec.json.encode(content).decode()


def close_code(error: ApiError) -> int:
    """How a socket ends when text that it was sent cannot be spoken."""
    return POLICY if error.status < 500 else SERVER_FAULT


def _error_type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "server_error" if status >= 500 else "invalid_request_error"
