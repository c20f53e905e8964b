"""How high a voice speaks: the median fundamental frequency, by autocorrelation, in batches."""

from __future__ import annotations

import torch
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE

FOLD = 3  # samples averaged into one: 8 kHz are enough for a pitch
RATE = SAMPLE_RATE // FOLD
FRAME, HOP = RATE // 20, RATE // 50  # 50 ms every 20 ms
LOWEST_HZ, HIGHEST_HZ = 60, 500
PERIODIC = 0.6  # correlation with itself one period later
LOUD = 0.1  # of the loudest frame's amplitude
NEARLY = 0.9  # of the best lag's correlation: multiples of the period are nearly as good


def median_pitch(audio: Tensor) -> Tensor:
    """float32 [rows, samples] at 24 kHz to Hz [rows]; 0 where nothing is voiced."""
    low = audio[:, : audio.shape[1] // FOLD * FOLD].reshape(len(audio), -1, FOLD).mean(2)
    if low.shape[1] < FRAME:
        return audio.new_zeros(len(audio))
    frames = low.unfold(1, FRAME, HOP)
    frames = frames - frames.mean(2, keepdim=True)
    strength = _correlation(frames)
    best = strength.amax(2)
    lag = (strength >= NEARLY * best[..., None]).float().argmax(2)
    level = frames.square().mean(2).sqrt()
    voiced = (best > PERIODIC) & (level > LOUD * level.amax(1, keepdim=True))
    hertz = RATE / (lag + RATE // HIGHEST_HZ).float()
    middle: Tensor = hertz.where(voiced, torch.nan).nanmedian(1).values
    return middle.nan_to_num(0.0)


def _correlation(frames: Tensor) -> Tensor:
    """[..., lags] from that of HIGHEST_HZ on, as a share of the energy; a longer lag has fewer
    samples under it."""
    spectrum = torch.fft.rfft(frames, 2 * FRAME)
    whole = torch.fft.irfft(spectrum.abs().square(), 2 * FRAME)[..., :FRAME]
    under = 1 - torch.arange(FRAME, device=frames.device) / FRAME
    lags = slice(RATE // HIGHEST_HZ, RATE // LOWEST_HZ + 1)
    energy = (whole[..., :1] * under[lags]).clamp(min=1e-9)
    share: Tensor = whole[..., lags] / energy
    return share
