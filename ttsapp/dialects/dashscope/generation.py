"""`multimodal-generation/generation`: a text spoken, as events or as the address of a file."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp.dialects import door
from ttsapp.dialects.dashscope import request as asked
from ttsapp.dialects.dashscope.answering import Form, answer, is_stream
from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.door import endpoint, open_endpoint
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import encoders, kept
from ttsapp.speech.prepared import whole_text
from ttsapp.speech.session import Session
from ttsapp.voices.selectors import catalogue


@endpoint(DASHSCOPE, "POST", scope=Scope.SPEECH)
async def generation(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    session = await _understand(request, caller, is_stream=is_stream(request))
    return await answer(request, caller, session, _FORM)


@open_endpoint(DASHSCOPE, "GET")
async def audio(request: HttpRequest, name: str) -> HttpResponse:
    """Without a key: whoever was told the address may hear it, as long as it is kept."""
    found = await kept.find(name)
    if found is None:
        message = "This audio is not, or no longer, kept: speak the text again."
        raise ApiError(404, "audio_not_kept", message)
    return HttpResponse(
        found, kept.content_type(name), headers={"Cache-Control": "private, no-store"}
    )


async def _joined(pieces: Sequence[bytes]) -> bytes:
    """Events hold plain PCM, and the file has a header."""
    file = encoders.WholeEncoding(encoders.audio_format("wav"))
    for pcm in pieces:
        await file.push(pcm)
    return await file.finish()


_FORM = Form("wav", _joined)


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
