"""A player without a buffer: when it is first heard, and when it runs dry."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_engine.bench.playback import RATE, first_audible_sample, play

SECOND = RATE
QUIET = bytes(2 * SECOND)


def tone(seconds: float, level: float = 0.5) -> bytes:
    """A 200 Hz sine of that amplitude."""
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * 32767 * np.sin(2 * np.pi * 200 * times)).astype("<i2").tobytes()


def test_it_works() -> None:
    arrivals = [(0.1, SECOND // 2), (0.4, SECOND), (1.0, 2 * SECOND)]

    played = play(arrivals, tone(2.0))

    assert (played.first_byte, played.first_audible, played.gaps) == (0.1, 0.1, ())


def test_a_late_chunk_is_an_underrun_however_short() -> None:
    played = play([(0.0, SECOND), (1.25, 2 * SECOND), (2.5, 3 * SECOND)], tone(3.0))

    assert played.gaps == ((1.25, 0.25), (2.5, 0.25))
    assert played.worst_gap == 0.25


def test_a_chunk_on_time_to_the_last_sample_is_none() -> None:
    assert play([(0.0, SECOND), (1.0, 2 * SECOND)], tone(2.0)).gaps == ()


def test_leading_silence_delays_what_is_heard() -> None:
    played = play([(0.25, 2 * SECOND)], QUIET + tone(1.0))

    assert played.first_audible == pytest.approx(1.25, abs=0.02)


def test_a_stall_before_the_first_word_delays_it_too() -> None:
    # A quarter of a second of silence arrives, then nothing for a second.
    received = [(0.0, SECOND // 4), (1.0, 2 * SECOND)]
    played = play(received, bytes(2 * round(0.3 * SECOND)) + tone(1.7))

    assert played.first_audible == pytest.approx(1.05, abs=0.02)


def test_silence_is_never_heard() -> None:
    assert play([(0.0, SECOND)], QUIET).first_audible is None


@pytest.mark.parametrize(("level", "heard"), [(0.009, True), (0.007, False)])
def test_the_threshold_is_45_decibels_below_full_scale(level: float, heard: bool) -> None:
    # A sine's RMS is its amplitude over the square root of two: -45 dBFS is 0.00795.
    samples = np.frombuffer(tone(1.0, level), "<i2")
    assert (first_audible_sample(samples) is not None) is heard


def test_a_constant_offset_is_not_sound() -> None:
    assert first_audible_sample(np.full(SECOND, 8000, np.int16)) is None


def test_a_click_shorter_than_two_windows_is_not_speech() -> None:
    click = np.zeros(SECOND, np.int16)
    click[12_000:12_005] = 300
    assert first_audible_sample(click) is None
