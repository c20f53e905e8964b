from __future__ import annotations

import math

import torch

from gpu_engine.models.speaker import log_mel, mel_filters


def test_it_works() -> None:
    assert log_mel(torch.randn(2, 24_000)).shape == (2, 93, 128)


def test_a_tone_lights_the_band_that_holds_it() -> None:
    time = torch.arange(24_000) / 24_000
    bands = log_mel(torch.sin(2 * math.pi * 1000.0 * time)[None])[0].mean(0)
    filters = mel_filters(128)
    assert int(bands.argmax()) == int(filters[:, round(1000 / 12_000 * 512)].argmax())


def test_upper_bands_have_unit_area() -> None:
    # In hertz, bins being 24000 / 1024 apart; lower bands are too narrow for a fair sum.
    area = mel_filters(128)[80:].sum(1) * 24_000 / 1024
    torch.testing.assert_close(area, torch.ones(48), atol=0.02, rtol=0.0)


def test_silence_stays_at_the_floor() -> None:
    mel = log_mel(torch.zeros(1, 4_800))
    assert mel.isfinite().all()
    assert float(mel.max()) < math.log(1e-4)
