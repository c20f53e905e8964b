"""Faster and slower, at the same pitch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttsapp.decoding import pieces, voice
from ttsapp.speech.encoders import audio_format, encoder
from ttsapp.speech.encoders.speed import Speed

SPEEDS = [0.25, 0.5, 0.8, 1.1, 1.5, 2.0, 4.0]
TONE = np.round(9000 * np.sin(2 * np.pi * 200 * np.arange(48_000) / 24_000)).astype(np.int16)


def spoken(samples: np.ndarray, speed: float, cuts: list[int]) -> np.ndarray:
    made = encoder(audio_format("pcm"), speed)
    body = b"".join(made.push(cut) for cut in pieces(samples.tobytes(), cuts)) + made.finish()
    return np.frombuffer(body, "<i2")


@pytest.mark.parametrize("count", [0, 1, 359, 360, 361, 1920, 20_003])
@pytest.mark.parametrize("speed", SPEEDS)
def test_exact_length(speed: float, count: int) -> None:
    assert len(spoken(TONE[:count], speed, [3840])) == round(count / speed)


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_pitch_is_kept(speed: float) -> None:
    found = spoken(TONE, speed, [3840]).astype(float)
    spectrum = np.abs(np.fft.rfft(found * np.hanning(len(found)), 1 << 18))
    assert np.argmax(spectrum) * 24_000 / (1 << 18) == pytest.approx(200, abs=2)


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_tone_stays_a_tone(speed: float) -> None:
    """Pieces that did not fit together would cancel each other, or add to a click."""
    # At the end the last piece fades out.
    found = spoken(TONE, speed, [3840]).astype(float)[: -720 - round(360 / speed)]
    periods = found[: len(found) // 120 * 120].reshape(-1, 120)
    assert np.abs(periods).max(axis=1).min() > 0.95 * 9000
    assert np.abs(found).max() < 1.05 * 9000
    assert np.abs(np.diff(found)).max() < 1.2 * 9000 * 2 * np.pi * 200 / 24_000


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_voice_keeps_its_spectrum(speed: float) -> None:
    said = voice(2.0)
    before, after = profile(said), profile(spoken(said, speed, [3840]))
    assert np.abs(before - after).mean() < 2.0


def profile(samples: np.ndarray) -> np.ndarray:
    """The loudness in decibels of 20 bands up to 4 kHz, over the whole."""
    frames = samples[: len(samples) // 960 * 960].reshape(-1, 960).astype(float)
    power = (np.abs(np.fft.rfft(frames * np.hanning(960))) ** 2).mean(axis=0)[:160]
    return 10 * np.log10(power.reshape(20, 8).mean(axis=1))


@pytest.mark.parametrize("cuts", [[1], [2, 3], [720], [100_000]], ids=str)
@pytest.mark.parametrize("speed", [0.5, 1.3, 4.0])
def test_cuts_change_nothing(speed: float, cuts: list[int]) -> None:
    said = voice(0.4)
    assert np.array_equal(spoken(said, speed, cuts), spoken(said, speed, [3840]))


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_first_chunk_is_heard_at_once(speed: float) -> None:
    assert len(encoder(audio_format("pcm"), speed).push(TONE[:1920].tobytes())) >= 360


def test_what_is_used_up_is_forgotten() -> None:
    stage = Speed(1.5)
    for _ in range(100):
        stage.push(np.zeros(1920, np.float32))
    assert len(stage._input) < 4000


def test_silence_stays_silent() -> None:
    assert not spoken(np.zeros(9600, np.int16), 0.7, [3840]).any()


@pytest.mark.parametrize("speed", [0.0, 0.24, 4.01, float("nan"), float("inf")])
def test_other_speeds_are_refused(speed: float) -> None:
    with pytest.raises(ValueError, match=r"the speed may be 0\.25 to 4\.0"):
        encoder(audio_format("pcm"), speed)
