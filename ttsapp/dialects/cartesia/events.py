"""`POST /tts/sse`: what a text sounds like, as server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import msgspec
from django.http import StreamingHttpResponse

from ttsapp.dialects.cartesia import messages
from ttsapp.dialects.cartesia.messages import Message
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech.answers import delivered, describe
from ttsapp.speech.session import Session


async def streamed(
    session: Session, context_id: str | None, *, has_words: bool
) -> StreamingHttpResponse:
    """Chunks, words between them, and done. Raises ApiError for what fails before the first."""
    audio = session.audio()
    first = await anext(audio)
    teller = _Teller(session, context_id, has_words=has_words)
    events = _events(teller, delivered(session, first, audio, teller.chunk))
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    describe(session, response)
    return response


class _Teller:
    """The events of one request, as bytes. `chunk` tells the words that are known by then too."""

    def __init__(self, session: Session, context_id: str | None, *, has_words: bool) -> None:
        self._session = session
        self._named = {} if context_id is None else {"context_id": context_id}
        self._has_words = has_words
        self._told_words = 0
        self._told_at = time.perf_counter()

    def chunk(self, audio: bytes) -> bytes:
        now = time.perf_counter()
        step, self._told_at = now - self._told_at, now
        return self._event(messages.chunk(audio, step * 1000)) + self.words()

    def words(self) -> bytes:
        fresh = self._session.words[self._told_words :] if self._has_words else []
        self._told_words += len(fresh)
        if not fresh:
            return b""
        return self._event(messages.timestamps(fresh, self._session.order.speed))

    def done(self) -> bytes:
        return self._event(messages.done())

    def failure(self, error: ApiError) -> bytes:
        return self._event(messages.failure(error, str(self._session.order.id)))

    def _event(self, message: Message) -> bytes:
        data = msgspec.json.encode({**message, **self._named}).decode()
        return f"event: {message['type']}\ndata: {data}\n\n".encode()


async def _events(teller: _Teller, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for event in chunks:
            yield event
    except ApiError as error:
        # Some clients overlook the event, so the connection breaks as well.
        yield teller.failure(error)
        raise BrokenStreamError from error
    yield teller.words() + teller.done()
