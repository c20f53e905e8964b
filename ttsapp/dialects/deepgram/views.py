"""`POST /v1/speak`: text in, audio bytes out."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ttsapp import strict
from ttsapp.dialects import door
from ttsapp.dialects.deepgram import request as asked
from ttsapp.dialects.deepgram.dialect import DEEPGRAM
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.idempotency.once import once
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import answers
from ttsapp.speech.order import Order, check_text
from ttsapp.speech.prepared import TextWish, whole_text
from ttsapp.speech.session import Session
from ttsapp.voices.selectors import catalogue


@endpoint(DEEPGRAM, "POST", scope=Scope.SPEECH)
async def speak(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    try:
        text = _text(request)
        wanted = asked.parse(request.GET.dict())
        order = asked.order(request_id(), caller, wanted, await catalogue(caller), "http")
        prepared = await whole_text(order, text, TextWish())
    except ApiError as error:
        door.note_refusal(caller, "http", error)
        raise
    return await once(request, caller, partial(_spoken, Session(order, text, prepared)))


async def _spoken(session: Session) -> HttpResponseBase:
    response = await answers.streamed(session)
    _describe(response, session.order, session.tally.characters)
    return response


def _describe(response: HttpResponseBase, order: Order, characters: int) -> None:
    response["dg-request-id"] = str(order.id)
    response["dg-model-name"] = order.voice.name
    response["dg-model-uuid"] = order.model.fingerprint
    response["dg-char-count"] = str(characters)


def _text(request: HttpRequest) -> str:
    """JSON, or the text itself. Raises ApiError 415 or 400."""
    kind = request.content_type or ""
    if kind == "text/plain":
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            raise ApiError(400, "invalid_text", "The text is not UTF-8.", field="text") from None
    elif kind == "application/json":
        text = strict.fields(request.body, {"text": str}, ("text",))["text"]
    else:
        message = "Send the request as application/json or text/plain."
        raise ApiError(415, "unsupported_media_type", message)
    check_text(text, settings.MAX_INPUT_CHARACTERS, "text")
    return text
