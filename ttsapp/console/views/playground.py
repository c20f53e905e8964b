"""Hearing voices: text in, sound and words out while they are made, and what it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from billing import selectors as billing
from billing.prices.quotes import quote
from billing.templatetags.money import about
from ttsapp import database, ids
from ttsapp.console.access import member_fetch, member_page
from ttsapp.console.served_voices import speaker_of
from ttsapp.console.shell import page
from ttsapp.dialects.openai import codec, documents, events
from ttsapp.errors import ApiError, invalid
from ttsapp.http import json_response, request_id
from ttsapp.keys.authentication import Caller
from ttsapp.speech.encoders import FORMATS
from ttsapp.speech.encoders.formats import SAMPLE_RATES, rates
from ttsapp.speech.order import INSTRUCTIONS_LIMIT, Order
from ttsapp.speech.prepared import whole_text
from ttsapp.speech.session import Session
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.catalogue import SpeechModel
from ttsapp.voices.kinds import DESCRIBED, DESIGN, DESIGN_TASK
from ttsapp.voices.own import DescribedVoice, Preset
from ttsapp.voices.selectors import catalogue

# A ledger follows within a second or so; a page that asked again and again would have its browser
# complain of each 404.
SETTLED_SECONDS, LOOK_SECONDS = 5.0, 0.1


@dataclass(frozen=True, slots=True)
class Choice:
    """Voices of one model, or one that is described to it. `word_languages`: those in which it can
    say when its words are spoken."""

    label: str
    model: str
    voices: Sequence[Preset]
    languages: Sequence[str]
    word_languages: Sequence[str]
    task: str = ""


@require_safe
@member_page(Permission.SPEAK)
def playground(request: HttpRequest, membership: Membership) -> HttpResponse:
    choices = async_to_sync(_choices)(speaker_of(membership))
    languages = (language for choice in choices for language in choice.languages)
    content = {
        "choices": choices,
        "languages": list(dict.fromkeys(languages)),
        "formats": [(name, *rates(name)) for name in sorted(FORMATS, key="wav".__ne__)],
        "sample_rates": SAMPLE_RATES,
        "text_limit": settings.MAX_INPUT_CHARACTERS,
        "instructions_limit": INSTRUCTIONS_LIMIT,
        "sides": ("A", "B"),
    }
    return page(request, membership, "playground", content)


@member_fetch("POST", Permission.SPEAK)
async def speak(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    """The body is that of the speech API, which a person copies as curl; metered like any other."""
    body = codec.parse_speech(request.META.get("CONTENT_TYPE", ""), request.body)
    if not body.is_sse:
        raise invalid("The playground plays events: send stream_format sse.", "stream_format")
    order = await _order(speaker_of(membership), body)
    prepared = await whole_text(order, body.input, body.wish)
    return await events.streamed(Session(order, body.input, prepared))


@member_fetch("GET", Permission.VIEW)
async def take(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    """How a request fared, once it is settled: what has just ended is waited for."""
    found = await _settled(membership.tenant_id, wanted)
    if found is None:
        raise ApiError(404, "request_not_found", "No such request.", field="id")
    if membership.may(Permission.VIEW_BILLING):
        found |= await database.read(_price, membership.tenant_id, wanted)
    return json_response(found)


async def _settled(tenant_id: int, wanted: UUID) -> dict[str, Any] | None:
    """As far as it is within a moment. A request that is quite new may have no row at all yet."""
    loop = asyncio.get_running_loop()
    until, age = loop.time() + SETTLED_SECONDS, max(0.0, ids.age(wanted))
    while True:
        found = await database.read(documents.speech_request, tenant_id, wanted)
        left = until - loop.time() - (age if found is None else 0.0)
        if left <= 0 or (found is not None and found["state"] == "ended"):
            return found
        await asyncio.sleep(LOOK_SECONDS)


def _price(tenant_id: int, wanted: UUID) -> dict[str, Any]:
    event = billing.event(tenant_id, wanted)
    found = quote(event) if event else None
    return {"price": about(found.micros, found.currency) if found else None}


async def _order(caller: Caller, body: codec.SpeechBody) -> Order:
    order = codec.order(request_id(), caller, body, await catalogue(caller))
    return replace(order, transport="console")


async def _choices(caller: Caller) -> list[Choice]:
    """The tenant's own first. None while the engine is away: the page says so."""
    try:
        served = await catalogue(caller)
    except ApiError:
        return []
    own = [
        _choice(model, [voice for voice in served.own if voice.model == model.id], "yours")
        for model in served.models
    ]
    shown = [_choice(model, served.shown(model)) for model in served.models]
    described = [_described(model) for model in served.models if model.kind == DESIGN]
    return [each for each in (*own, *shown, *described) if each.voices]


def _choice(model: SpeechModel, voices: Sequence[Preset], whose: str = "") -> Choice:
    label = f"{whose}, by {model.id}" if whose else model.id
    return Choice(label, model.id, voices, model.languages, model.word_languages)


def _described(model: SpeechModel) -> Choice:
    voice = DescribedVoice(DESCRIBED, "", "")
    return replace(_choice(model, [voice], "described"), task=DESIGN_TASK)
