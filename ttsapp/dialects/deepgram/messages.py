"""The text messages of the `v1/speak` socket."""

from __future__ import annotations

from typing import Any

import msgspec

from ttsapp.errors import ApiError, invalid
from ttsapp.speech.order import Order

_KNOWN = ("Speak", "Flush", "Clear", "Close")


class Message(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    text: str = ""


def parse(text: str) -> Message:
    """Raises ApiError 400."""
    try:
        message = msgspec.json.decode(text, type=Message)
    except msgspec.ValidationError as error:
        raise invalid(
            f"This message cannot be understood: {error}.", None, "invalid_type"
        ) from None
    except (msgspec.DecodeError, RecursionError):
        raise invalid("This is not valid JSON.", None, "invalid_json") from None
    if message.type not in _KNOWN:
        choices = ", ".join(_KNOWN)
        raise invalid(f"Unknown type {message.type[:50]!r}: send one of {choices}.", "type")
    return message


def metadata(order: Order) -> str:
    return _write(
        "Metadata",
        request_id=str(order.id),
        model_name=order.voice.name,
        model_version=order.model.id,
        model_uuid=order.model.fingerprint,
    )


def flushed(sequence: int) -> str:
    return _write("Flushed", sequence_id=sequence)


def cleared(sequence: int) -> str:
    return _write("Cleared", sequence_id=sequence)


def warning(error: ApiError) -> str:
    """The socket goes on. The second text is where voice-agent frameworks look."""
    said = error.named
    return _write("Warning", code=error.code.upper(), description=said, warn_msg=said)


def failure(error: ApiError, order: Order) -> str:
    """The socket ends."""
    return _write(
        "Error",
        err_code=error.code.upper(),
        err_msg=error.named,
        description=error.named,
        request_id=str(order.id),
    )


def _write(kind: str, **fields: Any) -> str:
    return msgspec.json.encode({"type": kind, **fields}).decode()
