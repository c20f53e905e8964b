"""Which formats, rates and bit rates are on offer, and how the others are refused."""

from __future__ import annotations

import pytest

from ttsapp.errors import ApiError
from ttsapp.speech.encoders import FORMATS, SAMPLE_RATES, AudioFormat, audio_format


def test_defaults() -> None:
    assert audio_format("pcm") == AudioFormat("pcm", 24_000, None, "audio/pcm")
    assert audio_format("mp3") == AudioFormat("mp3", 24_000, 96_000, "audio/mpeg")
    assert audio_format("opus") == AudioFormat("opus", 24_000, 48_000, "audio/opus")
    assert audio_format("webm") == AudioFormat("webm", 24_000, 48_000, "audio/webm")
    assert audio_format("aac") == AudioFormat("aac", 48_000, 64_000, "audio/aac")
    assert audio_format("flac") == AudioFormat("flac", 24_000, None, "audio/flac")
    assert audio_format("wav") == AudioFormat("wav", 24_000, None, "audio/wav")
    assert audio_format("mulaw") == AudioFormat("mulaw", 8_000, None, "audio/mulaw")
    assert audio_format("alaw") == AudioFormat("alaw", 8_000, None, "audio/alaw")


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("opus", "webm")])
@pytest.mark.parametrize("rate", SAMPLE_RATES)
def test_every_rate(name: str, rate: int) -> None:
    assert audio_format(name, rate).sample_rate == rate


def refusal(*args: object, **options: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        audio_format(*args, **options)  # type: ignore[arg-type]
    assert caught.value.status == 400
    return caught.value


def test_unknown_format() -> None:
    error = refusal("ogg")
    assert error.field == "response_format"
    assert error.message == (
        "response_format 'ogg' is not offered: choose one of pcm, pcm_f32, wav, wav_f32, "
        "wav_mulaw, wav_alaw, mulaw, alaw, mp3, opus, webm, aac, flac."
    )


def test_unknown_rate() -> None:
    error = refusal("opus", 44_100)
    assert error.field == "sample_rate"
    assert error.message == (
        "sample_rate 44100 for opus is not offered: choose one of 8000, 16000, 24000, 48000."
    )


def test_unknown_mp3_bit_rate() -> None:
    error = refusal("mp3", 8_000, 96_000)
    assert error.field == "bit_rate"
    assert error.message == (
        "bit_rate 96000 for mp3 at 8000 Hz is not offered: choose one of 8000, 16000, 24000, "
        "32000, 40000, 48000, 56000, 64000."
    )


def test_bit_rate_out_of_range() -> None:
    error = refusal("opus", None, 1)
    assert (error.field, error.message) == (
        "bit_rate",
        "bit_rate 1 is not offered for opus: choose one from 6000 to 256000.",
    )


def test_no_bit_rate() -> None:
    error = refusal("wav", None, 64_000)
    assert (error.field, error.message) == (
        "bit_rate",
        "wav has no bit rate: leave bit_rate out.",
    )


def test_a_dialect_has_its_own_names() -> None:
    error = refusal("mp3", 1, fields={"sample_rate": "output_format"})
    assert error.field == "output_format"
    assert error.message.startswith("output_format 1 for mp3 is not offered")
