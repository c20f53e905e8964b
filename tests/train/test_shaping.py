import numpy as np
import pytest
import torch

from gpu_engine.train.corpora.shaping import PEAK, Shape
from gpu_engine.train.pitch import median_pitch

from .test_pitch import buzz


def level(audio):
    return 20 * float(audio.square().mean().sqrt().log10())


@pytest.mark.parametrize("size", [0.92, 1.1, 1.3])
def test_another_size_is_another_pitch_in_as_much_less_time(size):
    audio = buzz(150)[None]
    shaped = Shape(size=size).audio(audio)
    assert shaped.shape[1] == round(40 / size) * 600
    assert float(median_pitch(shaped)[0]) == pytest.approx(150 * size, rel=0.06)
    assert level(shaped) == pytest.approx(level(audio), abs=0.2)


def test_times_go_with_the_audio():
    shape = Shape(size=1.25)
    words = np.array([[0, 3, 0.5, 1.0], [-1, -1, 1.0, 1.5]], np.float32)
    np.testing.assert_allclose(
        shape.words(words), [[0, 3, 0.4, 0.8], [-1, -1, 0.8, 1.2]], rtol=1e-6
    )
    assert words[0, 2] == 0.5
    assert shape.phones(np.arange(10, dtype=np.int16)).tolist() == [0, 1, 3, 4, 5, 6, 8, 9]
    assert shape.words(None) is None
    assert shape.phones(None) is None


def test_effort_is_level_and_brightness():
    at = torch.arange(24_000) / 24_000
    low, high = (torch.sin(2 * torch.pi * f * at)[None] * 0.05 for f in (300, 8000))
    shape = Shape(gain=-9, tilt=-6)
    assert level(shape.audio(low)) - level(low) == pytest.approx(-9, abs=0.1)
    assert level(shape.audio(high)) - level(high) == pytest.approx(-15, abs=0.1)


def test_nothing_is_clipped():
    assert float(Shape(gain=20).audio(buzz(150)[None]).abs().max()) == pytest.approx(PEAK)


def test_a_tremor_keeps_pitch_and_length():
    audio = buzz(150)[None]
    shaped = Shape(tremor=True).audio(audio)
    assert shaped.shape == audio.shape
    assert float(median_pitch(shaped)[0]) == pytest.approx(150, rel=0.06)
    assert not torch.allclose(shaped, audio, atol=0.01)


def test_no_shape_changes_nothing():
    audio = buzz(150)[None]
    assert Shape().audio(audio) is audio
