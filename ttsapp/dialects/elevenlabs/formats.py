"""`output_format`: codec, sample rate and kilobits in one name."""

from __future__ import annotations

from ttsapp.errors import invalid
from ttsapp.speech.encoders import AudioFormat, audio_format

DEFAULT = "mp3_44100_128"
_RATES = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_KILOBITS = (32, 64, 96, 128, 192)

# Name -> (format, Hz, kilobits).
FORMATS: dict[str, tuple[str, int, int | None]] = {
    "mp3_22050_32": ("mp3", 22_050, 32),
    "mp3_24000_48": ("mp3", 24_000, 48),
    **{f"mp3_44100_{bits}": ("mp3", 44_100, bits) for bits in _KILOBITS},
    # Some frameworks leave the bit rate out.
    "mp3_44100": ("mp3", 44_100, 128),
    **{f"pcm_{rate}": ("pcm", rate, None) for rate in _RATES},
    **{f"wav_{rate}": ("wav", rate, None) for rate in _RATES},
    **{f"opus_48000_{bits}": ("opus", 48_000, bits) for bits in _KILOBITS},
    "ulaw_8000": ("mulaw", 8_000, None),
    "alaw_8000": ("alaw", 8_000, None),
}


def output_format(name: str) -> AudioFormat:
    """Raises ApiError 400 on `output_format`."""
    if name not in FORMATS:
        message = f"output_format {name[:50]!r} is not offered: choose one of {', '.join(FORMATS)}."
        raise invalid(message, "output_format")
    codec, rate, kilobits = FORMATS[name]
    return audio_format(codec, rate, None if kilobits is None else kilobits * 1000)


def content_type(audio: AudioFormat) -> str:
    """Frameworks insist on `audio/`, and know telephone audio by its oldest name."""
    return "audio/basic" if audio.name in ("mulaw", "alaw") else audio.content_type
