"""What the four speech calls and the sockets are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.conf import settings

from ttsapp import strict
from ttsapp.dialects.elevenlabs import formats, voices
from ttsapp.dialects.elevenlabs.settings import VoiceSettings, voice_settings
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech.encoders import AudioFormat
from ttsapp.speech.order import Order, check_text, fresh_seed
from ttsapp.speech.prepared import TextWish
from ttsapp.speech.text.markup import Markup
from ttsapp.voices.catalogue import Catalogue, SpeechModel
from ttsapp.voices.own import Preset

_MODEL = re.compile(r"eleven_\w{1,60}", re.ASCII)
SEED = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]

BODY: dict[str, Any] = {
    "text": str,
    "model_id": str,
    "language_code": str,
    "voice_settings": msgspec.Raw,
    "seed": SEED,
    "apply_text_normalization": str,
    "pronunciation_dictionary_locators": list,
    # Taken, and without effect: what the engine has no use for.
    "previous_text": str,
    "next_text": str,
    "previous_request_ids": list,
    "next_request_ids": list,
    "apply_language_text_normalization": bool,
    "use_pvc_as_ivc": bool,
    "audio_effects": dict,
    "hcaptcha_token": str,
}
QUERY = ("output_format", "enable_logging", "optimize_streaming_latency")


@dataclass(frozen=True, slots=True)
class Wanted:
    """`text` is empty on sockets, where it comes later."""

    text: str
    model: str | None
    audio: AudioFormat
    settings: VoiceSettings
    language: str
    seed: int | None
    wish: TextWish

    def with_settings(self, settings: VoiceSettings | None) -> Wanted:
        return self if settings is None else replace(self, settings=settings)


def parse(query: Mapping[str, str], content_type: str, body: bytes) -> Wanted:
    """Raises ApiError 415 or 400, naming the field that is at fault."""
    check_query(query, QUERY)
    strict.check_json(content_type)
    # Some clients write null for what they leave out.
    fields = strict.fields(body, BODY, ("text",), has_nulls=True)
    check_text(fields["text"], settings.MAX_INPUT_CHARACTERS, "text")
    return Wanted(
        text=fields["text"],
        model=fields.get("model_id"),
        audio=formats.output_format(query.get("output_format", formats.DEFAULT)),
        settings=voice_settings(fields.get("voice_settings", b"{}")),
        language=fields.get("language_code", "auto"),
        seed=fields.get("seed"),
        wish=text_wish(fields),
    )


def text_wish(fields: Mapping[str, Any]) -> TextWish:
    """Raises ApiError 400."""
    strict.check_choice(fields, "apply_text_normalization", ("auto", "on", "off"))
    check_locators(fields.get("pronunciation_dictionary_locators"))
    is_normalised = fields.get("apply_text_normalization") == "on"
    return TextWish(is_normalised=is_normalised, markup=Markup.PAUSES)


def check_locators(locators: list[Any] | None) -> None:
    """Raises ApiError 400: what a dictionary says would otherwise silently not be said."""
    if locators:
        message = "There are no pronunciation dictionaries here: an account has words of its own."
        raise invalid(message, "pronunciation_dictionary_locators")


def check_query(query: Mapping[str, str], known: tuple[str, ...]) -> None:
    """Raises ApiError 400 for a parameter that means nothing here."""
    for name in query:
        if name not in known:
            message = f"Unknown parameter {name[:50]!r}: known are {', '.join(known)}."
            raise invalid(message, name[:50], "unknown_field")
    for name in ("enable_logging", "show_legacy", "with_settings"):
        if query.get(name, "true").lower() not in ("true", "false"):
            raise invalid(f"{name} may be true or false.", name)


def order(
    request_id: UUID,
    caller: Caller,
    voice_id: str,
    wanted: Wanted,
    catalogue: Catalogue,
    transport: str,
    *,
    whole: bool = False,
    has_words: bool = False,
) -> Order:
    """Raises ApiError 404 on `model_id`, 400 on `voice_id` and `language_code`."""
    model, voice, language = served(wanted, voice_id, catalogue)
    return Order(
        id=request_id,
        caller=caller,
        transport=transport,
        model=model,
        voice=voice,
        response_format=wanted.audio.name,
        sample_rate=wanted.audio.sample_rate,
        bit_rate=wanted.audio.bit_rate,
        speed=wanted.settings.speed,
        language=language,
        instructions="",
        seed=fresh_seed() if wanted.seed is None else wanted.seed,
        whole=whole,
        text_field="text",
        voice_field="voice_id",
        language_field="language_code",
        has_words=has_words,
    )


def served(wanted: Wanted, voice_id: str, catalogue: Catalogue) -> tuple[SpeechModel, Preset, str]:
    """Model, voice and language. Raises as `order` does."""
    model = served_model(catalogue, wanted.model)
    return model, voices.preset(model, voice_id), _language(model, wanted.language)


def served_model(catalogue: Catalogue, name: str | None) -> SpeechModel:
    """ElevenLabs' names stand for the first model with voices. Raises ApiError 404."""
    default = catalogue.default()
    if default is not None and (name is None or _MODEL.fullmatch(name)):
        return default
    try:
        return catalogue.model(name or "")
    except ApiError as error:
        raise ApiError(error.status, error.code, error.message, field="model_id") from None


def _language(model: SpeechModel, name: str) -> str:
    try:
        return model.language(name)
    except ApiError as error:
        raise invalid(error.message, "language_code", error.code) from None
