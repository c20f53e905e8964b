"""What a client says on the realtime socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from ttsapp.dialects.dashscope import lenient
from ttsapp.errors import invalid

# Each message's fields, and those that it must have.
_KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "session.update": ({"session": msgspec.Raw}, ("session",)),
    "input_text_buffer.append": ({"text": str}, ("text",)),
    "input_text_buffer.commit": ({}, ()),
    "input_text_buffer.clear": ({}, ()),
    "response.cancel": ({}, ()),
    "session.finish": ({}, ()),
}


@dataclass(frozen=True, slots=True)
class Message:
    """`session`: the JSON of a `session.update`."""

    type: str
    text: str = ""
    session: bytes = b""


class _Typed(msgspec.Struct):
    type: str


class _Named(msgspec.Struct):
    event_id: str | None = None


def event_id(text: str) -> str | None:
    """What the client calls this message, where that can be read: an error about it names it."""
    try:
        return msgspec.json.decode(text, type=_Named).event_id
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def parse(text: str) -> Message:
    """Raises ApiError 400."""
    body = text.encode("utf-8", "surrogatepass")
    try:
        kind = msgspec.json.decode(body, type=_Typed).type
    except (msgspec.DecodeError, RecursionError):
        message = "A message is a JSON object with a type."
        raise invalid(message, "type", "invalid_json") from None
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise invalid(f"Unknown message type {kind[:50]!r}: send one of {known}.", "type")
    found = lenient.fields(body, *_KINDS[kind])
    return Message(kind, found.get("text", ""), bytes(found.get("session", b"")))
