"""OpenAI's speech endpoints, and the few of our own that live beside them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import database
from ttsapp.dialects import door
from ttsapp.dialects.door import endpoint
from ttsapp.dialects.openai import codec, documents, events, inline, text, timed
from ttsapp.dialects.openai.dialect import OPENAI
from ttsapp.errors import ApiError
from ttsapp.http import json_response, request_id
from ttsapp.idempotency.once import once
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import answers, captions
from ttsapp.speech.prepared import whole_text
from ttsapp.speech.session import Session
from ttsapp.voices import fields
from ttsapp.voices.selectors import catalogue, listed


@endpoint(OPENAI, "POST", scope=Scope.SPEECH)
async def speech(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    session = await _understand(request, caller)
    return await once(request, caller, partial(_spoken, session))


@endpoint(OPENAI, "GET")
async def speech_request(request: HttpRequest, caller: Caller, wanted: UUID) -> HttpResponse:
    found = await database.read(documents.speech_request, caller.tenant_id, wanted)
    if found is None:
        message = "No such request, or it is older than this log."
        raise ApiError(404, "request_not_found", message, field="id")
    return json_response(found)


@endpoint(OPENAI, "GET")
async def models(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(documents.models(await listed(caller)))


@endpoint(OPENAI, "GET")
async def model(request: HttpRequest, caller: Caller, name: str) -> HttpResponse:
    (await listed(caller)).model(name)
    return json_response(documents.model(name))


@endpoint(OPENAI, "POST")
async def text_preview(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(await text.preview(caller, request.body, await catalogue(caller)))


async def root(request: HttpRequest) -> HttpResponse:
    """Some clients warm their connection up here before they speak."""
    return json_response({"object": "api", "name": "parlance"})


async def _spoken(session: Session) -> HttpResponseBase:
    order = session.order
    if order.response_format in captions.FORMATS:
        return await timed.captions(session)
    if order.whole and order.has_words:
        return await timed.document(session)
    if order.whole:
        return await answers.whole(session)
    if order.transport == "sse":
        return await events.streamed(session)
    return await answers.streamed(session)


async def _understand(request: HttpRequest, caller: Caller) -> Session:
    """The order and its text, prepared. A refusal goes into the tenant's request log."""
    try:
        body = codec.parse_speech(request.META.get("CONTENT_TYPE", ""), request.body)
        served = await catalogue(caller)
        if body.reference is not None:
            language = fields.language("" if body.language == "auto" else body.language)
            name, served = await inline.spoken_with(caller, body.reference, language)
            body = replace(body, voice=name, task="")
        order = codec.order(request_id(), caller, body, served)
        prepared = await whole_text(order, body.input, body.wish)
    except ApiError as error:
        door.note_refusal(caller, "http", error)
        raise
    return Session(order, body.input, prepared)
