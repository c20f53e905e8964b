"""The decoder's transformer: causal attention over a sliding window of frames."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecDecoderConfig
from gpu_engine.models.codec.state import Tape


class Scale(nn.Module):
    """A learned gain a channel on a residual branch."""

    def __init__(self, width: int, initial: float = 0.01) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((width,), initial))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * x


class RotaryTable(nn.Module):
    """cos and sin of half-split rotary embedding for any positions, in float32."""

    def __init__(self, head_dim: int, theta: float) -> None:
        super().__init__()
        self.head_dim, self.theta = head_dim, theta

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """positions [..., n] -> two tensors [..., 1, n, head_dim], ready for [B, heads, n, dim]."""
        half = torch.arange(self.head_dim // 2, device=positions.device, dtype=torch.float32)
        angles = positions[..., None].float() * self.theta ** (-half / half.numel())
        angles = torch.cat([angles, angles], dim=-1)[..., None, :, :]
        return angles.cos(), angles.sin()


def rotate(x: Tensor, table: tuple[Tensor, Tensor]) -> Tensor:
    """x [B, heads, n, dim], first half of the channels paired with the second."""
    cos, sin = table
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class WindowedAttention(nn.Module):
    """Self and the window - 1 frames before. Memory: their rotated keys and their values."""

    def __init__(self, config: CodecDecoderConfig) -> None:
        super().__init__()
        width = config.num_attention_heads * config.head_dim
        self.heads = config.num_attention_heads
        self.window = config.sliding_window
        self.q_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.o_proj = nn.Linear(width, config.hidden_size, bias=False)

    def forward(self, x: Tensor, table: tuple[Tensor, Tensor], mask: Tensor, tape: Tape) -> Tensor:
        q, k, v = (
            proj(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotate(q, table), rotate(k, table)
        if tape.streaming:
            k, v = torch.cat([tape.take(), k], dim=2), torch.cat([tape.take(), v], dim=2)
            keep = self.window - 1
            tape.swap(k[:, :, -keep:], v[:, :, -keep:])
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y: Tensor = self.o_proj(context.transpose(1, 2).flatten(2))
        return y


class GatedMlp(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return y


class Layer(nn.Module):
    def __init__(self, config: CodecDecoderConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.input_layernorm = nn.RMSNorm(width, eps=config.rms_norm_eps)
        self.self_attn = WindowedAttention(config)
        self.self_attn_layer_scale = Scale(width)
        self.post_attention_layernorm = nn.RMSNorm(width, eps=config.rms_norm_eps)
        self.mlp = GatedMlp(width, config.intermediate_size)
        self.mlp_layer_scale = Scale(width)

    def forward(self, x: Tensor, table: tuple[Tensor, Tensor], mask: Tensor, tape: Tape) -> Tensor:
        attended = self.self_attn(self.input_layernorm(x), table, mask, tape)
        x = x + self.self_attn_layer_scale(attended)
        return x + self.mlp_layer_scale(self.mlp(self.post_attention_layernorm(x)))  # type: ignore[no-any-return]


class WindowedTransformer(nn.Module):
    """[B, n, latent] -> [B, n, latent]; no q/k norm, window = self and the frames before."""

    def __init__(self, config: CodecDecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.input_proj = nn.Linear(config.latent_dim, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.output_proj = nn.Linear(config.hidden_size, config.latent_dim)
        self.rotary = RotaryTable(config.head_dim, config.rope_theta)

    def forward(self, x: Tensor, tape: Tape, position: Tensor | None) -> Tensor:
        """position int64 [B]: frames a row has seen (streaming), or None for a whole sequence."""
        steps = torch.arange(x.shape[1], device=x.device)
        mask = self._mask(steps, position)
        table = self.rotary(steps if position is None else position[:, None] + steps)
        x = self.input_proj(x)
        for layer in self.layers:
            x = layer(x, table, mask, tape)
        y: Tensor = self.output_proj(self.norm(x))
        return y

    def memory_shapes(self) -> Iterator[tuple[int, ...]]:
        config = self.config
        shape = (config.num_attention_heads, config.sliding_window - 1, config.head_dim)
        for _ in self.layers:
            yield from (shape, shape)

    def _mask(self, steps: Tensor, position: Tensor | None) -> Tensor:
        """True where a query may look: inside the window and, streaming, not before the start."""
        window = self.config.sliding_window
        if position is None:
            distance = steps[:, None] - steps
            return (distance >= 0) & (distance < window)
        past = window - 1
        keys = torch.arange(past + steps.numel(), device=steps.device)
        distance = past + steps[:, None] - keys
        inside = (distance >= 0) & (distance < window)
        started = keys >= past - position[:, None]
        return (inside & started[:, None])[:, None]
