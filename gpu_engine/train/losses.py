"""Spectral losses of the codec."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gpu_engine.models.speaker import mel_filters

FLOOR = 2e-4  # white noise at -72 dBFS; below it silence would outweigh speech
RESOLUTIONS = ((2048, 80), (1024, 80), (512, 64), (256, 32))  # window, mel bands


class LogMel(nn.Module):
    """Audio [B, S] to natural-log mel magnitudes [B, bands, frames]."""

    filters: Tensor
    window: Tensor

    def __init__(self, window: int, bands: int, hop: int, floor: float = FLOOR) -> None:
        super().__init__()
        self.size, self.hop, self.floor = window, hop, floor
        self.register_buffer("filters", mel_filters(bands, window=window), persistent=False)
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
