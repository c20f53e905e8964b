"""OpenAI's request and error shapes: parsing without trusting, rendering without surprises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings

from ttsapp import strict
from ttsapp.dialects.openai import inline, words
from ttsapp.dialects.openai.asked_voices import speaker
from ttsapp.dialects.openai.inline import Reference
from ttsapp.dialects.openai.text import WISHES, wish
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech import asked_frames, captions
from ttsapp.speech.encoders import FORMATS, AudioFormat, audio_format
from ttsapp.speech.order import (
    LEAD_SILENCE_MS,
    SEED,
    Order,
    check_instructions,
    check_speed,
    check_text,
    fresh_seed,
)
from ttsapp.speech.prepared import TextWish
from ttsapp.voices.catalogue import Catalogue


class VoiceId(msgspec.Struct, forbid_unknown_fields=True):
    id: str


# Each field's type is checked on its own, so that a refusal can name the field.
FIELDS: dict[str, Any] = {
    "model": str,
    "input": str,
    "voice": str | VoiceId,
    "task_type": str,
    "instructions": str,
    "instruct": str,
    "response_format": str,
    "stream_format": str,
    "sample_rate": int,
    "bit_rate": int,
    "speed": float,
    "language": str,
    "seed": SEED,
    "max_new_tokens": asked_frames.ANSWER,
    "initial_codec_chunk_frames": asked_frames.FIRST_CHUNK,
    "trim_silence": bool,
    "lead_silence_ms": LEAD_SILENCE_MS,
    "stream": bool,
    "word_timestamps": bool,
    **WISHES,
    **inline.FIELDS,
}
# And the voice, where it is not described.
REQUIRED = ("model", "input")


@dataclass(frozen=True, slots=True)
class SpeechBody:
    """A `POST /v1/audio/speech` body whose fields are of the right kind and on offer. `captions`:
    the format of those that are wanted in place of audio."""

    model: str
    input: str
    voice: str | None
    task: str
    instructions: str
    audio: AudioFormat
    speed: float
    language: str
    seed: int
    wish: TextWish
    is_sse: bool
    is_whole: bool
    has_words: bool
    captions: str
    max_frames: int
    first_chunk: int
    reference: Reference | None
    keeps_silence: bool
    lead_silence_ms: int


def parse_speech(content_type: str, body: bytes) -> SpeechBody:
    """Raises ApiError 415 or 400, naming the field that is at fault."""
    fields = _typed_fields(content_type, body)
    reference = inline.parse(fields)
    words.check(fields)
    name = fields.get("response_format", "mp3")
    strict.check_choice(fields, "response_format", (*FORMATS, *captions.FORMATS))
    named = name if name in captions.FORMATS else ""
    audio = audio_format(
        "pcm" if named else name, fields.get("sample_rate"), fields.get("bit_rate")
    )
    strict.check_choice(fields, "stream_format", ("audio", "sse"))
    check_speed(fields.get("speed", 1.0))
    instructions = _instructions(fields)
    check_text(fields["input"], settings.MAX_INPUT_CHARACTERS, "input")
    is_sse, is_whole = fields.get("stream_format") == "sse", fields.get("stream") is False
    if is_sse and is_whole:
        raise invalid("Events are always streamed: drop stream or stream_format.", "stream")
    voice = fields.get("voice")
    return SpeechBody(
        model=fields["model"],
        input=fields["input"],
        voice=voice.id if isinstance(voice, VoiceId) else voice,
        task=fields.get("task_type", ""),
        instructions=instructions,
        audio=audio,
        speed=fields.get("speed", 1.0),
        language=fields.get("language", "auto"),
        seed=fields["seed"] if "seed" in fields else fresh_seed(),
        wish=wish(fields),
        is_sse=is_sse,
        is_whole=is_whole or bool(named),
        has_words=fields.get("word_timestamps", False) or bool(named),
        captions=named,
        max_frames=fields.get("max_new_tokens", 0),
        first_chunk=fields.get("initial_codec_chunk_frames", 0),
        reference=reference,
        keeps_silence=not fields.get("trim_silence", True),
        lead_silence_ms=fields.get("lead_silence_ms", 0),
    )


def order(request_id: UUID, caller: Caller, body: SpeechBody, catalogue: Catalogue) -> Order:
    """The body against what the engine serves. Raises ApiError for what it does not."""
    asked = catalogue.model(body.model)
    model, voice = speaker(catalogue, asked, body.voice, body.task, body.instructions)
    language = model.language(body.language)
    if body.has_words:
        field = "response_format" if body.captions else "word_timestamps"
        words.check_model(model, language, field)
    return Order(
        id=request_id,
        caller=caller,
        transport="sse" if body.is_sse else "http",
        model=model,
        voice=voice,
        response_format=body.captions or body.audio.name,
        sample_rate=body.audio.sample_rate,
        bit_rate=body.audio.bit_rate,
        speed=body.speed,
        language=language,
        instructions=body.instructions,
        seed=body.seed,
        whole=body.is_whole,
        has_words=body.has_words,
        max_frames=body.max_frames,
        first_chunk=body.first_chunk,
        keeps_silence=body.keeps_silence,
        lead_silence_ms=body.lead_silence_ms,
    )


def error_body(error: ApiError) -> dict[str, Any]:
    """The shape OpenAI's clients unwrap."""
    return {
        "error": {
            "message": error.message,
            "type": _error_type(error.status),
            "param": error.field,
            "code": error.code,
        }
    }


def _instructions(fields: dict[str, Any]) -> str:
    """OpenAI's name for the style prompt, or the one that other servers use."""
    if "instructions" in fields and "instruct" in fields:
        raise invalid("Send instructions or instruct, not both.", "instruct")
    text: str = fields.get("instructions", fields.get("instruct", ""))
    check_instructions(text)
    return text


def _error_type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "server_error" if status >= 500 else "invalid_request_error"


def _typed_fields(content_type: str, body: bytes) -> dict[str, Any]:
    strict.check_json(content_type)
    return strict.fields(body, FIELDS, REQUIRED, has_nulls=True, needed=("voice",))
