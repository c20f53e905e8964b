"""First audible sample: found as chunks leave, the same as in the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_engine.audio.onset import Listener
from gpu_engine.bench.playback import play

TEN_MS = 240
LOUD = np.tile([8000, -8000], TEN_MS // 2).astype("<i2")
QUIET = np.zeros(TEN_MS, "<i2")


def sound(pattern: str) -> bytes:
    """`.` is 10 ms of silence, `#` 10 ms of sound."""
    return np.concatenate([LOUD if mark == "#" else QUIET for mark in pattern]).tobytes()


def test_it_works() -> None:
    listener = Listener(began=100.0)
    listener.take(sound("........"), 100.05)
    assert listener.first_audible is None
    listener.take(sound("..####"), 100.06)
    # The first window with sound in it begins 10 ms before the sound: at 0.09 s of the audio.
    assert listener.first_audible == pytest.approx(0.05 + 0.09)


def test_a_chunk_that_comes_late_is_heard_late() -> None:
    listener = Listener(began=0.0)
    listener.take(sound("...."), 0.1)
    listener.take(sound("####"), 0.5)
    assert listener.first_audible == pytest.approx(0.1 + 0.03)
    late = Listener(began=0.0)
    late.take(sound("...."), 0.1)
    late.take(sound("..####"), 0.5)
    assert late.first_audible == pytest.approx(0.5 + 0.01)


def test_silence_is_never_heard() -> None:
    listener = Listener(began=0.0)
    for chunk in range(50):
        listener.take(sound("........"), 0.08 * chunk)
    assert listener.first_audible is None


@given(st.lists(st.text(st.sampled_from(".#"), min_size=1, max_size=12), min_size=1, max_size=8))
def test_it_agrees_with_a_player_of_the_whole(chunks: list[str]) -> None:
    listener, arrivals, pcm = Listener(began=0.0), [], b""
    for index, chunk in enumerate(chunks):
        now = 0.1 + 0.07 * index
        listener.take(sound(chunk), now)
        pcm += sound(chunk)
        arrivals.append((now, len(pcm) // 2))
    expected = play(arrivals, pcm).first_audible
    assert (listener.first_audible is None) == (expected is None)
    if expected is not None:
        assert listener.first_audible == pytest.approx(expected)
