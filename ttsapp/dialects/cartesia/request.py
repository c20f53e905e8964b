"""A request to speak: bytes, events and the socket share its shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from ttsapp import strict
from ttsapp.dialects.cartesia import formats, voices
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech.encoders import AudioFormat
from ttsapp.speech.order import Order, fresh_seed
from ttsapp.voices.catalogue import Catalogue, SpeechModel

BYTES: dict[str, Any] = {
    "model_id": str,
    "transcript": str,
    "voice": msgspec.Raw,
    "output_format": msgspec.Raw,
    "language": str,
    "locale": str,
    "generation_config": msgspec.Raw,
    "speed": str,
    "normalization": str,
    "pronunciation_dict_id": str,
    "save": bool,
}
EVENTS: dict[str, Any] = {
    **{name: kind for name, kind in BYTES.items() if name != "save"},
    "add_timestamps": bool,
    "add_phoneme_timestamps": bool,
    "use_normalized_timestamps": bool,
    "context_id": str,
}
REQUIRED = ("model_id", "transcript", "voice", "output_format")

GENERATION: dict[str, Any] = {"speed": float, "volume": float, "emotion": str}
_SLOWEST, _FASTEST, _QUIETEST, _LOUDEST = 0.6, 1.5, 0.5, 2.0
_SPEEDS = {"slow": 0.8, "normal": 1.0, "fast": 1.25}


class VoiceObject(msgspec.Struct):
    id: str | None = None
    mode: str = "id"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`language`: as the client writes it. `normalization`: auto, off, or a language to use."""

    model: str
    voice: str
    audio: AudioFormat
    speed: float
    volume: float
    language: str
    language_field: str
    normalization: str
    has_words: bool


def wanted(fields: Mapping[str, Any], containers: tuple[str, ...] = ("raw",)) -> Wanted:
    """From fields whose types are known to be right. Raises ApiError 400, naming the field."""
    _refuse_what_is_not_here(fields)
    if "language" in fields and "locale" in fields:
        raise invalid("Send language or locale, not both.", "locale")
    speed, volume = _generation(fields)
    return Wanted(
        model=fields["model_id"],
        voice=_voice(fields["voice"]),
        audio=formats.parse(bytes(fields["output_format"]), containers),
        speed=speed,
        volume=volume,
        language=fields.get("language") or fields.get("locale") or "auto",
        language_field="locale" if "locale" in fields else "language",
        normalization=fields.get("normalization", "auto"),
        has_words=fields.get("add_timestamps", False),
    )


def order(
    request_id: UUID, caller: Caller, asked: Wanted, catalogue: Catalogue, transport: str
) -> Order:
    """Raises ApiError 400 or 404 for what the engine does not serve."""
    model = _model(asked.model, catalogue)
    try:
        language = model.language(asked.language)
    except ApiError as error:
        raise invalid(error.message, asked.language_field, error.code) from None
    return Order(
        id=request_id,
        caller=caller,
        transport=transport,
        model=model,
        voice=voices.find(model, asked.voice),
        response_format=asked.audio.name,
        sample_rate=asked.audio.sample_rate,
        bit_rate=asked.audio.bit_rate,
        speed=asked.speed,
        volume=asked.volume,
        language=language,
        instructions="",
        seed=fresh_seed(),
        text_field="transcript",
        language_field=asked.language_field,
        has_words=asked.has_words,
    )


def reading_language(asked: Wanted, spoken: Order) -> str:
    """The language whose rules turn numbers into words."""
    if asked.normalization in ("auto", "off"):
        return spoken.language
    try:
        return spoken.model.language(asked.normalization)
    except ApiError as error:
        raise invalid(error.message, "normalization", error.code) from None


def _model(name: str, catalogue: Catalogue) -> SpeechModel:
    """One of ours by its name; any of Cartesia's stands for the first with voices."""
    default = catalogue.default()
    if default is not None and name.startswith("sonic"):
        return default
    try:
        return catalogue.model(name)
    except ApiError as error:
        raise ApiError(error.status, error.code, error.message, field="model_id") from None


def _voice(raw: msgspec.Raw | bytes) -> str:
    """`"id"`, `{"id"}` or `{"mode": "id", "id"}`; what else stands in the object is let be."""
    try:
        voice = msgspec.json.decode(raw, type=str | VoiceObject)
    except (msgspec.MsgspecError, RecursionError):
        raise _no_voice() from None
    if isinstance(voice, str):
        return voice
    if voice.mode != "id":
        message = 'Voices are chosen by id here: send voice as {"mode": "id", "id": text}.'
        raise invalid(message, "voice.mode", "unsupported_voice_mode")
    if voice.id is None:
        raise _no_voice()
    return voice.id


def _no_voice() -> ApiError:
    return invalid('voice must be text, or an object {"id": text}.', "voice", "invalid_type")


def _generation(fields: Mapping[str, Any]) -> tuple[float, float]:
    """Speed, in `generation_config` or in the older words for it, and volume. An emotion is checked
    only."""
    strict.check_choice(fields, "speed", tuple(_SPEEDS))
    config: dict[str, Any] = {}
    if "generation_config" in fields:
        raw = bytes(fields["generation_config"])
        config = strict.fields(raw, GENERATION, (), within="generation_config", has_nulls=True)
    _check_range(config, "volume", _QUIETEST, _LOUDEST)
    _check_range(config, "speed", _SLOWEST, _FASTEST)
    return config.get("speed", _SPEEDS[fields.get("speed", "normal")]), config.get("volume", 1.0)


def _check_range(config: Mapping[str, Any], name: str, least: float, most: float) -> None:
    if name in config and not least <= config[name] <= most:
        field = f"generation_config.{name}"
        raise invalid(f"{field} may be {least} to {most}.", field)


def _refuse_what_is_not_here(fields: Mapping[str, Any]) -> None:
    if fields.get("pronunciation_dict_id"):
        message = (
            "Pronunciations here are your account's own words, said in every request: "
            "leave pronunciation_dict_id out."
        )
        raise invalid(message, "pronunciation_dict_id", "unsupported_parameter")
    if fields.get("save"):
        message = "Audio is never kept here: leave save out, and keep what you are sent."
        raise invalid(message, "save", "unsupported_parameter")
    if fields.get("add_phoneme_timestamps"):
        message = "Phonemes are not timed here: leave add_phoneme_timestamps out."
        raise invalid(message, "add_phoneme_timestamps", "unsupported_parameter")
