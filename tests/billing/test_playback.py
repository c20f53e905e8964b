"""An underrun is a pause that the listener hears and that we are to blame for."""

from __future__ import annotations

import math

import pytest

from ttsapp.speech.playback import Playback

# Seconds: how much audio, when it was asked for, when it came; its text was there at 0.
Heard = tuple[float, float, float]


def underruns(*heard: Heard, text_at: float = 0.0) -> int:
    playback = Playback()
    for seconds, asked_at, came_at in heard:
        playback.hear(seconds, asked_at=asked_at, came_at=came_at, text_at=text_at)
    return playback.underruns


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ([(1, 0, 0.2)], 0),
        ([(1, 0, 0.2), (1, 0.2, 1.2), (1, 1.2, 2.2)], 0),
        ([(1, 0, 0.2), (1, 0.2, 1.3)], 1),
        # Played late, it is again in time: one pause is one underrun.
        ([(1, 0, 0.2), (1, 0.2, 1.5), (1, 1.5, 2.4)], 1),
        ([(1, 0, 0.2), (1, 0.2, 1.5), (1, 1.5, 2.6)], 2),
        # The reader was late, not the audio.
        ([(1, 0, 0.2), (1, 1.3, 1.3)], 0),
    ],
)
def test_underruns(heard: list[Heard], expected: int) -> None:
    assert underruns(*heard) == expected


@pytest.mark.parametrize(("text_at", "expected"), [(1.1, 1), (1.3, 0), (math.inf, 0)])
def test_a_pause_for_want_of_text_is_the_clients(text_at: float, expected: int) -> None:
    assert underruns((1, 0, 0.2), (1, 0.2, 5), text_at=text_at) == expected
