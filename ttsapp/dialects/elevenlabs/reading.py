"""Voices, models, the account, its usage and history; tokens for pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from ttsapp import database
from ttsapp.dialects.elevenlabs import account, history, usage, voice_list
from ttsapp.dialects.elevenlabs.door import endpoint
from ttsapp.dialects.elevenlabs.query import Query
from ttsapp.dialects.elevenlabs.settings import DEFAULTS
from ttsapp.dialects.openai import views as openai
from ttsapp.errors import ApiError
from ttsapp.http import json_response
from ttsapp.keys import single_use
from ttsapp.keys.authentication import Caller
from ttsapp.speech.text import languages
from ttsapp.voices.catalogue import SpeechModel
from ttsapp.voices.selectors import catalogue, listed

# What clients look for. Of newer families some would call other addresses.
MODEL_NAMES = {
    "eleven_multilingual_v2": "Eleven Multilingual v2",
    "eleven_flash_v2_5": "Eleven Flash v2.5",
    "eleven_turbo_v2_5": "Eleven Turbo v2.5",
}
_TOKEN = "tts_websocket"


@endpoint("GET")
async def voices(request: HttpRequest, caller: Caller) -> HttpResponse:
    is_all = Query(request.GET, ("show_legacy",)).flag("show_legacy")
    served = await listed(caller)
    found = voice_list.own(served) + (voice_list.stand_ins(served) if is_all else [])
    return json_response({"voices": found})


@endpoint("GET")
async def search_voices(request: HttpRequest, caller: Caller) -> HttpResponse:
    query = Query(request.GET, voice_list.search_names())
    return json_response(voice_list.search(await listed(caller), query))


@endpoint("GET")
async def default_settings(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(DEFAULTS)


@endpoint("GET")
async def models(request: HttpRequest, caller: Caller) -> HttpResponse:
    served = await listed(caller)
    found = [_model(model, model.id, model.id) for model in served.models if model.presets]
    if (default := served.default()) is not None:
        found += [_model(default, model_id, name) for model_id, name in MODEL_NAMES.items()]
    return json_response(found)


async def models_by_header(request: HttpRequest) -> HttpResponseBase:
    """The one address at the root that OpenAI's clients call too, and expect another shape of."""
    view = models if "xi-api-key" in request.headers else openai.models
    return await view(request)


@endpoint("GET")
async def user(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(await database.read(account.user, caller, await catalogue(caller)))


@endpoint("GET")
async def subscription(request: HttpRequest, caller: Caller) -> HttpResponse:
    return json_response(await database.read(account.subscription, caller, await catalogue(caller)))


@endpoint("GET")
async def character_stats(request: HttpRequest, caller: Caller) -> HttpResponse:
    query = Query(request.GET, usage.KNOWN)
    return json_response(await database.read(usage.character_stats, caller.tenant_id, query))


@endpoint("GET")
async def history_page(request: HttpRequest, caller: Caller) -> HttpResponse:
    query, served = Query(request.GET, history.KNOWN), await catalogue(caller)
    return json_response(await database.read(history.page, caller.tenant_id, query, served))


@endpoint("GET", "DELETE")
async def history_item(request: HttpRequest, caller: Caller, item_id: str) -> HttpResponse:
    found = await database.read(history.item, caller.tenant_id, item_id)
    if request.method == "DELETE":
        raise history.nothing_to_delete()
    return json_response(found)


@endpoint("GET")
async def history_audio(request: HttpRequest, caller: Caller, item_id: str) -> HttpResponse:
    content = await database.write(history.audio, caller, item_id)
    return HttpResponse(content, "audio/wav", headers={"Cache-Control": "private, no-store"})


@endpoint("POST")
async def history_download(request: HttpRequest, caller: Caller) -> HttpResponse:
    raise history.not_kept()


@endpoint("POST")
async def single_use_token(request: HttpRequest, caller: Caller, kind: str) -> HttpResponse:
    if kind != _TOKEN:
        message = f"Tokens for {kind[:50]!r} are not offered: ask for {_TOKEN}."
        raise ApiError(404, "unknown_url", message)
    if caller.public_id is None:
        raise ApiError(403, "token_out_of_scope", "Only a key can have tokens made.")
    token = single_use.mint(caller.public_id, caller.secret_mark)
    response = json_response({"token": token})
    response["Cache-Control"] = "no-store"
    return response


def _model(model: SpeechModel, model_id: str, name: str) -> dict[str, Any]:
    return {
        "model_id": model_id,
        "name": name,
        "description": f"Spoken by {model.id}.",
        "can_be_finetuned": False,
        "can_do_text_to_speech": True,
        "can_do_voice_conversion": False,
        "can_use_style": False,
        "can_use_speaker_boost": False,
        "serves_pro_voices": False,
        "requires_alpha_access": False,
        "token_cost_factor": 1.0,
        "maximum_text_length_per_request": settings.MAX_INPUT_CHARACTERS,
        "max_characters_request_free_user": settings.MAX_INPUT_CHARACTERS,
        "max_characters_request_subscribed_user": settings.MAX_INPUT_CHARACTERS,
        "languages": [
            {"language_id": languages.code(language), "name": language.title()}
            for language in model.languages
        ],
        "model_rates": {"character_cost_multiplier": 1.0},
        "concurrency_group": "standard",
    }
