"""A transformer's weights as the kernels read them: views of the modules' own memory, or FP8."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.layers import TransformerLayer, rope_tables

E4M3_MAX = 448.0


@dataclass(frozen=True, slots=True)
class Matrix:
    """`weight` [N, K]; FP8 weights come with the `scale` [N] float32 of their rows."""

    weight: Tensor
    scale: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.weight.shape[0], self.weight.shape[1]

    @property
    def nbytes(self) -> int:
        return self.weight.nbytes + (0 if self.scale is None else self.scale.nbytes)

    def dense(self, dtype: torch.dtype) -> Tensor:
        """[N, K] as a plain matrix."""
        if self.scale is None:
            return self.weight.to(dtype)
        return (self.weight.float() * self.scale[:, None]).to(dtype)


def quantised(matrix: Matrix) -> Matrix:
    """The matrix in e4m3 with one scale an output channel: half the bytes of bf16."""
    weight = matrix.weight.float()
    scale = weight.abs().amax(1).clamp(min=1e-12) / E4M3_MAX
    return Matrix((weight / scale[:, None]).to(torch.float8_e4m3fn), scale)


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One block: `qkv` [(heads + 2 kv) D, H], `out` [H, heads D], `gate_up` [2 I, H] gate first,
    `down` [H, I], and the gains of its norms."""

    qkv: Matrix
    out: Matrix
    gate_up: Matrix
    down: Matrix
    input_gain: Tensor
    post_gain: Tensor
    q_gain: Tensor
    k_gain: Tensor

    @property
    def matrices(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        return self.qkv, self.out, self.gate_up, self.down


@dataclass(frozen=True, slots=True)
class StackWeights:
    """A stack of blocks and its final gain, with the rotary tables [positions, D/2] in float32."""

    layers: tuple[LayerWeights, ...]
    gain: Tensor
    cos: Tensor
    sin: Tensor
    heads: int
    kv_heads: int
    head_dim: int
    eps: float

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for layer in self.layers for matrix in layer.matrices)


def stack_weights(
    layers: nn.ModuleList, gain: Tensor, theta: float, positions: int, fp8: bool = False
) -> StackWeights:
    """The weights of `layers` (TransformerLayer), tables for `positions` positions."""
    blocks = [layer for layer in layers if isinstance(layer, TransformerLayer)]
    mix = blocks[0].self_attn
    at = torch.arange(positions, device=gain.device)[None]
    rope = rope_tables(at, mix.head_dim, theta, torch.float32)
    half = mix.head_dim // 2
    return StackWeights(
        layers=tuple(_layer(block, fp8) for block in blocks),
        gain=gain.detach(),
        cos=rope.cos[0, :, 0, :half].contiguous(),
        sin=rope.sin[0, :, 0, :half].contiguous(),
        heads=mix.heads,
        kv_heads=mix.kv_heads,
        head_dim=mix.head_dim,
        eps=blocks[0].input_layernorm.eps,
    )


def _layer(layer: TransformerLayer, fp8: bool) -> LayerWeights:
    mix, mlp = layer.self_attn, layer.mlp

    def matrix(*parts: nn.Linear) -> Matrix:
        plain = Matrix(joined([part.weight.detach() for part in parts]))
        return quantised(plain) if fp8 else plain

    return LayerWeights(
        qkv=matrix(mix.q_proj, mix.k_proj, mix.v_proj),
        out=matrix(mix.o_proj),
        gate_up=matrix(mlp.gate_proj, mlp.up_proj),
        down=matrix(mlp.down_proj),
        input_gain=layer.input_layernorm.weight.detach(),
        post_gain=layer.post_attention_layernorm.weight.detach(),
        q_gain=mix.q_norm.weight.detach(),
        k_gain=mix.k_norm.weight.detach(),
    )


def joined(parts: list[Tensor]) -> Tensor:
    """Rows of all parts as one matrix: a view where the parts already lie one after the other."""
    first, size = parts[0], parts[0].element_size()
    at = first.data_ptr()
    together = first.is_contiguous()
    for part in parts:
        together &= part.data_ptr() == at and part.is_contiguous()
        at += part.numel() * size
    rows = sum(len(part) for part in parts)
    reach = (first.storage_offset() + rows * first.shape[1]) * size
    if not together or reach > first.untyped_storage().nbytes():
        return torch.cat(parts)
    return first.as_strided((rows, first.shape[1]), first.stride())


def rms(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """RMSNorm of [..., K] in float32, cast back, times the gain."""
    return F.rms_norm(x.float(), x.shape[-1:], eps=eps).to(x.dtype) * gain
