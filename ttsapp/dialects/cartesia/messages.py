"""What is said of a context, in events over HTTP and on the socket."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from ttsapp.dialects.cartesia.dialect import error_fields
from ttsapp.errors import ApiError
from ttsapp.speech.events import Word

Message = dict[str, Any]

_GOES_ON, _DONE = 206, 200


def chunk(audio: bytes, step_ms: float) -> Message:
    """`step_ms`: since the chunk before."""
    return {
        "type": "chunk",
        "data": base64.b64encode(audio).decode(),
        "step_time": round(step_ms, 3),
        "status_code": _GOES_ON,
        "done": False,
    }


def timestamps(words: Sequence[Word], speed: float) -> Message:
    """Seconds from the beginning of the context's audio as it is sent, at its speed."""
    told = {
        "words": [word.text for word in words],
        "start": [_seconds(word.start_ms, speed) for word in words],
        "end": [_seconds(word.end_ms, speed) for word in words],
    }
    return {
        "type": "timestamps",
        "word_timestamps": told,
        "status_code": _GOES_ON,
        "done": False,
    }


def flush_done(flush_id: int) -> Message:
    return {
        "type": "flush_done",
        "flush_done": True,
        "flush_id": flush_id,
        "status_code": _GOES_ON,
        "done": False,
    }


def done() -> Message:
    return {"type": "done", "status_code": _DONE, "done": True}


def failure(error: ApiError, request_id: str) -> Message:
    """Not `done`: some clients look at that first, and would take it for a good end."""
    fields = error_fields(error, request_id)
    return {"type": "error", **fields, "status_code": error.status, "done": False}


def _seconds(milliseconds: int, speed: float) -> float:
    return round(milliseconds / 1000 / speed, 4)
