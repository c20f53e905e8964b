"""What can be asked for: each format's rates, bit rates and content type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ttsapp.errors import invalid
from ttsapp.speech.encoders.samples import SAMPLE_RATE

SAMPLE_RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_RATES = (8_000, 16_000, 24_000, 48_000)
_TELEPHONE = 8_000


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A format on offer, at a rate that it can have. `bit_rate` in bits/s; None: not its matter."""

    name: str
    sample_rate: int
    bit_rate: int | None
    content_type: str


@dataclass(frozen=True, slots=True)
class _Kind:
    content_type: str
    rates: tuple[int, ...] = SAMPLE_RATES
    default_rate: int = SAMPLE_RATE
    has_bit_rate: bool = False


_KINDS = {
    "pcm": _Kind("audio/pcm"),
    "pcm_f32": _Kind("audio/pcm"),
    "wav": _Kind("audio/wav"),
    "wav_f32": _Kind("audio/wav"),
    "wav_mulaw": _Kind("audio/wav", default_rate=_TELEPHONE),
    "wav_alaw": _Kind("audio/wav", default_rate=_TELEPHONE),
    "mulaw": _Kind("audio/mulaw", default_rate=_TELEPHONE),
    "alaw": _Kind("audio/alaw", default_rate=_TELEPHONE),
    "mp3": _Kind("audio/mpeg", has_bit_rate=True),
    "opus": _Kind("audio/opus", _OPUS_RATES, has_bit_rate=True),
    "webm": _Kind("audio/webm", _OPUS_RATES, has_bit_rate=True),
    # At 48 kHz two of its frames fit into one of the engine's, so that none has to be waited for.
    "aac": _Kind("audio/aac", default_rate=48_000, has_bit_rate=True),
    "flac": _Kind("audio/flac"),
}
FORMATS = tuple(_KINDS)


def rates(name: str) -> tuple[int, tuple[int, ...]]:
    """Of a format: its usual sample rate, and all that it can have."""
    return _KINDS[name].default_rate, _KINDS[name].rates


def content_types() -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind.content_type for kind in _KINDS.values()))


def content_type(name: str) -> str | None:
    """Of a format's name as it was once asked for; None where none is known."""
    kind = _KINDS.get(name)
    return kind.content_type if kind else None


# Kilobits that each version of MPEG audio allows, and the usual one.
_MPEG: dict[str, tuple[tuple[int, ...], int]] = {
    "1": ((32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320), 128),
    "2": ((8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160), 96),
    "2.5": ((8, 16, 24, 32, 40, 48, 56, 64), 32),
}


def audio_format(
    name: str,
    sample_rate: int | None = None,
    bit_rate: int | None = None,
    fields: Mapping[str, str] | None = None,
) -> AudioFormat:
    """The format of that name, with its usual rates for what is left out.

    Raises ApiError 400 on `response_format`, `sample_rate` or `bit_rate`; `fields` maps these
    to the names that a dialect has for them."""
    called = {"response_format": "response_format", "sample_rate": "sample_rate"}
    called |= {"bit_rate": "bit_rate", **(fields or {})}
    kind = _KINDS.get(name)
    if kind is None:
        raise _refused(called["response_format"], repr(name[:50]), FORMATS)
    rate = kind.default_rate if sample_rate is None else sample_rate
    if rate not in kind.rates:
        raise _refused(called["sample_rate"], f"{rate} for {name}", kind.rates)
    bits = _bit_rate(name, rate, bit_rate, called["bit_rate"]) if kind.has_bit_rate else None
    if bits is None and bit_rate is not None:
        raise invalid(
            f"{name} has no bit rate: leave {called['bit_rate']} out.", called["bit_rate"]
        )
    return AudioFormat(name, rate, bits, kind.content_type)


def _bit_rate(name: str, rate: int, wanted: int | None, field: str) -> int:
    if name == "mp3":
        return _mp3_bit_rate(rate, wanted, field)
    low, high = (6_000, 256_000) if name in ("opus", "webm") else _aac_bit_rates(rate)
    if wanted is None:
        return min(48_000 if name != "aac" else 64_000, high)
    if not low <= wanted <= high:
        message = f"{field} {wanted} is not offered for {name}: choose one from {low} to {high}."
        raise invalid(message, field)
    return wanted


def _aac_bit_rates(rate: int) -> tuple[int, int]:
    """A frame of 1,024 samples holds 6,144 bits at most."""
    return 8_000, min(6 * rate, 256_000)


def _mp3_bit_rate(rate: int, wanted: int | None, field: str) -> int:
    version = "1" if rate >= 32_000 else "2" if rate >= 16_000 else "2.5"
    allowed, usual = _MPEG[version]
    bits = usual * 1000 if wanted is None else wanted
    if bits not in [kilobits * 1000 for kilobits in allowed]:
        choices = tuple(kilobits * 1000 for kilobits in allowed)
        raise _refused(field, f"{wanted} for mp3 at {rate} Hz", choices)
    return bits


def _refused(field: str, what: str, choices: tuple[object, ...]) -> Exception:
    offered = ", ".join(str(choice) for choice in choices)
    return invalid(f"{field} {what} is not offered: choose one of {offered}.", field)
