"""Answers made of audio bytes: streamed as they come, or whole with their end known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from django.http import HttpResponse, StreamingHttpResponse

from ttsapp import context
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech import encoders
from ttsapp.speech.delivery import Delivery
from ttsapp.speech.order import Order
from ttsapp.speech.session import Session


def describe(session: Session, response: HttpResponse | StreamingHttpResponse) -> None:
    """The headers that are known before the first byte."""
    response["x-parlance-characters"] = str(session.tally.characters)
    response["x-parlance-seed"] = str(session.order.seed)
    for name, value in session.context.limit_headers.items():
        response[name] = value
    response["Cache-Control"] = "no-store"
    # Reverse proxies must pass each chunk on as it comes.
    response["X-Accel-Buffering"] = "no"


async def streamed(session: Session) -> StreamingHttpResponse:
    """Chunks as the engine makes them. Raises ApiError for what fails before the first of them."""
    audio = session.audio()
    first = await anext(audio)
    chunks = unbroken(delivered(session, first, audio, bytes))
    response = StreamingHttpResponse(chunks, content_type=session.order.audio.content_type)
    describe(session, response)
    return response


async def whole(session: Session) -> HttpResponse:
    """Everything at once, with its length and how it ended. Raises ApiError if any of it fails."""
    order = session.order
    response = HttpResponse(await file(session), content_type=order.audio.content_type)
    describe(session, response)
    response["x-finish-reason"] = session.tally.finish_reason
    response["x-audio-ms"] = str(round(session.tally.audio_ms / order.speed))
    return response


async def file(session: Session) -> bytes:
    """All of the audio, encoded while it is made. Raises ApiError if any of it fails."""
    encoding = encoders.WholeEncoding(session.order.audio, session.order.speed)
    async with aclosing(session.audio()) as audio:
        async for pcm in audio:
            await encoding.push(pcm)
    return await encoding.finish()


async def delivered(
    session: Session, first: bytes, rest: AsyncIterator[bytes], render: Callable[[bytes], bytes]
) -> AsyncIterator[bytes]:
    """What is sent for the audio, each encoded piece as `render` puts it. What the client has taken
    of it is what the session is charged for."""
    with Delivery(context.connection.get()) as delivery:
        session.context.arrived = lambda: delivery.taken
        async for piece, pcm_bytes in _encoded(first, rest, session.order):
            sent = render(piece) if piece else b""
            if sent:
                yield sent
            delivery.hand_over(pcm_bytes, len(sent))


async def _encoded(
    first: bytes, rest: AsyncIterator[bytes], order: Order
) -> AsyncIterator[tuple[bytes, int]]:
    """One valid stream of the order's format in pieces, and how many bytes of PCM went into each;
    the header travels with the first audio."""
    encoding = encoders.Encoding(order.audio, order.speed)
    yield await encoding.push(first), len(first)
    async for pcm in rest:
        yield await encoding.push(pcm), len(pcm)
    yield await encoding.finish(), 0


async def unbroken(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Turns a failure after the first byte into a dropped connection, never a clean end."""
    try:
        async for chunk in chunks:
            yield chunk
    except ApiError as error:
        raise BrokenStreamError from error
