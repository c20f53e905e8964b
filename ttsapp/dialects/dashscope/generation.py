"""`multimodal-generation/generation`: a text spoken, as events or as the address of a file."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from ttsapp.dialects import door
from ttsapp.dialects.dashscope import request as asked
from ttsapp.dialects.dashscope.dialect import DASHSCOPE, error_body
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.http import error_response, json_response, request_id
from ttsapp.idempotency.once import once
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import answers, encoders, kept
from ttsapp.speech.prepared import whole_text
from ttsapp.speech.session import Session
from ttsapp.voices.selectors import catalogue

# The string, not the value: its clients compare with it.
_NOT_YET = "null"


@endpoint(DASHSCOPE, "POST", scope=Scope.SPEECH)
async def generation(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    is_stream = request.headers.get("X-DashScope-SSE") == "enable"
    session = await _understand(request, caller, is_stream=is_stream)
    answer = partial(_streamed if is_stream else _whole, request, session)
    return await once(request, caller, answer)


async def audio(request: HttpRequest, name: str) -> HttpResponse:
    """Without a key: whoever was told the address may hear it, as long as it is kept."""
    if request.method != "GET":
        message = f"Use GET here, not {request.method}."
        return error_response(ApiError(405, "method_not_allowed", message), DASHSCOPE)
    found = await kept.find(name)
    if found is None:
        message = "This audio is not, or no longer, kept: speak the text again."
        return error_response(ApiError(404, "audio_not_kept", message), DASHSCOPE)
    return HttpResponse(found, "audio/wav", headers={"Cache-Control": "private, no-store"})


async def _whole(request: HttpRequest, session: Session) -> HttpResponseBase:
    wav = await answers.file(session)
    response = json_response(_document(session, await _told(request, session, wav), is_last=True))
    answers.describe(session, response)
    return response


async def _streamed(request: HttpRequest, session: Session) -> HttpResponseBase:
    audio = session.audio()
    first = await anext(audio)
    response = StreamingHttpResponse(
        _events(request, session, first, audio), content_type="text/event-stream"
    )
    answers.describe(session, response)
    return response


async def _events(
    request: HttpRequest, session: Session, first: bytes, rest: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    heard: list[bytes] = []

    def delta(pcm: bytes) -> bytes:
        heard.append(pcm)
        data = base64.b64encode(pcm).decode()
        told = _audio(session, data=data, expires_at=kept.expiry())
        return _event(len(heard), "result", _document(session, told))

    try:
        async for event in answers.delivered(session, first, rest, delta):
            yield event
    except ApiError as error:
        # Some clients overlook the event, so the connection breaks as well.
        yield _event(len(heard) + 1, "error", error_body(error), error.status)
        raise BrokenStreamError from error
    file = encoders.WholeEncoding(encoders.audio_format("wav"))
    for pcm in heard:
        await file.push(pcm)
    told = await _told(request, session, await file.finish(), is_in_data=False)
    yield _event(len(heard) + 1, "result", _document(session, told, is_last=True))


async def _told(
    request: HttpRequest, session: Session, wav: bytes, *, is_in_data: bool = True
) -> dict[str, Any]:
    """The address of the whole. Where the disk has no room for it, the file itself, unless its
    audio has been told already."""
    if (found := await kept.keep(wav, session.order.voice.name)) is not None:
        url = request.build_absolute_uri(reverse("dashscope-audio", args=[found.name]))
        return _audio(session, url=url, expires_at=found.expires_at)
    data = base64.b64encode(wav).decode() if is_in_data else ""
    return _audio(session, data=data, expires_at=kept.expiry())


def _audio(session: Session, *, expires_at: int, data: str = "", url: str = "") -> dict[str, Any]:
    name = f"audio_{session.order.id.hex}"
    return {"id": name, "data": data, "url": url, "expires_at": expires_at}


def _document(session: Session, audio: dict[str, Any], *, is_last: bool = False) -> dict[str, Any]:
    reason = session.tally.finish_reason if is_last else _NOT_YET
    report = session.end.report if is_last and session.end else None
    characters = report.billed_characters if report else session.tally.characters
    return {
        "output": {"finish_reason": reason, "audio": audio},
        "usage": {"characters": characters},
        "request_id": str(session.order.id),
    }


def _event(place: int, kind: str, data: dict[str, Any], status: int | None = None) -> bytes:
    told = ":HTTP_STATUS/200" if status is None else f"status:{status}"
    head = f"id:{place}\nevent:{kind}\n{told}\ndata:"
    return head.encode() + msgspec.json.encode(data) + b"\n\n"


async def _understand(request: HttpRequest, caller: Caller, *, is_stream: bool) -> Session:
    """The order and its text, prepared. A refusal goes into the tenant's request log."""
    try:
        wanted = asked.parse(request.META.get("CONTENT_TYPE", ""), request.body)
        served = await catalogue(caller)
        order = asked.order(request_id(), caller, wanted, served, is_stream=is_stream)
        prepared = await whole_text(order, wanted.text, wanted.wish)
    except ApiError as error:
        door.note_refusal(caller, "sse" if is_stream else "http", error)
        raise
    return Session(order, wanted.text, prepared)
