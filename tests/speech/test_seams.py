"""What is measured where two sentences meet, on tones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.speech.seams import RATE, ends_of, level, meeting, meetings, summary, texts


def tone(hertz: float, loudness: float, seconds: float = 1.0) -> np.ndarray:
    return loudness * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)


def test_an_octave_higher_and_twice_as_loud() -> None:
    samples = np.concatenate([tone(120, 0.2), np.zeros(RATE // 10), tone(240, 0.4)])
    found = meeting(samples, 1.0, 1.1, is_join=True)
    assert found.pause_ms == pytest.approx(100)
    assert found.step_db == pytest.approx(6.02, abs=0.05)
    assert found.step_semitones == pytest.approx(12, abs=0.2)
    assert found.click < 0.01


def test_silence_around_speech_is_not_its_level() -> None:
    quiet = np.concatenate([tone(120, 0.2), np.zeros(RATE)])
    assert level(quiet) == pytest.approx(level(tone(120, 0.2)), abs=0.05)


def test_noise_has_no_pitch() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 2 * RATE)
    assert meeting(noise, 1.0, 1.0, is_join=False).step_semitones is None


def test_joins_are_where_the_rule_cuts() -> None:
    """Given three sentences of which the first two fit together, then the second meeting alone is a
    join."""
    first, second, third = (f"{word} " * 9 + f"{word}." for word in ("Seven", "Eight", "Three"))
    text = f"{first} {second} {third}"
    words = [(0.1 * at, 0.1 * at + 0.05) for at in range(30)]
    found = list(meetings(text, tone(120, 0.2, 4.0), words))
    assert [each.is_join for each in found] == [False, True]
    assert ends_of([first, second, third]) == [10, 20, 30]
    assert summary(found)["meetings"] == 2


def test_texts_are_whole_sentences() -> None:
    assert len(list(texts())) == 24
