"""Hearing a voice: text in, sound out while it is made, and what it cost."""

from __future__ import annotations

from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from ttsapp import database, strict
from ttsapp.console.access import member_fetch, member_page
from ttsapp.console.shell import page
from ttsapp.dialects.openai import documents
from ttsapp.errors import ApiError
from ttsapp.http import json_response, request_id
from ttsapp.keys.authentication import Caller
from ttsapp.speech import answers
from ttsapp.speech.order import SEED, Order, check_text, fresh_seed
from ttsapp.speech.session import Session
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.own import Preset
from ttsapp.voices.selectors import catalogue

TEXT_LIMIT = 1000
_FIELDS = {"text": str, "voice": str, "seed": SEED}


@require_safe
@member_page(Permission.SPEAK)
def playground(request: HttpRequest, membership: Membership) -> HttpResponse:
    content = {"voices": async_to_sync(_voices)(_caller(membership)), "text_limit": TEXT_LIMIT}
    return page(request, membership, "playground", content)


@member_fetch("POST", Permission.SPEAK)
async def speak(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    """Raw PCM, streamed; metered like any other request."""
    wanted = strict.fields(request.body, _FIELDS, ("text", "voice"))
    check_text(wanted["text"], TEXT_LIMIT, "text")
    order = await _order(membership, wanted["voice"], wanted.get("seed"))
    return await answers.streamed(Session(order, wanted["text"]))


@member_fetch("GET", Permission.VIEW)
async def take(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    """How a request fared, once it is settled."""
    found = await database.read(documents.speech_request, membership.tenant_id, wanted)
    if found is None:
        raise ApiError(404, "request_not_found", "No such request.", field="id")
    return json_response(found)


async def _order(membership: Membership, voice: str, seed: int | None) -> Order:
    caller = _caller(membership)
    model = (await catalogue(caller)).default()
    if model is None:
        raise ApiError(404, "model_not_found", "No model with voices is served.", field="model")
    return Order(
        id=request_id(),
        caller=caller,
        transport="console",
        model=model,
        voice=model.preset(voice),
        response_format="pcm",
        language="auto",
        instructions="",
        seed=fresh_seed() if seed is None else seed,
    )


def _caller(membership: Membership) -> Caller:
    share = membership.tenant.engine_share
    return Caller(membership.tenant_id, None, f"user:{membership.user_id}", share=share)


async def _voices(caller: Caller) -> tuple[Preset, ...]:
    """The tenant's own first. None while the engine is away: the page says so."""
    try:
        served = await catalogue(caller)
    except ApiError:
        return ()
    model = served.default()
    return (*served.own, *served.shown(model)) if model else ()
