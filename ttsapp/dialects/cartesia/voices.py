"""Voices as Cartesia describes them, and its own that clients come with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ttsapp.errors import ApiError, invalid, voice_error
from ttsapp.speech.text import languages
from ttsapp.voices.catalogue import Catalogue, SpeechModel, stand_ins, stock_voices
from ttsapp.voices.own import OwnVoice, Preset

# Those in its documentation, in its clients and in voice-agent frameworks, by kind: who asks for
# one is given a voice of ours of that kind.
FEMALE = (
    "15a9cd88-84b0-4a8b-95f2-5d583b54c72e",
    "4d2fd738-3b3d-4368-957a-bb4805275bd9",
    "694f9389-aac1-45b6-b726-9d9369183238",
    "6ccbfb76-1fc6-48f7-b71d-91ac6298247b",
    "71a7ad14-091c-4e8e-a314-022ece01c121",
    "794f9389-aac1-45b6-b726-9d9369183238",
    "9626c31c-bec5-4cca-baa8-f8ba9e84c8bc",
    "e07c00bc-4134-4eae-9ea4-1a55fb45746b",
    "f786b574-daa5-4673-aa0c-cbe3e8534c02",
)
MALE = (
    "5ee9feff-1265-424a-9d7f-8e4d431a12c7",
    "79f8b5fb-2cc8-479a-80df-29f7a7cf1a3e",
    "86e30c1d-714b-4074-a1f2-1cb6b552fb49",
    "a0e99841-438c-4a64-b679-ae501e7d6091",
    "d46abd1d-2d02-43e8-819f-51fb652c1c61",
)
_GENDERS = ("masculine", "feminine", "gender_neutral")
_MOST, _USUAL = 100, 10
KNOWN = ("limit", "starting_after", "ending_before", "q", "gender", "is_owner", "expand[]")

# A voice that is part of a checkpoint does not say when it was made; the field has to be a time.
_CREATED_AT = "1970-01-01T00:00:00Z"


def find(model: SpeechModel, name: str) -> Preset:
    """Raises ApiError 400 on `voice`."""
    return stand_ins(model, FEMALE, MALE).get(name.lower()) or model.preset(name)


def document(catalogue: Catalogue, name: str) -> dict[str, Any]:
    """Also of the caller's own that cannot be spoken with now. Raises ApiError 404, or 503 where an
    engine is away that may have it."""
    model = catalogue.default()
    voice = _stand_in(model, name) if model is not None else None
    if voice is None:
        try:
            model, voice = catalogue.voice(name)
        except ApiError as error:
            raise voice_error(error, "id") from None
    if not (isinstance(voice, OwnVoice) or catalogue.shows(voice)):
        message = f"There is no voice {name[:50]!r} for this key: GET /voices lists those it has."
        raise ApiError(404, "voice_not_found", message, field="id")
    return _document(model, voice)


def _stand_in(model: SpeechModel, name: str) -> Preset | None:
    others = stand_ins(model, FEMALE, MALE).get(name.lower())
    return others or stock_voices(model).get(name.casefold())


def page(catalogue: Catalogue, query: Mapping[str, str]) -> dict[str, Any]:
    """A page of the list. Raises ApiError 400, naming the parameter that is at fault."""
    for name in query:
        if name not in KNOWN:
            raise invalid(f"Unknown parameter {name[:50]!r}.", name[:50], "unknown_field")
    model = catalogue.default()
    every = [_document(model, voice) for voice in _voices(catalogue, model)] if model else []
    found = [voice for voice in every if _is_asked_for(voice, query)]
    limit = _limit(query)
    if "ending_before" in query:
        before = found[: _place(found, query["ending_before"], "ending_before")]
        return {"data": before[-limit:], "has_more": len(before) > limit}
    if "starting_after" in query:
        found = found[_place(found, query["starting_after"], "starting_after") + 1 :]
    return {"data": found[:limit], "has_more": len(found) > limit}


def _voices(catalogue: Catalogue, model: SpeechModel) -> tuple[Preset, ...]:
    return (*catalogue.own, *catalogue.shown(model))


def _document(model: SpeechModel | None, preset: Preset) -> dict[str, Any]:
    document = _preset_document(model, preset)
    if not isinstance(preset, OwnVoice):
        return document
    del document["gender"]
    made_at = preset.created_at.isoformat() if preset.created_at else _CREATED_AT
    return document | {
        "name": preset.label,
        "access": "private",
        "visibility": "owner",
        "is_owner": not preset.is_shared,
        "created_at": made_at.replace("+00:00", "Z"),
    }


def _preset_document(model: SpeechModel | None, preset: Preset) -> dict[str, Any]:
    native = languages.code(preset.native_language)
    spoken = [languages.code(name) for name in model.languages] if model is not None else []
    others = [code for code in spoken if code not in (native, languages.AUTO)]
    return {
        "id": preset.name,
        "name": preset.name,
        "description": preset.description,
        "tagline": "",
        "language": native,
        "locales": [{"locale": code, "is_native": code == native} for code in (native, *others)],
        "access": "public",
        "visibility": "all",
        "is_owner": False,
        "created_at": _CREATED_AT,
        "gender": "feminine" if preset.is_female else "masculine",
    }


def _is_asked_for(voice: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    gender, owner = query.get("gender", ""), query.get("is_owner", "").lower()
    if gender and gender not in _GENDERS:
        raise invalid(f"gender may be one of {', '.join(_GENDERS)}.", "gender")
    if owner not in ("", "true", "false"):
        raise invalid("is_owner may be true or false.", "is_owner")
    text = query.get("q", "").casefold()
    is_found = any(text in voice[name].casefold() for name in ("id", "name", "description"))
    is_of_owner = owner in ("", str(voice["is_owner"]).lower())
    return is_found and gender in ("", voice.get("gender")) and is_of_owner


def _place(found: list[Any], name: str, field: str) -> int:
    place = next((place for place, voice in enumerate(found) if voice["id"] == name), None)
    if place is None:
        raise invalid(f"{field} {name[:50]!r} is no voice of this list.", field)
    return place


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit", str(_USUAL))
    if re.fullmatch(r"[0-9]{1,3}", text) is None or not 1 <= int(text) <= _MOST:
        raise invalid(f"limit may be a whole number from 1 to {_MOST}.", "limit")
    return int(text)
