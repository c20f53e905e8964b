"""The four calls that speak: bytes or timestamps, whole or streamed."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from ttsapp.dialects import door
from ttsapp.dialects.elevenlabs import formats
from ttsapp.dialects.elevenlabs import request as asked
from ttsapp.dialects.elevenlabs.alignment import AnswerClock
from ttsapp.dialects.elevenlabs.door import endpoint
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.idempotency.once import once
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import answers
from ttsapp.speech.prepared import whole_text
from ttsapp.speech.session import Session
from ttsapp.voices.selectors import catalogue


@endpoint("POST", scope=Scope.SPEECH)
async def convert(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponseBase:
    return await _answered(_convert, request, caller, voice_id, whole=True)


@endpoint("POST", scope=Scope.SPEECH)
async def stream(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponseBase:
    return await _answered(_stream, request, caller, voice_id)


@endpoint("POST", scope=Scope.SPEECH)
async def with_timestamps(request: HttpRequest, caller: Caller, voice_id: str) -> HttpResponseBase:
    how = {"whole": True, "has_words": True}
    return await _answered(_with_timestamps, request, caller, voice_id, **how)


@endpoint("POST", scope=Scope.SPEECH)
async def stream_with_timestamps(
    request: HttpRequest, caller: Caller, voice_id: str
) -> HttpResponseBase:
    """One object a line, each as soon as it is there."""
    return await _answered(_stream_with_timestamps, request, caller, voice_id, has_words=True)


async def _answered(
    speak: Callable[[Session], Awaitable[HttpResponseBase]],
    request: HttpRequest,
    caller: Caller,
    voice_id: str,
    **how: bool,
) -> HttpResponseBase:
    session = await _understand(request, caller, voice_id, **how)
    return await once(request, caller, partial(speak, session))


async def _convert(session: Session) -> HttpResponseBase:
    return _described(session, await answers.whole(session))


async def _stream(session: Session) -> HttpResponseBase:
    return _described(session, await answers.streamed(session))


async def _with_timestamps(session: Session) -> HttpResponseBase:
    content, audio = await answers.encoded(session)
    clock = AnswerClock(session.order.speed)
    body = msgspec.json.encode(_timed(content, clock.alignment(session.words)))
    response = answers.handed_over(session, audio, body, "application/json")
    return _labelled(session, response)


async def _stream_with_timestamps(session: Session) -> HttpResponseBase:
    audio = session.audio()
    first = await anext(audio)
    lines = answers.unbroken(_lines(session, first, audio))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    answers.describe(session, response)
    return _labelled(session, response)


async def _lines(
    session: Session, first: bytes, rest: AsyncIterator[bytes]
) -> AsyncGenerator[bytes]:
    clock = AnswerClock(session.order.speed)

    def line(audio: bytes) -> bytes:
        words, session.words[:] = session.words[:], []
        return msgspec.json.encode(_timed(audio, clock.alignment(words))) + b"\n"

    async for rendered in answers.delivered(session, first, rest, line):
        yield rendered
    if session.words:
        yield line(b"")


def _timed(audio: bytes, alignment: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "audio_base64": base64.b64encode(audio).decode(),
        "alignment": alignment,
        "normalized_alignment": alignment,
    }


def _described(
    session: Session, response: HttpResponse | StreamingHttpResponse
) -> HttpResponseBase:
    response["Content-Type"] = formats.content_type(session.order.audio)
    return _labelled(session, response)


def _labelled(
    session: Session, response: HttpResponse | StreamingHttpResponse
) -> HttpResponse | StreamingHttpResponse:
    response["character-cost"] = str(session.tally.characters)
    response["history-item-id"] = str(session.order.id)
    # Where there is no limit, none is told of.
    told = session.context.limit_headers
    if (limit := told.get("x-parlance-streams-limit")) is not None:
        in_use = int(limit) - int(told["x-parlance-streams-remaining"])
        response["maximum-concurrent-requests"] = limit
        response["current-concurrent-requests"] = str(in_use)
    return response


async def _understand(
    request: HttpRequest,
    caller: Caller,
    voice_id: str,
    *,
    whole: bool = False,
    has_words: bool = False,
) -> Session:
    """The order and its text, prepared. A refusal goes into the tenant's request log."""
    try:
        content_type = request.META.get("CONTENT_TYPE", "")
        wanted = asked.parse(request.GET.dict(), content_type, request.body)
        served = await catalogue(caller)
        how = {"whole": whole, "has_words": has_words}
        order = asked.order(request_id(), caller, voice_id, wanted, served, "http", **how)
        # The caller's own words are said as they wish in every API.
        prepared = await whole_text(order, wanted.text, wanted.wish)
    except ApiError as error:
        door.note_refusal(caller, "http", error)
        raise
    return Session(order, wanted.text, prepared)
