"""`audio/tts/SpeechSynthesizer`: CosyVoice's call, in a format and at a rate that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ttsapp import strict
from ttsapp.dialects import door
from ttsapp.dialects.dashscope import lenient, voices
from ttsapp.dialects.dashscope.answering import Form, answer, is_stream
from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.dashscope.request import BODY, SEED, USUAL_VOLUME, VOLUME
from ttsapp.dialects.dashscope.served import served_language, served_model, served_voice
from ttsapp.dialects.door import endpoint
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.keys.authentication import Caller
from ttsapp.keys.tokens import Scope
from ttsapp.speech.encoders import AudioFormat, audio_format
from ttsapp.speech.order import Order, check_instructions, check_speed, check_text, fresh_seed
from ttsapp.speech.prepared import TextWish, whole_text
from ttsapp.speech.session import Session
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.selectors import catalogue

# Not among these: pitch, which has no effect.
INPUT: dict[str, Any] = {
    "text": str,
    "voice": str,
    "format": str,
    "sample_rate": int,
    "volume": VOLUME,
    "rate": float,
    "instruction": str,
    "language_hints": list[str],
    "seed": SEED,
}
FORMATS = ("wav", "pcm", "mp3", "opus")
# Its client looks for audio in events of this type alone.
_BESIDE = {"type": "sentence-synthesis", "sentence": {"index": 0, "words": []}}
_NAMES = {"response_format": "input.format", "sample_rate": "input.sample_rate"}


@dataclass(frozen=True, slots=True)
class Wanted:
    model: str
    said: dict[str, Any]
    audio: AudioFormat


def parse(content_type: str, body: bytes) -> Wanted:
    """Raises ApiError 415 or 400, naming the field that is at fault."""
    strict.check_json(content_type)
    fields = lenient.fields(body, BODY, ("model", "input"))
    said = lenient.fields(bytes(fields["input"]), INPUT, ("text",), within="input")
    check_text(said["text"], settings.MAX_INPUT_CHARACTERS, "input.text")
    check_speed(said.get("rate", 1.0), "input.rate")
    check_instructions(said.get("instruction", ""), "input.instruction")
    named = {"input.format": said.get("format", "wav")}
    strict.check_choice(named, "input.format", FORMATS)
    audio = audio_format(named["input.format"], said.get("sample_rate"), None, _NAMES)
    return Wanted(fields["model"], said, audio)


def order(
    request: UUID, caller: Caller, wanted: Wanted, served: Catalogue, *, is_stream: bool
) -> Order:
    """Raises ApiError 404 on `model`, 400 on `input.voice` or `input.language_hints`."""
    model, said = served_model(served, wanted.model), wanted.said
    hints = said.get("language_hints") or ["auto"]
    return Order(
        id=request,
        caller=caller,
        transport="sse" if is_stream else "http",
        model=model,
        voice=served_voice(model, said.get("voice", voices.DEFAULT), "input.voice"),
        response_format=wanted.audio.name,
        sample_rate=wanted.audio.sample_rate,
        bit_rate=wanted.audio.bit_rate,
        speed=said.get("rate", 1.0),
        volume=said.get("volume", USUAL_VOLUME) / USUAL_VOLUME,
        language=served_language(model, hints[0], "input.language_hints"),
        instructions=said.get("instruction", ""),
        seed=said["seed"] if "seed" in said else fresh_seed(),
        whole=not is_stream,
        text_field="input.text",
        voice_field="input.voice",
        language_field="input.language_hints",
    )


@endpoint(DASHSCOPE, "POST", scope=Scope.SPEECH)
async def synthesizer(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    streamed = is_stream(request)
    try:
        wanted = parse(request.META.get("CONTENT_TYPE", ""), request.body)
        served = await catalogue(caller)
        asked = order(request_id(), caller, wanted, served, is_stream=streamed)
        text = wanted.said["text"]
        session = Session(asked, text, await whole_text(asked, text, TextWish()))
    except ApiError as error:
        door.note_refusal(caller, "sse" if streamed else "http", error)
        raise
    return await answer(request, caller, session, Form(wanted.audio.name, _joined, _BESIDE))


async def _joined(pieces: Sequence[bytes]) -> bytes:
    """They are the file, in the format that was asked for."""
    return b"".join(pieces)
