"""What `multimodal-generation/generation` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.conf import settings

from ttsapp import strict
from ttsapp.dialects.dashscope import lenient, voices
from ttsapp.dialects.dashscope.served import served_language, served_model, served_voice
from ttsapp.keys.authentication import Caller
from ttsapp.speech.order import Order, check_instructions, check_text, fresh_seed
from ttsapp.speech.prepared import TextWish
from ttsapp.voices.catalogue import Catalogue

SEED = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
# Of a hundred; half of it leaves the speech as it is.
VOLUME = Annotated[int, msgspec.Meta(ge=0, le=100)]
USUAL_VOLUME = 50
BODY: dict[str, Any] = {"model": str, "input": msgspec.Raw, "parameters": msgspec.Raw}
# The package's two clients put these in different places: both are looked at.
EITHER: dict[str, Any] = {
    "language_type": str,
    "instructions": str,
    "enable_tn": bool,
    "seed": SEED,
}
INPUT: dict[str, Any] = {"text": str, "voice": str, **EITHER}


@dataclass(frozen=True, slots=True)
class Wanted:
    model: str
    text: str
    voice: str
    language: str
    instructions: str
    seed: int | None
    wish: TextWish


def parse(content_type: str, body: bytes) -> Wanted:
    """Raises ApiError 415 or 400, naming the field that is at fault."""
    strict.check_json(content_type)
    fields = lenient.fields(body, BODY, ("model", "input"))
    said = lenient.fields(bytes(fields["input"]), INPUT, ("text",), within="input")
    beside = lenient.fields(bytes(fields.get("parameters", b"{}")), EITHER, within="parameters")
    chosen = {**beside, **said}
    check_text(said["text"], settings.MAX_INPUT_CHARACTERS, "input.text")
    check_instructions(chosen.get("instructions", ""))
    return Wanted(
        model=fields["model"],
        text=said["text"],
        voice=said.get("voice", voices.DEFAULT),
        language=chosen.get("language_type", "auto"),
        instructions=chosen.get("instructions", ""),
        seed=chosen.get("seed"),
        wish=TextWish(is_normalised=chosen.get("enable_tn", False)),
    )


def order(
    request_id: UUID, caller: Caller, wanted: Wanted, catalogue: Catalogue, *, is_stream: bool
) -> Order:
    """Raises ApiError 404 on `model`, 400 on `input.voice` or `language_type`."""
    model = served_model(catalogue, wanted.model)
    return Order(
        id=request_id,
        caller=caller,
        transport="sse" if is_stream else "http",
        model=model,
        voice=served_voice(model, wanted.voice, "input.voice"),
        response_format="pcm" if is_stream else "wav",
        language=served_language(model, wanted.language, "language_type"),
        instructions=wanted.instructions,
        seed=fresh_seed() if wanted.seed is None else wanted.seed,
        whole=not is_stream,
        text_field="input.text",
        voice_field="input.voice",
        language_field="language_type",
    )
