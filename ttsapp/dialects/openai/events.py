"""The server-sent events of `stream_format: sse`."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from django.http import StreamingHttpResponse

from ttsapp.dialects.openai import codec
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech.answers import delivered, describe
from ttsapp.speech.session import Session


async def streamed(session: Session) -> StreamingHttpResponse:
    """Audio deltas and one done event. Raises ApiError for what fails before the first delta."""
    audio = session.audio()
    first = await anext(audio)
    events = _events(session, delivered(session, first, audio, _delta))
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    describe(session, response)
    return response


async def _events(session: Session, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for event in chunks:
            yield event
    except ApiError as error:
        # Some clients overlook the event, so the connection breaks as well.
        yield _event({"type": "error", **codec.error_body(error)})
        raise BrokenStreamError from error
    yield _event(_done(session))


def _delta(audio: bytes) -> bytes:
    return _event({"type": "speech.audio.delta", "audio": base64.b64encode(audio).decode()})


def _done(session: Session) -> dict[str, Any]:
    report = session.end.report if session.end else None
    text, frames = (report.text_tokens, report.frames) if report else (0, 0)
    return {
        "type": "speech.audio.done",
        "usage": {"input_tokens": text, "output_tokens": frames, "total_tokens": text + frames},
        "finish_reason": session.tally.finish_reason,
    }


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(data) + b"\n\n"
