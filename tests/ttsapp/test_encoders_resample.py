"""Other sample rates: the same sound at the same time, to the sample."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttsapp.decoding import pieces
from ttsapp.speech.encoders import SAMPLE_RATES, audio_format, encoder

TONE = np.round(16000 * np.sin(2 * np.pi * 440 * np.arange(12_007) / 24_000)).astype(np.int16)


def resampled(pcm: bytes, rate: int, cuts: list[int]) -> np.ndarray:
    made = encoder(audio_format("pcm", rate))
    body = b"".join(made.push(piece) for piece in pieces(pcm, cuts)) + made.finish()
    return np.frombuffer(body, "<i2")


@pytest.mark.parametrize("count", [0, 1, 2, 479, 1920, 12_007])
@pytest.mark.parametrize("rate", SAMPLE_RATES)
def test_exact_length(rate: int, count: int) -> None:
    found = resampled(TONE[:count].tobytes(), rate, [3840])
    assert len(found) == round(count * rate / 24_000)


@pytest.mark.parametrize("rate", SAMPLE_RATES)
def test_no_delay(rate: int) -> None:
    found = resampled(TONE.tobytes(), rate, [3840]).astype(float)
    true = 16000 * np.sin(2 * np.pi * 440 * np.arange(len(found)) / rate)
    middle = slice(rate // 20, -rate // 20)
    assert np.abs(found - true)[middle].max() < 20


@pytest.mark.parametrize("cuts", [[2], [1, 4, 7], [12_000], [100_000]], ids=str)
def test_cuts_change_nothing(cuts: list[int]) -> None:
    whole = resampled(TONE.tobytes(), 44_100, [3840])
    assert np.abs(resampled(TONE.tobytes(), 44_100, cuts).astype(int) - whole).max() <= 1


def test_what_a_low_rate_cannot_hold_is_gone() -> None:
    high = np.round(16000 * np.sin(2 * np.pi * 7000 * np.arange(24_000) / 24_000))
    found = resampled(high.astype(np.int16).tobytes(), 8_000, [3840]).astype(float)
    assert np.abs(found[400:-400]).max() < 16


def test_loud_samples_are_clipped_not_wrapped() -> None:
    square = np.repeat(np.tile([32767, -32768], 100), 60).astype(np.int16)
    found = resampled(square.tobytes(), 48_000, [3840])
    assert found[60:110].min() > 20_000
