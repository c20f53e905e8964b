"""The JSON documents that the reading endpoints answer with."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from billing import selectors as billing
from billing.models import UsageEvent
from ttsapp.speech import selectors
from ttsapp.speech.models import RequestLog
from ttsapp.voices.catalogue import RETIRED_MODELS, Catalogue, SpeechModel, stock_voices
from ttsapp.voices.models import Consent
from ttsapp.voices.own import OwnVoice, Preset


def models(catalogue: Catalogue) -> dict[str, Any]:
    """The engine's models, then the retired names that stand for the first with voices."""
    names = [model.id for model in catalogue.models]
    if catalogue.default() is not None:
        names += [name for name in RETIRED_MODELS if name not in names]
    return {"object": "list", "data": [model(name) for name in names]}


def model(name: str) -> dict[str, Any]:
    # A checkpoint does not say when it was made; the field has to be a number.
    return {"id": name, "object": "model", "created": 0, "owned_by": "parlance"}


def voices(catalogue: Catalogue) -> dict[str, Any]:
    """The caller's own voices, every model's, then the stock names and what they stand for."""
    data = [own_voice(voice) for voice in catalogue.own]
    data += [
        _preset(served, preset) for served in catalogue.models for preset in catalogue.shown(served)
    ]
    default = catalogue.default()
    if default is not None:
        stock = sorted(stock_voices(default).items())
        data += [_stock(default, name, each) for name, each in stock if _may_ask(catalogue, each)]
    return {"object": "list", "data": data}


def voice(catalogue: Catalogue, name: str) -> dict[str, Any]:
    """One of those, or one of the caller's own that cannot be spoken with now: its state says why.
    Raises ApiError 404 on `voice`, or 503."""
    for each in voices(catalogue)["data"]:
        if each["id"].casefold() == name.casefold():
            return dict(each)
    model, found = catalogue.voice(name)
    if isinstance(found, OwnVoice):
        return own_voice(found)
    assert model is not None, "what an engine has is told by the engine"
    return _preset(model, found)


def speech_request(tenant_id: int, request_id: UUID) -> dict[str, Any] | None:
    """How one of the tenant's requests fared; None for one that is not theirs."""
    log = selectors.request(tenant_id, request_id)
    if log is not None:
        return _logged(log, billing.event(tenant_id, request_id))
    if billing.is_open(tenant_id, request_id):
        return {"id": str(request_id), "object": "audio.speech.request", "state": "in_progress"}
    return None


def _logged(log: RequestLog, event: UsageEvent | None) -> dict[str, Any]:
    error = {"code": log.error_code, "param": log.error_field or None} if log.error_code else None
    return {
        "id": str(log.id),
        "object": "audio.speech.request",
        "state": "ended",
        "created_at": log.at.isoformat(),
        "status": log.status,
        "model": log.model,
        "voice": log.voice,
        "response_format": log.response_format,
        "seed": log.seed,
        "characters": log.characters,
        "billed_characters": event.billed_characters if event else 0,
        "audio_ms": log.audio_ms,
        "first_audio_ms": log.first_audio_ms,
        "total_ms": log.total_ms,
        "underruns": event.underruns if event else 0,
        "finish_reason": log.finish_reason or None,
        "error": error,
    }


def own_voice(voice: OwnVoice) -> dict[str, Any]:
    """In the shape that its maker is answered with, and what lists say of voices besides."""
    return {
        "id": voice.name,
        "object": "audio.voice",
        "created_at": int(voice.created_at.timestamp()) if voice.created_at else 0,
        "name": voice.label,
        "type": "prompt" if voice.kind == "designed" else "audio_sample",
        "model": voice.model,
        "native_language": voice.native_language,
        "description": voice.description,
        "languages": list(voice.served_by.languages) if voice.served_by else [],
        "word_languages": list(voice.served_by.word_languages) if voice.served_by else [],
        "state": voice.state,
    }


def consent(row: Consent) -> dict[str, Any]:
    """In OpenAI's shape, with the terms beside it."""
    return {
        "id": row.public_id,
        "object": "audio.voice_consent",
        "created_at": int(row.created_at.timestamp()),
        "name": row.name,
        "language": row.language,
        "person": row.person,
        "relation": row.relation,
        "purposes": row.purposes,
        "territory": row.territory,
        "state": row.state,
        "expires_at": int(row.expires_at.timestamp()) if row.expires_at else None,
        "withdrawn_at": int(row.withdrawn_at.timestamp()) if row.withdrawn_at else None,
    }


def _preset(served: SpeechModel, preset: Preset) -> dict[str, Any]:
    return {
        "id": preset.name,
        "object": "audio.voice",
        "name": preset.name,
        "type": "preset",
        "model": served.id,
        "native_language": preset.native_language,
        "description": preset.description,
        "languages": list(served.languages),
        "word_languages": list(served.word_languages),
    }


def _may_ask(catalogue: Catalogue, voice: Preset) -> bool:
    return voice.is_usable if isinstance(voice, OwnVoice) else catalogue.shows(voice)


def _stock(served: SpeechModel, name: str, voice: Preset) -> dict[str, Any]:
    document = own_voice(voice) if isinstance(voice, OwnVoice) else _preset(served, voice)
    return {**document, "id": name, "type": "alias", "alias_of": voice.name}
