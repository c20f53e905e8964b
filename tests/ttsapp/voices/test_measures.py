"""How many speakers a recording has, as far as their pitch tells."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttsapp.voices.recordings import speech
from ttsapp.voices.clips.measures import voices

LIVELY = (0.5, 2.1)  # an octave within a quarter of a second


@pytest.mark.parametrize("pitch", [80.0, 110.0, 150.0, 210.0, 280.0])
def test_a_lively_speaker_is_one(pitch: float) -> None:
    assert voices(speech(12.0, pitch, melody=LIVELY)) == 1


@pytest.mark.parametrize("seconds", [2.0, 3.0, 6.0])
def test_two_lively_speakers_who_take_turns(seconds: float) -> None:
    turns = [speech(seconds, pitch, melody=LIVELY) for pitch in (105.0, 225.0) * 2]
    assert voices(np.concatenate(turns)) == 2


def test_a_short_word_of_another_is_not_enough() -> None:
    assert voices(np.concatenate((speech(10.0, 110.0), speech(0.5, 225.0)))) == 1


def test_nobody_is_one() -> None:
    assert [voices(np.zeros(count, np.float32)) for count in (0, 100, 48_000)] == [1, 1, 1]
