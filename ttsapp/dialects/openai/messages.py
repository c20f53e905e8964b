"""The JSON messages of the speech socket, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import msgspec

from ttsapp import strict
from ttsapp.dialects.openai import codec, uncloned, words
from ttsapp.dialects.openai.asked_voices import speaker
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech.encoders import audio_format
from ttsapp.speech.events import Done, Event, Failed, Flushed, Report, Words
from ttsapp.speech.feed import TextMode
from ttsapp.speech.order import (
    LEAD_SILENCE_MS,
    SEED,
    Order,
    check_instructions,
    check_speed,
    fresh_seed,
)
from ttsapp.speech.prepared import live_text
from ttsapp.speech.text.markup import markup
from ttsapp.speech.text.prepare import Prepared
from ttsapp.voices.catalogue import Catalogue

_START: dict[str, Any] = {
    "type": str,
    "model": str,
    "voice": str,
    "task_type": str,
    "response_format": str,
    "sample_rate": int,
    "bit_rate": int,
    "speed": float,
    "language": str,
    "instructions": str,
    "seed": SEED,
    "trim_silence": bool,
    "lead_silence_ms": LEAD_SILENCE_MS,
    "mode": str,
    "apply_text_normalization": str,
    "enable_ssml_parsing": bool | str,
    "lexicon": bool,
    "word_timestamps": bool,
}
PLAYED_MS = Annotated[int, msgspec.Meta(ge=0, le=86_400_000)]
# Each message's fields, and those that it must have; a voice too, where it is not described.
_KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "start": (_START, ("type",)),
    "text": ({"type": str, "text": str}, ("type", "text")),
    "flush": ({"type": str, "flush_id": str}, ("type",)),
    "end": ({"type": str}, ("type",)),
    "cancel": ({"type": str, "played_ms": PLAYED_MS}, ("type",)),
}


class _Typed(msgspec.Struct):
    type: str


def parse(text: str) -> dict[str, Any]:
    """A message of a known type with fields of the right kind. Raises ApiError 400."""
    body = text.encode("utf-8", "surrogatepass")
    try:
        kind = msgspec.json.decode(body, type=_Typed).type
    except (msgspec.DecodeError, RecursionError):
        message = "A message is a JSON object with a type."
        raise invalid(message, "type", "invalid_json") from None
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise invalid(f"Unknown message type {kind[:50]!r}: send one of {known}.", "type")
    try:
        return strict.fields(body, *_KINDS[kind], needed=("voice",))
    except ApiError as error:
        raise uncloned.told(error) from None


def order(request_id: UUID, caller: Caller, start: dict[str, Any], served: Catalogue) -> Order:
    """A `start` message against what the engine serves. Raises ApiError."""
    name = start.get("response_format", "pcm")
    audio = audio_format(name, start.get("sample_rate"), start.get("bit_rate"))
    check_speed(start.get("speed", 1.0))
    strict.check_choice(start, "mode", tuple(TextMode))
    instructions = start.get("instructions", "")
    check_instructions(instructions)
    asked = served.model(start["model"]) if "model" in start else served.default()
    if asked is None:
        raise ApiError(404, "model_not_found", "No model with voices is served.", field="model")
    task = start.get("task_type", "")
    model, voice = speaker(served, asked, start.get("voice"), task, instructions)
    language = model.language(start.get("language", "auto"))
    if has_words := start.get("word_timestamps", False):
        words.check_model(model, language, "word_timestamps")
    return Order(
        id=request_id,
        caller=caller,
        transport="ws",
        model=model,
        voice=voice,
        response_format=name,
        sample_rate=audio.sample_rate,
        bit_rate=audio.bit_rate,
        speed=start.get("speed", 1.0),
        language=language,
        instructions=instructions,
        seed=start["seed"] if "seed" in start else fresh_seed(),
        text_field="text",
        has_words=has_words,
        keeps_silence=not start.get("trim_silence", True),
        lead_silence_ms=start.get("lead_silence_ms", 0),
    )


async def prepare(start: dict[str, Any], order: Order) -> Callable[[str], Prepared]:
    """What is done to each part of the text. Raises ApiError 400."""
    strict.check_choice(start, "apply_text_normalization", ("auto", "on", "off"))
    is_normalised = start.get("apply_text_normalization") == "on"
    if is_normalised and start.get("mode") == TextMode.TOKEN:
        message = "Only whole sentences can be normalised: leave mode out, or send off."
        raise invalid(message, "apply_text_normalization")
    asked = start.get("enable_ssml_parsing", False)
    if asked not in (False, "pauses"):
        message = 'enable_ssml_parsing may be false or "pauses": growing text is no document.'
        raise invalid(message, "enable_ssml_parsing")
    if start.get("mode") == TextMode.TOKEN:
        for field in ("enable_ssml_parsing", "lead_silence_ms"):
            if start.get(field):
                message = f"Only whole sentences can have pauses: leave mode or {field} out."
                raise invalid(message, field)
    has_lexicon = start.get("lexicon", True)
    return await live_text(
        order, is_normalised=is_normalised, has_lexicon=has_lexicon, markup=markup(asked)
    )


def accepted(order: Order) -> str:
    return _message(
        "accepted",
        order.id,
        model=order.model.id,
        voice=order.voice.name,
        response_format=order.response_format,
        sample_rate=order.audio.sample_rate,
        seed=order.seed,
    )


def of_event(event: Event, order: Order) -> str:
    """What the socket says of anything but audio."""
    match event:
        case Words():
            return _message("words", order.id, words=words.listed(event.words, order.speed))
        case Flushed():
            return _message("flushed", order.id, flush_id=event.id)
        case Done():
            return _message("finished", order.id, finish_reason=event.reason, **_told(event.report))
        case Failed():
            body = codec.error_body(event.error)
            return _message("error", order.id, **body, **_told(event.report))
    raise AssertionError(event)


def error(problem: ApiError, request_id: UUID | None) -> str:
    return _message("error", request_id, **codec.error_body(problem))


def _told(report: Report) -> dict[str, Any]:
    return {
        "characters": report.characters,
        "spoken_characters": report.spoken_characters,
        "billed_characters": report.billed_characters,
        "audio_ms": report.audio_ms,
        "first_audio_ms": report.first_audio_ms,
    }


def _message(kind: str, request_id: UUID | None, **values: Any) -> str:
    named = {"id": str(request_id)} if request_id else {}
    return msgspec.json.encode({"type": kind, **named, **values}).decode()
