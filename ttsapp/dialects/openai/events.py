"""The server-sent events of `stream_format: sse`."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from django.http import StreamingHttpResponse

from ttsapp.dialects.openai import codec, words
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech.answers import delivered, describe
from ttsapp.speech.session import Session


async def streamed(session: Session) -> StreamingHttpResponse:
    """Audio deltas, words between them, and one done event. Raises ApiError for what fails before
    the first delta."""
    audio = session.audio()
    first = await anext(audio)
    teller = _Teller(session)
    events = _events(teller, delivered(session, first, audio, teller.delta))
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    describe(session, response)
    return response


async def _events(teller: _Teller, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for event in chunks:
            yield event
    except ApiError as error:
        # Some clients overlook the event, so the connection breaks as well.
        yield _event({"type": "error", **codec.error_body(error)})
        raise BrokenStreamError from error
    yield teller.words() + _event(_done(teller.session))


class _Teller:
    """The events of one request, as bytes. `delta` tells the words that are known by then too."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._told = 0

    def delta(self, audio: bytes) -> bytes:
        said = {"type": "speech.audio.delta", "audio": base64.b64encode(audio).decode()}
        return _event(said) + self.words()

    def words(self) -> bytes:
        fresh = self.session.words[self._told :]
        self._told += len(fresh)
        if not fresh:
            return b""
        told = words.listed(fresh, self.session.order.speed)
        return _event({"type": "speech.audio.words", "words": told})


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
