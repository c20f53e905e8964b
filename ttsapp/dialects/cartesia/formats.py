"""`output_format`: a container, an encoding, a rate."""

from __future__ import annotations

from typing import Any

from ttsapp import strict
from ttsapp.errors import not_offered
from ttsapp.speech.encoders import AudioFormat, audio_format

# encoding -> (format without a container, format in a WAV file).
_ENCODINGS = {
    "pcm_s16le": ("pcm", "wav"),
    "pcm_f32le": ("pcm_f32", "wav_f32"),
    "pcm_mulaw": ("mulaw", "wav_mulaw"),
    "pcm_alaw": ("alaw", "wav_alaw"),
}
FIELDS: dict[str, Any] = {
    "container": str,
    "encoding": str,
    "sample_rate": int,
    "bit_rate": int,
}
_NAMES = {name: f"output_format.{name}" for name in ("sample_rate", "bit_rate")}
# What MPEG audio allows below each sample rate, in bits/s.
_MPEG_LIMITS = ((16_000, 64_000), (32_000, 160_000))


def parse(body: bytes, containers: tuple[str, ...]) -> AudioFormat:
    """Raises ApiError 400, naming the field that is at fault."""
    required = ("container", "sample_rate")
    fields = strict.fields(body, FIELDS, required, within="output_format", has_nulls=True)
    container, rate = fields["container"], fields["sample_rate"]
    if container not in containers:
        raise not_offered("output_format.container", container, containers)
    if container == "mp3":
        return audio_format("mp3", rate, _bit_rate(rate, fields.get("bit_rate")), _NAMES)
    encoding = fields.get("encoding", "")
    if encoding not in _ENCODINGS:
        raise not_offered("output_format.encoding", encoding, tuple(_ENCODINGS))
    bare, contained = _ENCODINGS[encoding]
    name = bare if container == "raw" else contained
    return audio_format(name, rate, fields.get("bit_rate"), _NAMES)


def _bit_rate(sample_rate: int, wanted: int | None) -> int | None:
    """Every bit rate may be asked for at every sample rate; MP3 knows less at the lower ones."""
    if wanted is None:
        return None
    limits = [limit for rate, limit in _MPEG_LIMITS if sample_rate < rate]
    return min([wanted, *limits])
