"""A recording to letters and word edges: a small convolutional network over log-mel frames."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.speaker import HOP, log_mel

MODEL_TYPE = "parlance_ctc_aligner"
BLANK = 0
STRIDE = 2
STEP = HOP * STRIDE
"""Samples a frame: 21 ms."""
STEP_S = STEP / SAMPLE_RATE
# Log-mel magnitudes to about the unit range; nothing in it depends on the recording.
_MIDDLE, _SPREAD = -5.0, 3.0


@dataclass(frozen=True, slots=True)
class AlignerConfig:
    """`alphabet`: the letters it hears, label 1 and on; label 0 is none of them."""

    alphabet: str = "abcdefghijklmnopqrstuvwxyz'"
    languages: tuple[str, ...] = ("english",)
    mel_dim: int = 64
    width: int = 96
    inner: int = 192
    blocks: int = 5
    kernel: int = 9

    @property
    def labels(self) -> int:
        return len(self.alphabet) + 1

    @property
    def reach(self) -> int:
        """Frames on either side that a frame's scores depend on, the spectrum's window included."""
        return self.blocks * (self.kernel // 2) + 3


class Block(nn.Module):
    """What is near in time, then what is at one time; [B, T, C] in and out."""

    def __init__(self, config: AlignerConfig) -> None:
        super().__init__()
        width, kernel = config.width, config.kernel
        self.near = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, config.inner)
        self.down = nn.Linear(config.inner, width)

    def forward(self, x: Tensor) -> Tensor:
        heard = self.norm(self.near(x.transpose(1, 2)).transpose(1, 2))
        out: Tensor = x + self.down(F.gelu(self.up(heard)))
        return out


class AlignerNet(nn.Module):
    """Each frame depends on `config.reach` neighbours alone, so pieces of a recording give what the
    whole gives."""

    def __init__(self, config: AlignerConfig) -> None:
        super().__init__()
        self.config = config
        self.stem = nn.Conv1d(config.mel_dim, config.width, 5, stride=STRIDE, padding=2)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.labels + 2)

    def forward(self, mel: Tensor) -> Tensor:
        """Log-mel [B, T, bands] to logits [B, ceil(T / 2), labels + 2]; the last two: a word begins
        here, a word ends here."""
        x = self.stem(((mel - _MIDDLE) / _SPREAD).transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.head(self.norm(x))
        return out

    @torch.inference_mode()
    def scores(self, audio: Tensor) -> Tensor:
        """Samples [S] at 24 kHz to log probabilities [S // STEP, labels + 2], float32: of the
        labels together, of each kind of edge by itself."""
        weight = self.head.weight
        mel = log_mel(audio.to(weight.device)[None], self.config.mel_dim)
        logits = self(mel.to(weight))[0, : len(audio) // STEP].float()
        edges = F.logsigmoid(logits[:, self.config.labels :])
        return torch.cat([logits[:, : self.config.labels].log_softmax(-1), edges], -1)
