"""How a text is answered over HTTP, by either call: as events, or as the address of a file."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from ttsapp.dialects.dashscope import sounds
from ttsapp.dialects.dashscope.dialect import error_body
from ttsapp.errors import ApiError, BrokenStreamError
from ttsapp.idempotency.once import once
from ttsapp.keys.authentication import Caller
from ttsapp.speech import answers, kept
from ttsapp.speech.session import Session


@dataclass(frozen=True, slots=True)
class Form:
    """`kind`: of the file. `joined`: all that was sent as events, as that file. `beside`: what else
    the call's clients look for in each event's output."""

    kind: str
    joined: Callable[[Sequence[bytes]], Awaitable[bytes]]
    beside: Mapping[str, Any] = field(default_factory=dict)


def is_stream(request: HttpRequest) -> bool:
    return request.headers.get("X-DashScope-SSE") == "enable"


async def answer(
    request: HttpRequest, caller: Caller, session: Session, form: Form
) -> HttpResponseBase:
    """Raises ApiError."""
    how = _streamed if is_stream(request) else _whole
    return await once(request, caller, partial(how, request, session, form))


async def _whole(request: HttpRequest, session: Session, form: Form) -> HttpResponseBase:
    content, audio = await answers.encoded(session)
    told = await _told(request, session, form, content)
    body = msgspec.json.encode(sounds.document(session, told, is_last=True))
    return answers.handed_over(session, audio, body, "application/json")


async def _streamed(request: HttpRequest, session: Session, form: Form) -> HttpResponseBase:
    audio = session.audio()
    first = await anext(audio)
    events = _events(request, session, form, first, audio)
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    answers.describe(session, response)
    return response


async def _events(
    request: HttpRequest, session: Session, form: Form, first: bytes, rest: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    heard: list[bytes] = []

    def delta(piece: bytes) -> bytes:
        heard.append(piece)
        data = base64.b64encode(piece).decode()
        told = sounds.sound(session, data=data, expires_at=kept.expiry())
        return sounds.event(len(heard), "result", sounds.document(session, told, **form.beside))

    try:
        async for event in answers.delivered(session, first, rest, delta):
            yield event
    except ApiError as error:
        # Some clients overlook the event, so the connection breaks as well.
        yield sounds.event(len(heard) + 1, "error", error_body(error), error.status)
        raise BrokenStreamError from error
    told = await _told(request, session, form, await form.joined(heard), is_in_data=False)
    yield sounds.event(len(heard) + 1, "result", sounds.document(session, told, is_last=True))


async def _told(
    request: HttpRequest, session: Session, form: Form, file: bytes, *, is_in_data: bool = True
) -> dict[str, Any]:
    """The address of the whole. Where it cannot be kept, the file itself, unless its
    audio has been told already."""
    if (found := await sounds.address(request, session, file, form.kind)) is not None:
        return found
    data = base64.b64encode(file).decode() if is_in_data else ""
    return sounds.sound(session, data=data, expires_at=kept.expiry())
