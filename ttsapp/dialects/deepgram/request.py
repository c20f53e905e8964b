"""What `v1/speak` is asked for: everything but the text stands in the query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from ttsapp.dialects.deepgram import voices
from ttsapp.errors import ApiError, invalid, not_offered, voice_error
from ttsapp.keys.authentication import Caller
from ttsapp.speech.encoders import AudioFormat, audio_format
from ttsapp.speech.order import Order, check_speed, fresh_seed
from ttsapp.voices.catalogue import Catalogue, SpeechModel, stand_ins
from ttsapp.voices.own import Preset

DEFAULT_MODEL = "aura-asteria-en"
_MODEL = re.compile(r"aura(?:-\d+)?-(?P<voice>[a-z]+)-(?P<language>[a-z]{2})")

# encoding -> (format without a container, format in its usual one, that container).
ENCODINGS = {
    "linear16": ("pcm", "wav", "wav"),
    "mulaw": ("mulaw", "wav_mulaw", "wav"),
    "alaw": ("alaw", "wav_alaw", "wav"),
    "mp3": ("mp3", "mp3", "none"),
    "opus": ("opus", "opus", "ogg"),
    "flac": ("flac", "flac", "none"),
    "aac": ("aac", "aac", "none"),
}
SOCKET_ENCODINGS = ("linear16", "mulaw", "alaw")
KNOWN = ("model", "encoding", "container", "sample_rate", "bit_rate", "speed")
# Taken and without effect: labels for reports, and leave to train on requests, which we never do.
IGNORED = ("tag", "mip_opt_out")
_NAMES = {"response_format": "encoding"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """`model`: None where none is named."""

    model: str | None
    audio: AudioFormat
    speed: float


def parse(query: Mapping[str, str], *, is_socket: bool = False) -> Wanted:
    """Raises ApiError 400, naming the parameter that is at fault."""
    for name in query:
        if name not in (*KNOWN, *IGNORED):
            raise invalid(f"Unknown parameter {name[:50]!r}.", name[:50], "unknown_field")
    speed = _number(query, "speed")
    speed = 1.0 if speed is None else speed
    check_speed(speed)
    name = _format_name(query, is_socket=is_socket)
    rates = (_whole(query, "sample_rate"), _whole(query, "bit_rate"))
    return Wanted(query.get("model"), audio_format(name, *rates, _NAMES), speed)


def order(
    request_id: UUID, caller: Caller, wanted: Wanted, catalogue: Catalogue, transport: str
) -> Order:
    """Raises ApiError 400 on `model` for a voice or a language that is not served."""
    name = wanted.model or _usual(catalogue, caller)
    model, voice, language = _voice(name, catalogue)
    return Order(
        id=request_id,
        caller=caller,
        transport=transport,
        model=model,
        voice=voice,
        response_format=wanted.audio.name,
        sample_rate=wanted.audio.sample_rate,
        bit_rate=wanted.audio.bit_rate,
        speed=wanted.speed,
        language=language,
        instructions="",
        seed=fresh_seed(),
        text_field="text",
        voice_field="model",
        language_field="model",
    )


def _usual(catalogue: Catalogue, caller: Caller) -> str:
    """Deepgram's own, or the first that a key may use which is bound to others."""
    found = catalogue.listed(caller.rules)
    model = found.default()
    usual = DEFAULT_MODEL.split("-")[1]
    stand_in = stand_ins(model, voices.FEMALE, voices.MALE).get(usual) if model else None
    if model is None or stand_in is None or found.shows(stand_in):
        return DEFAULT_MODEL
    return next((voice.name for voice in (*found.own, *found.shown(model))), DEFAULT_MODEL)


def _voice(name: str, catalogue: Catalogue) -> tuple[SpeechModel, Preset, str]:
    """Deepgram's models are voices: `aura-2-thalia-en`, or here the plain name of one of ours."""
    model = catalogue.default()
    if model is None:
        message = "No model with voices of its own is served."
        raise ApiError(404, "model_not_found", message, field="model")
    wanted, language = name.lower(), "auto"
    if parts := _MODEL.fullmatch(wanted):
        wanted, language = parts["voice"], parts["language"]
    try:
        voice = stand_ins(model, voices.FEMALE, voices.MALE).get(wanted) or model.preset(wanted)
        return model, voice, model.language(language, "model")
    except ApiError as error:
        raise voice_error(error, "model") from None


def _format_name(query: Mapping[str, str], *, is_socket: bool) -> str:
    encoding = query.get("encoding", "linear16" if is_socket else "mp3")
    offered = SOCKET_ENCODINGS if is_socket else tuple(ENCODINGS)
    if encoding not in offered:
        raise not_offered("encoding", encoding, offered)
    bare, contained, usual = ENCODINGS[encoding]
    container = query.get("container", "none" if is_socket else usual)
    # Opus has no bare form to stream.
    containers = ("none",) if is_socket else (usual,) if encoding == "opus" else ("none", usual)
    if container not in containers:
        raise not_offered("container", container, containers)
    return bare if container == "none" else contained


def _whole(query: Mapping[str, str], name: str) -> int | None:
    number = _number(query, name)
    if number is None or number == int(number):
        return None if number is None else int(number)
    raise invalid(f"{name} must be a whole number.", name)


def _number(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name)
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) is None:
        raise invalid(f"{name} must be a number, not {text[:50]!r}.", name)
    return float(text)
