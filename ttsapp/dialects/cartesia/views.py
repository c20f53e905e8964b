"""Cartesia's HTTP calls: speech as bytes and as events, voices, access tokens."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import strict
from ttsapp.dialects import door
from ttsapp.dialects.cartesia import events, voices
from ttsapp.dialects.cartesia import request as asked
from ttsapp.dialects.cartesia.dialect import CARTESIA
from ttsapp.dialects.door import endpoint, open_endpoint
from ttsapp.errors import ApiError, invalid
from ttsapp.http import json_response, request_id
from ttsapp.idempotency.once import once
from ttsapp.keys import tokens
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech import answers
from ttsapp.speech.order import check_text
from ttsapp.speech.prepared import TextWish, whole_text
from ttsapp.speech.session import Session
from ttsapp.speech.text.markup import Markup
from ttsapp.voices.selectors import catalogue, listed

_LONGEST_TOKEN = 3600
TOKEN: dict[str, Any] = {
    "expires_in": Annotated[int, msgspec.Meta(ge=1, le=_LONGEST_TOKEN)],
    "grants": msgspec.Raw,
}
GRANTS: dict[str, Any] = {"tts": bool, "stt": bool, "agent": bool}


@endpoint(CARTESIA, "POST", scope=Scope.SPEECH)
async def speech_bytes(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    try:
        fields = _fields(request, asked.BYTES)
        wanted = asked.wanted(fields, ("raw", "wav", "mp3"))
        session = await _session(caller, fields["transcript"], wanted, "http")
    except ApiError as error:
        door.note_refusal(caller, "http", error)
        raise
    return await once(request, caller, partial(answers.streamed, session))


@endpoint(CARTESIA, "POST", scope=Scope.SPEECH)
async def speech_events(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    try:
        fields = _fields(request, asked.EVENTS)
        wanted = asked.wanted(fields)
        session = await _session(caller, fields["transcript"], wanted, "sse")
    except ApiError as error:
        door.note_refusal(caller, "sse", error)
        raise
    context_id = fields.get("context_id")
    answer = partial(events.streamed, session, context_id, has_words=wanted.has_words)
    return await once(request, caller, answer)


@endpoint(CARTESIA, "GET")
async def voice_list(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(voices.page(await listed(caller), request.GET.dict()))


@endpoint(CARTESIA, "POST")
async def access_token(request: HttpRequest, caller: Caller) -> HttpResponse:
    fields = strict.fields(request.body or b"{}", TOKEN, (), has_nulls=True)
    raw = bytes(fields.get("grants", b"{}"))
    grants = strict.fields(raw, GRANTS, (), within="grants", has_nulls=True)
    if not grants.get("tts"):
        raise invalid("A token here is for speech: send grants.tts as true.", "grants.tts")
    for name in ("stt", "agent"):
        if grants.get(name):
            raise invalid(f"grants.{name} is not offered: leave it out.", f"grants.{name}")
    assert caller.public_id is not None
    seconds = fields.get("expires_in", _LONGEST_TOKEN)
    token = tokens.mint(caller.public_id, caller.secret_mark, Scope.SPEECH, seconds)
    return json_response({"token": token})


@open_endpoint(CARTESIA, "GET")
async def status(request: HttpRequest) -> HttpResponse:
    return json_response({"ok": True, "version": version("parlance")})


def _fields(request: HttpRequest, known: dict[str, Any]) -> dict[str, Any]:
    """Raises ApiError 415 or 400, naming the field that is at fault."""
    strict.check_json(request.content_type or "")
    fields = strict.fields(request.body, known, asked.REQUIRED, has_nulls=True)
    check_text(fields["transcript"], settings.MAX_INPUT_CHARACTERS, "transcript")
    return fields


async def _session(caller: Caller, text: str, wanted: asked.Wanted, transport: str) -> Session:
    """Raises ApiError for what the engine does not serve, or a text that cannot be read."""
    order = asked.order(request_id(), caller, wanted, await catalogue(caller), transport)
    is_normalised = wanted.normalization != "off"
    wish = TextWish(is_normalised=is_normalised, markup=Markup.PAUSES)
    read_in = replace(order, language=asked.reading_language(wanted, order))
    prepared = await whole_text(read_in, text, wish)
    return Session(order, text, prepared)
