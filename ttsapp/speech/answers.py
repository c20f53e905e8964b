"""Answers made of audio bytes: streamed as they come, or whole with their end known."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from django.http import HttpResponse, StreamingHttpResponse

from ttsapp import context, stopping
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.speech import encoders
from ttsapp.speech.delivery import Delivery
from ttsapp.speech.order import Order
from ttsapp.speech.session import Session

# Of a whole answer: one that is under way when its client leaves counts as not sent.
PIECE_BYTES = 16 * 1024


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


async def whole(session: Session) -> StreamingHttpResponse:
    """Everything at once, with its length and how it ended. Raises ApiError if any of it fails."""
    content, audio = await encoded(session)
    response = handed_over(session, audio, content, session.order.audio.content_type)
    tell_end(session, response)
    return response


def tell_end(session: Session, response: StreamingHttpResponse) -> None:
    """In the headers of a whole answer."""
    response["x-finish-reason"] = session.tally.finish_reason
    response["x-audio-ms"] = str(session.tally.audio_ms)


async def file(session: Session) -> bytes:
    """All of the audio, for ourselves: nobody waits for it at the other end of a connection.
    Raises ApiError if any of it fails."""
    content, audio = await encoded(session)
    await _end(audio)
    return content


async def encoded(session: Session) -> tuple[bytes, AsyncGenerator[bytes]]:
    """All of the audio, encoded while it is made, and what `handed_over` needs to settle it.
    Raises ApiError if any of it fails."""
    order = session.order
    encoding = encoders.WholeEncoding(order.audio, order.speed, order.volume)
    audio = await made(session, encoding.push)
    return await encoding.finish(), audio


async def made(
    session: Session, take: Callable[[bytes], Awaitable[object]]
) -> AsyncGenerator[bytes]:
    """Has all of the audio of a whole answer taken. What is given back is to be read to its end
    once the answer has been sent; whoever drops it has sent nothing."""
    audio = session.audio()
    async for pcm in audio:
        if not pcm:
            break
        await take(pcm)
    return audio


def handed_over(
    session: Session, audio: AsyncGenerator[bytes], body: bytes, content_type: str
) -> StreamingHttpResponse:
    """A whole answer, whose session is settled by what the client has taken of it."""
    response = StreamingHttpResponse(
        unbroken(_pieces(session, audio, body)), content_type=content_type
    )
    response["Content-Length"] = str(len(body))
    describe(session, response)
    return response


async def _pieces(
    session: Session, audio: AsyncGenerator[bytes], body: bytes
) -> AsyncGenerator[bytes]:
    """The last byte waits for the settlement: who has the whole answer finds it in the ledger."""
    spoken, most = session.tally.made_bytes, max(0, len(body) - 1)
    async with aclosing(audio):
        with Delivery(context.connection.get()) as delivery:
            session.context.arrived = lambda: delivery.taken
            for begin in range(0, most, PIECE_BYTES):
                end = min(most, begin + PIECE_BYTES)
                yield body[begin:end]
                share = spoken * end // most - spoken * begin // most
                delivery.hand_over(share, end - begin)
            if delivery.is_lost:
                session.context.close(is_our_stop=stopping.is_cut())
            await _end(audio)
    yield body[most:]


async def _end(audio: AsyncGenerator[bytes]) -> None:
    async for _ in audio:
        pass


async def delivered(
    session: Session, first: bytes, rest: AsyncIterator[bytes], render: Callable[[bytes], bytes]
) -> AsyncGenerator[bytes]:
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
    encoding = encoders.Encoding(order.audio, order.speed, order.volume)
    yield await encoding.push(first), len(first)
    async for pcm in rest:
        yield await encoding.push(pcm), len(pcm)
    yield await encoding.finish(), 0


async def unbroken(chunks: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Turns a failure after the first byte into a dropped connection, never a clean end."""
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk
    except ApiError as error:
        raise BrokenStreamError from error
