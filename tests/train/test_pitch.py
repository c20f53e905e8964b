import pytest
import torch

from gpu_engine.train.pitch import median_pitch


def buzz(hertz, seconds=1.0):
    """A voice-like sound: a pitch and nine harmonics, each weaker than the one below."""
    at = torch.arange(int(seconds * 24_000)) / 24_000
    waves = [torch.sin(2 * torch.pi * hertz * n * at) / n for n in range(1, 11)]
    return 0.1 * torch.stack(waves).sum(0)


@pytest.mark.parametrize("hertz", [80, 120, 210, 320, 440])
def test_it_works(hertz):
    assert float(median_pitch(buzz(hertz)[None])[0]) == pytest.approx(hertz, rel=0.06)


def test_rows_are_measured_apart_and_silence_between_words_does_not_count():
    pause = torch.zeros(12_000)
    rows = [torch.cat([pause, buzz(110, 0.5), pause]), torch.cat([buzz(220, 0.5), pause, pause])]
    assert median_pitch(torch.stack(rows)).tolist() == pytest.approx([110, 220], rel=0.06)


@pytest.mark.parametrize("audio", [torch.zeros(1, 24_000), torch.zeros(1, 50)])
def test_silence_has_no_pitch(audio):
    assert median_pitch(audio).tolist() == [0.0]


def test_noise_has_no_pitch():
    noise = torch.randn(1, 24_000, generator=torch.Generator().manual_seed(1)) * 0.1
    assert median_pitch(noise).tolist() == [0.0]
