"""Spectral losses of the codec."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from gpu_engine.config import SAMPLE_RATE

FLOOR = 2e-4  # white noise at -72 dBFS; below it silence would outweigh speech
RESOLUTIONS = ((2048, 80), (1024, 80), (512, 64), (256, 32))  # window, mel bands


def mel_filters(bands: int, window: int) -> Tensor:
    """Triangular filters on the Slaney scale, area-normalised: [bands, window / 2 + 1]."""
    edges = _slaney_hertz(torch.linspace(0, _slaney_mel(SAMPLE_RATE / 2), bands + 2))
    bins = torch.linspace(0, SAMPLE_RATE / 2, window // 2 + 1)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    area = 2 / (edges[2:] - edges[:-2])
    return torch.minimum(rising, falling).clamp(min=0) * area[:, None]


def _slaney_mel(hertz: float) -> float:
    return 15 + 27 * math.log(hertz / 1000) / math.log(6.4) if hertz >= 1000 else hertz * 3 / 200


def _slaney_hertz(mel: Tensor) -> Tensor:
    return torch.where(mel >= 15, 1000 * (math.log(6.4) / 27 * (mel - 15)).exp(), mel * 200 / 3)


class LogMel(nn.Module):
    """Audio [B, S] to natural-log mel magnitudes [B, bands, frames]."""

    filters: Tensor
    window: Tensor

    def __init__(self, window: int, bands: int, hop: int, floor: float = FLOOR) -> None:
        super().__init__()
        self.size, self.hop, self.floor = window, hop, floor
        self.register_buffer("filters", mel_filters(bands, window), persistent=False)
        self.register_buffer("window", torch.hann_window(window), persistent=False)

    def forward(self, audio: Tensor) -> Tensor:
        spectrum = torch.stft(
            audio, self.size, self.hop, window=self.window, return_complex=True, pad_mode="constant"
        )
        # The root of zero has no gradient, and digital silence is common in speech.
        magnitude = (spectrum.real.square() + spectrum.imag.square() + 1e-9).sqrt()
        return (self.filters @ magnitude).clamp(min=self.floor).log()


class MelLoss(nn.Module):
    """Mean absolute log-mel difference over four resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.views = nn.ModuleList(
            LogMel(window, bands, window // 4) for window, bands in RESOLUTIONS
        )

    def forward(self, audio: Tensor, target: Tensor) -> Tensor:
        parts = [(view(audio) - view(target)).abs().mean() for view in self.views]
        return torch.stack(parts).mean()
