"""Speech at 16 kHz to the log-mel frames that recognisers of the Whisper kind hear: 10 ms each."""

from __future__ import annotations

import torch
from torch import Tensor

from gpu_engine.models.speaker import mel_filters

RATE = 16_000
FRAME = 160
_WINDOW = 400
SHORTEST = _WINDOW
"""Samples: less has no whole window to reflect."""


def log_mel(audio: Tensor, bands: int) -> Tensor:
    """Audio [S] to [bands, S // FRAME], float32: decibels from the loudest down, 80 at most, in
    steps of 40 and about zero."""
    window = torch.hann_window(_WINDOW, device=audio.device)
    spectrum = torch.stft(audio.float(), _WINDOW, FRAME, window=window, return_complex=True)
    power = spectrum[:, :-1].abs().square()
    levels = (mel_filters(bands, RATE, _WINDOW).to(audio.device) @ power).clamp(min=1e-10).log10()
    return (torch.maximum(levels, levels.max() - 8.0) + 4.0) / 4.0
