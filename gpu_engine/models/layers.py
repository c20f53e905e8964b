"""The transformer block that the Talker and the Code Predictor share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.attention import Attend


class Rope(NamedTuple):
    """cos and sin of every position's angles, [B, L, 1, D] in the model's dtype."""

    cos: Tensor
    sin: Tensor


@lru_cache(maxsize=32)
def _frequencies(head_dim: int, theta: float, device: torch.device) -> Tensor:
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32, device=device) / head_dim
    return 1.0 / (theta**exponents)


def rope_tables(positions: Tensor, head_dim: int, theta: float, dtype: torch.dtype) -> Rope:
    """Tables for `positions` [B, L], computed in float32 whatever the model's dtype is."""
    angles = positions[..., None].float() * _frequencies(head_dim, theta, positions.device)
    angles = torch.cat([angles, angles], -1)[..., None, :]
    return Rope(angles.cos().to(dtype), angles.sin().to(dtype))


def rotate(x: Tensor, rope: Rope) -> Tensor:
    """Half-split rotation of [B, L, heads, D]: channel i turns with channel i + D/2."""
    low, high = x.chunk(2, -1)
    return x * rope.cos + torch.cat([-high, low], -1) * rope.sin


class RMSNorm(nn.Module):
    """Normalises in float32, casts back, then multiplies by the weight: the reference's order."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        normal = F.rms_norm(x.float(), x.shape[-1:], eps=self.eps)
        return normal.to(x.dtype) * self.weight


class LayerShape(Protocol):
    """What a layer needs to know; PredictorConfig and TalkerConfig both are one."""

    @property
    def hidden_size(self) -> int: ...
    @property
    def intermediate_size(self) -> int: ...
    @property
    def num_attention_heads(self) -> int: ...
    @property
    def num_key_value_heads(self) -> int: ...
    @property
    def head_dim(self) -> int: ...
    @property
    def rms_norm_eps(self) -> float: ...


class _Fusable(nn.Module):
    """Several linear weights that read one input can be laid out as one matrix.

    `fuse` makes the official parameters views of it: same names, same memory, one product instead
    of several wherever no gradient is needed.
    """

    _fused: Tensor | None = None

    def _parts(self) -> list[nn.Linear]:
        raise NotImplementedError

    def fuse(self) -> None:
        parts = self._parts()
        fused = torch.cat([part.weight.detach() for part in parts])
        rows = [part.out_features for part in parts]
        for part, view in zip(parts, torch.split(fused, rows), strict=True):
            part.weight.data = view
        self._fused = fused

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> _Fusable:
        self._fused = None  # a move or cast gives every parameter memory of its own
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def _project(self, x: Tensor) -> list[Tensor]:
        parts = self._parts()
        if self._fused is None or torch.is_grad_enabled():
            return [part(x) for part in parts]
        rows = [part.out_features for part in parts]
        return list(torch.split(F.linear(x, self._fused), rows, -1))


class Attention(_Fusable):
    """Grouped-query attention with per-head q and k norms before RoPE."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.heads, self.kv_heads = shape.num_attention_heads, shape.num_key_value_heads
        self.head_dim = shape.head_dim
        width, kv_width = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, kv_width, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, kv_width, bias=False)
        self.o_proj = nn.Linear(width, shape.hidden_size, bias=False)
        self.q_norm = RMSNorm(self.head_dim, shape.rms_norm_eps)
        self.k_norm = RMSNorm(self.head_dim, shape.rms_norm_eps)

    def _parts(self) -> list[nn.Linear]:
        return [self.q_proj, self.k_proj, self.v_proj]

    def forward(self, x: Tensor, rope: Rope, attend: Attend, layer: int) -> Tensor:
        q, k, v = (part.view(*x.shape[:-1], -1, self.head_dim) for part in self._project(x))
        q, k = rotate(self.q_norm(q), rope), rotate(self.k_norm(k), rope)
        out: Tensor = self.o_proj(attend(layer, q, k, v).flatten(-2))
        return out


class Mlp(_Fusable):
    """SwiGLU."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def _parts(self) -> list[nn.Linear]:
        return [self.gate_proj, self.up_proj]

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self._project(x)
        out: Tensor = self.down_proj(F.silu(gate) * up)
        return out


class TransformerLayer(nn.Module):
    """Pre-norm attention and MLP, each with its residual."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = Mlp(shape)
        self.input_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, x: Tensor, rope: Rope, attend: Attend, layer: int) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rope, attend, layer)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


def fuse_layers(module: nn.Module) -> None:
    """Lays out every q/k/v and gate/up group below `module` as one matrix each."""
    for part in module.modules():
        if isinstance(part, _Fusable):
            part.fuse()
