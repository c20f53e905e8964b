"""Answers made of audio bytes: streamed as they come, or whole with their end known."""

from __future__ import annotations

from collections.abc import AsyncIterator

from django.http import HttpResponse, StreamingHttpResponse

from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech.formats import CONTENT_TYPES, ENCODERS
from ttsapp.speech.session import Session


def describe(session: Session, response: HttpResponse | StreamingHttpResponse) -> None:
    """The headers that are known before the first byte."""
    response["x-parlance-characters"] = str(session.tally.characters)
    response["x-parlance-seed"] = str(session.order.seed)
    response["Cache-Control"] = "no-store"
    # Reverse proxies must pass each chunk on as it comes.
    response["X-Accel-Buffering"] = "no"


async def streamed(session: Session) -> StreamingHttpResponse:
    """Chunks as the engine makes them. Raises ApiError for what fails before the first of them."""
    audio = session.audio()
    first = await anext(audio)
    content_type = CONTENT_TYPES[session.order.response_format]
    chunks = encoded(first, audio, session.order.response_format)
    response = StreamingHttpResponse(unbroken(chunks), content_type=content_type)
    describe(session, response)
    return response


async def whole(session: Session) -> HttpResponse:
    """Everything at once, with its length and how it ended. Raises ApiError if any of it fails."""
    pcm = b"".join([chunk async for chunk in session.audio()])
    encoder = ENCODERS[session.order.response_format]()
    body = await encoder.begin(len(pcm)) + await encoder.encode(pcm) + await encoder.end()
    response = HttpResponse(body, content_type=CONTENT_TYPES[session.order.response_format])
    describe(session, response)
    response["x-finish-reason"] = session.tally.finish_reason
    response["x-audio-ms"] = str(session.tally.audio_ms)
    return response


async def encoded(
    first: bytes, rest: AsyncIterator[bytes], response_format: str
) -> AsyncIterator[bytes]:
    """One valid file of that format, in pieces; the header travels with the first audio."""
    encoder = ENCODERS[response_format]()
    yield await encoder.begin(None) + await encoder.encode(first)
    async for pcm in rest:
        if chunk := await encoder.encode(pcm):
            yield chunk
    if tail := await encoder.end():
        yield tail


async def unbroken(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Turns a failure after the first byte into a dropped connection, never a clean end."""
    try:
        async for chunk in chunks:
            yield chunk
    except ApiError as error:
        raise BrokenStreamError from error
