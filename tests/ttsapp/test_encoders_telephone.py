"""G.711, whose codes are fixed by the standard."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttsapp.decoding import by_ffmpeg, by_libsndfile
from ttsapp.speech.encoders import audio_format, encode_whole, encoder

EVERY = np.arange(-32768, 32768).astype(np.int16)

# Standard points: the largest, the smallest, zero and one either side.
CODES = {
    "mulaw": {32767: 0x80, -32768: 0x00, 0: 0xFF, -1: 0x7E, 1000: 0xCE, -1000: 0x4E},
    "alaw": {32767: 0xAA, -32768: 0x2A, 0: 0xD5, -1: 0x55, 1000: 0xFA, -1000: 0x7A},
}


def encoded(law: str) -> bytes:
    made = encoder(audio_format(law, 24_000))
    return made.header() + made.push(EVERY.tobytes()) + made.finish()


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_codes(law: str) -> None:
    codes = dict(zip(EVERY.tolist(), encoded(law), strict=True))
    assert {value: codes[value] for value in CODES[law]} == CODES[law]


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_every_value_decodes_within_its_step(law: str) -> None:
    samples, _ = by_ffmpeg(encoded(law), law)
    heard = samples * 32768
    # A step is a sixteenth of the value's octave; the loudest are clipped.
    step = np.maximum(np.abs(EVERY.astype(int)) / 16, 16)
    assert np.all(np.abs(heard - EVERY) <= np.where(np.abs(EVERY.astype(int)) > 32_124, 660, step))
    assert np.all(np.diff(heard) >= 0)


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_wav_says_which_law(law: str) -> None:
    file = encode_whole(audio_format(f"wav_{law}", 24_000), EVERY.tobytes())
    assert np.array_equal(by_libsndfile(file)[0], by_ffmpeg(encoded(law), law)[0])


def test_telephones_have_eight_kilohertz() -> None:
    assert audio_format("mulaw").sample_rate == 8_000
    made = encoder(audio_format("alaw"))
    assert len(made.push(bytes(48_000)) + made.finish()) == 8_000
