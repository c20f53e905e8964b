"""The audio tower: log-mel frames to one vector for each 80 ms or so of speech.

Frames are convolved a second at a time, and vectors look at each other in windows of some seconds.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.attention import attention
from gpu_engine.models.forced_aligner.config import TowerConfig

# Seconds of speech convolved at once: the widest of all layers, by far.
_TOGETHER = 16
_LONGEST_PERIOD = 10_000.0

Steps = Generator[None, None, Tensor]
"""Work cut into short steps; what it returns is the result."""


def halved(length: int) -> int:
    """What a convolution of stride 2 leaves of a length."""
    return (length + 1) // 2


def vectors(frames: int, piece: int) -> int:
    """How many vectors become of so many log-mel frames."""
    whole, rest = divmod(frames, piece)
    return whole * _eighth(piece) + _eighth(rest)


def _eighth(length: int) -> int:
    return halved(halved(halved(length)))


class TowerAttention(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.heads, width = config.encoder_attention_heads, config.d_model
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Tensor, window: int) -> Tensor:
        """[T, width]; each window looks at itself alone."""
        projected = (self.q_proj(x), self.k_proj(x), self.v_proj(x))
        parts = (part.view(1, len(x), self.heads, -1) for part in projected)
        q, k, v = (torch.split(part, window, 1) for part in parts)
        seen = [attention(*part) for part in zip(q, k, v, strict=True)]
        out: Tensor = self.out_proj(torch.cat(seen, 1)[0].flatten(1))
        return out


class TowerLayer(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.self_attn = TowerAttention(config)
        self.self_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.fc1 = nn.Linear(config.d_model, config.encoder_ffn_dim)
        self.fc2 = nn.Linear(config.encoder_ffn_dim, config.d_model)
        self.final_layer_norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, window: int) -> Tensor:
        x = x + self.self_attn(self.self_attn_layer_norm(x), window)
        out: Tensor = x + self.fc2(F.gelu(self.fc1(self.final_layer_norm(x))))
        return out


class AudioTower(nn.Module):
    """Submodules are named as the official tensors are."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.config = config
        inner = config.downsample_hidden_size
        self.conv2d1 = nn.Conv2d(1, inner, 3, 2, padding=1)
        self.conv2d2 = nn.Conv2d(inner, inner, 3, 2, padding=1)
        self.conv2d3 = nn.Conv2d(inner, inner, 3, 2, padding=1)
        width = inner * _eighth(config.num_mel_bins)
        self.conv_out = nn.Linear(width, config.d_model, bias=False)
        self.layers = nn.ModuleList(TowerLayer(config) for _ in range(config.encoder_layers))
        self.ln_post = nn.LayerNorm(config.d_model)
        self.proj1 = nn.Linear(config.d_model, config.d_model)
        self.proj2 = nn.Linear(config.d_model, config.output_dim)

    def steps(self, mel: Tensor) -> Steps:
        """Log-mel [bands, T], T > 0, to [vectors(T), output_dim]."""
        x = yield from self._convolved(mel)
        window = self.config.pieces_in_window * _eighth(min(self.config.piece, mel.shape[1]))
        for layer in self.layers:
            x = layer(x, window)
            yield
        out: Tensor = self.proj2(F.gelu(self.proj1(self.ln_post(x))))
        return out

    def _convolved(self, mel: Tensor) -> Steps:
        frames, piece = mel.shape[1], min(self.config.piece, mel.shape[1])
        # The last second is convolved with silence behind it, to the length of the others.
        padded = torch.stack(torch.split(F.pad(mel, (0, -frames % piece)), piece, 1))
        made: list[Tensor] = []
        for part in torch.split(padded[:, None], _TOGETHER):
            made.append(self._convolve(part))
            yield
        return torch.cat(made).flatten(0, 1)[: vectors(frames, piece)]

    def _convolve(self, x: Tensor) -> Tensor:
        """[N, 1, bands, T] to [N, T / 8, width]."""
        for conv in (self.conv2d1, self.conv2d2, self.conv2d3):
            x = F.gelu(conv(x))
        out: Tensor = self.conv_out(x.permute(0, 3, 1, 2).flatten(2))
        return out + _positions(out.shape[1], out.shape[2]).to(out)


def _positions(length: int, width: int) -> Tensor:
    """Sines, then cosines, [length, width]."""
    step = math.log(_LONGEST_PERIOD) / (width // 2 - 1)
    speeds = torch.exp(-step * torch.arange(width // 2).float())
    angles = torch.arange(length)[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], 1)
