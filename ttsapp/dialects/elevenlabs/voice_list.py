"""Voices as documents, and finding some of them."""

from __future__ import annotations

from typing import Any

from ttsapp.dialects.elevenlabs import voices
from ttsapp.dialects.elevenlabs.query import Query
from ttsapp.dialects.elevenlabs.settings import DEFAULTS
from ttsapp.errors import ApiError
from ttsapp.speech.text import languages
from ttsapp.voices.catalogue import Catalogue, SpeechModel, check_whole
from ttsapp.voices.own import OwnVoice, Preset

Document = dict[str, Any]

# What is known of a voice; asked for any of the others, no voice answers.
_LABELS = ("gender", "language")
_UNKNOWN = ("age", "accent", "use_cases", "fine_tuning_state", "collection_id")
_SEARCH = (
    *("search", "page_size", "next_page_token", "sort", "sort_direction", "voice_type"),
    *("category", "voice_ids", "include_total_count", "high_quality", "include_custom_rates"),
    *("include_live_moderated", "min_notice_period_days", *_LABELS, *_UNKNOWN),
)
_TYPES = ("personal", "community", "default", "workspace", "non-default", "non-community", "saved")
_TYPES_OF_OURS = ("default", "non-community", "saved")
_TYPES_OF_TENANTS = ("personal", "workspace", "non-default", "non-community", "saved")
_CATEGORIES = ("premade", "cloned", "generated", "professional")
_MOST = 100


def own(served: Catalogue) -> list[Document]:
    """The caller's own voices, then the engine's."""
    made = [_made(voice) for voice in served.own]
    return made + [_own(model, each) for model in served.models for each in served.shown(model)]


def stand_ins(served: Catalogue) -> list[Document]:
    """ElevenLabs' own, spoken by ours."""
    model = served.default()
    if model is None:
        return []
    found = ((premade, voices.stand_in(model, premade)) for premade in voices.PREMADE)
    return [
        _stand_in(model, premade, preset)
        for premade, preset in found
        if preset and served.shows(preset)
    ]


def one(served: Catalogue, wanted: str) -> Document:
    """Also of the caller's own that cannot be spoken with now. Raises ApiError 404, or 503 where an
    engine is away that may have it."""
    for made in served.every_own:
        if wanted.casefold() in (made.name, made.label.casefold()):
            return _made(made)
    for model in served.models:
        if (preset := voices.own_preset(model, wanted)) and served.shows(preset):
            return _own(model, preset)
    premade = voices.premade_id(wanted)
    found = (voice for voice in stand_ins(served) if voice["voice_id"] == premade)
    if (voice := next(found, None)) is None:
        check_whole(served, wanted, "voice_id")
        message = f"A voice {wanted[:50]!r} does not exist: GET /v1/voices lists them."
        raise ApiError(404, "voice_not_found", message, field="voice_id")
    return voice


def search(served: Catalogue, query: Query) -> Document:
    """A page. Premade ones are found by those who look for them. Raises ApiError 400."""
    named, text = query.texts("voice_ids"), query.text("search").casefold()
    found = own(served) + (stand_ins(served) if named or text else [])
    if named:
        found = [voice for voice in found if voice["voice_id"] in named]
    found = [voice for voice in found if text in _words(voice) and _has(voice, query)]
    found = _sorted(found, query)
    start = query.whole("next_page_token", 0, len(found), 0) or 0
    end = start + (query.whole("page_size", 1, _MOST, 10) or 0)
    return {
        "voices": found[start:end],
        "has_more": end < len(found),
        "total_count": len(found),
        "next_page_token": str(end) if end < len(found) else None,
    }


def search_names() -> tuple[str, ...]:
    return _SEARCH


def _own(model: SpeechModel, preset: Preset) -> Document:
    return _document(model, preset, preset.name, preset.name, preset.description)


def _made(voice: OwnVoice) -> Document:
    made = _document(voice.served_by, voice, voice.name, voice.label, voice.description)
    labels = {"language": languages.code(voice.native_language)}
    # A label that came from a client of this API is a tag `name:value`.
    parted = (tag.partition(":") for tag in voice.tags)
    labels |= {name: value or "yes" for name, _, value in parted}
    return made | {
        "category": "generated" if voice.kind == "designed" else "cloned",
        "labels": labels,
        "settings": DEFAULTS | {"speed": voice.speed},
        "is_owner": not voice.is_shared,
        "created_at_unix": int(voice.created_at.timestamp()) if voice.created_at else 0,
    }


def _stand_in(model: SpeechModel, premade: str, preset: Preset) -> Document:
    description = f"Spoken by {preset.name}. {preset.description}".strip()
    return _document(model, preset, premade, voices.PREMADE[premade], description)


def _document(
    model: SpeechModel | None, preset: Preset, voice_id: str, name: str, description: str
) -> Document:
    """Without a model it cannot be spoken with now."""
    spoken = [languages.code(language) for language in model.languages] if model else []
    return {
        "voice_id": voice_id,
        "name": name,
        "category": "premade",
        "description": description,
        "labels": {
            "gender": "female" if preset.is_female else "male",
            "language": languages.code(preset.native_language),
        },
        "preview_url": None,
        "settings": DEFAULTS,
        "samples": [],
        "available_for_tiers": [],
        "high_quality_base_model_ids": [model.id] if model else [],
        "verified_languages": [
            {"language": language, "model_id": model.id if model else ""}
            for language in dict.fromkeys(spoken)
        ],
        "is_owner": False,
        "is_legacy": voice_id in voices.PREMADE,
        "is_mixed": False,
    }


def _words(voice: Document) -> str:
    return " ".join((voice["name"], voice["description"], *voice["labels"].values())).casefold()


def _has(voice: Document, query: Query) -> bool:
    for label in _LABELS:
        if (wanted := query.text(label)) and voice["labels"].get(label) != wanted.casefold():
            return False
    is_premade = voice["category"] == "premade"
    types = _TYPES_OF_OURS if is_premade else _TYPES_OF_TENANTS
    is_of_type = query.choice("voice_type", _TYPES, "non-community") in types
    is_of_category = query.choice("category", _CATEGORIES, voice["category"]) == voice["category"]
    return is_of_type and is_of_category and not any(query.text(name) for name in _UNKNOWN)


def _sorted(found: list[Document], query: Query) -> list[Document]:
    by = query.choice("sort", ("name", "created_at_unix"), "created_at_unix")
    is_down = query.choice("sort_direction", ("asc", "desc"), "asc") == "desc"
    if by == "name":
        return sorted(found, key=lambda voice: str(voice["name"]).casefold(), reverse=is_down)
    return found[::-1] if is_down else found
