"""The messages that come in on `/tts/websocket`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from ttsapp import strict
from ttsapp.dialects.cartesia import request as asked
from ttsapp.errors import invalid

LONGEST_ID = 256
_LONGEST_DELAY_MS = 5000
_USUAL_DELAY_MS = 3000

_FIELDS: dict[str, Any] = {
    **asked.EVENTS,
    "continue": bool,
    "flush": bool,
    "cancel": bool,
    "max_buffer_delay_ms": Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_DELAY_MS)],
}
_OF_THIS_MESSAGE = ("transcript", "continue", "flush", "cancel", "context_id")


@dataclass(frozen=True, slots=True)
class Message:
    """`settings`: what has to stay the same in all messages of a context."""

    context_id: str | None
    transcript: str
    is_cancel: bool
    is_flush: bool
    has_more: bool
    settings: Mapping[str, Any]

    @property
    def is_only_an_end(self) -> bool:
        """Clients end a context with an empty text, or with one blank that is none of it."""
        return not (self.has_more or self.is_flush or self.transcript.strip())

    @property
    def longest_hold(self) -> float:
        """Seconds without new text after which what there is gets spoken."""
        milliseconds: int = self.settings.get("max_buffer_delay_ms", _USUAL_DELAY_MS)
        return milliseconds / 1000

    def wanted(self) -> asked.Wanted:
        """Raises ApiError 400, naming the field that is missing or at fault."""
        for name in asked.REQUIRED:
            if name != "transcript" and name not in self.settings:
                raise invalid(f"The field {name} is required: add it.", name, "missing_field")
        return asked.wanted(self.settings)


class _Named(msgspec.Struct):
    context_id: str | None = None


def context_id(text: str) -> str | None:
    """Whose message it is, as far as that can be told: for an answer to one that is wrong."""
    try:
        found = msgspec.json.decode(text, type=_Named).context_id
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if found is None else found[:LONGEST_ID]


def parse(text: str) -> Message:
    """Raises ApiError 400, naming the field that is at fault."""
    needed = ("context_id", *asked.REQUIRED)
    fields = strict.fields(text.encode(), _FIELDS, (), has_nulls=True, needed=needed)
    is_cancel = fields.get("cancel", False)
    required = "context_id" if is_cancel else "transcript"
    if required not in fields:
        raise invalid(f"The field {required} is required: add it.", required, "missing_field")
    name = fields.get("context_id")
    if name is not None and not 0 < len(name) <= LONGEST_ID:
        raise invalid(f"context_id may have 1 to {LONGEST_ID} characters.", "context_id")
    return Message(
        context_id=name,
        transcript=fields.get("transcript", ""),
        is_cancel=is_cancel,
        is_flush=fields.get("flush", False),
        has_more=fields.get("continue", False),
        settings={
            field: bytes(value) if isinstance(value, msgspec.Raw) else value
            for field, value in fields.items()
            if field not in _OF_THIS_MESSAGE
        },
    )
