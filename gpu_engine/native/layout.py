"""Weights as the C files read them."""

from __future__ import annotations

from ctypes import Array, Structure, addressof, c_float, c_int32, c_int64, c_void_p
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_engine.models.layers import RMSNorm, TransformerLayer

WIDE, NARROW = 32, 16


class Matrix(Structure):
    _fields_ = [
        ("weight", c_void_p),
        ("bias", c_void_p),
        ("taps", c_int32),
        ("k", c_int32),
        ("n", c_int32),
        ("panel", c_int32),
    ]


class Layer(Structure):
    _fields_ = [
        *((name, Matrix) for name in ("qkv", "out", "gate_up", "down")),
        ("q_gain", c_void_p),
        ("k_gain", c_void_p),
    ]


class Stack(Structure):
    _fields_ = [
        ("layers", c_void_p),
        *(
            (name, c_int32)
            for name in ("count", "hidden", "inner", "heads", "kv_heads", "head_dim")
        ),
        ("eps", c_float),
        ("cos", c_void_p),
        ("sin", c_void_p),
    ]


class Draw(Structure):
    _fields_ = [
        *((name, c_float) for name in ("temperature", "top_p", "penalty", "noise")),
        ("top_k", c_int32),
    ]


class TalkerLayout(Structure):
    _fields_ = [
        ("stack", Stack),
        ("head", Matrix),
        ("blocked", c_void_p),
        ("vocabulary", c_int32),
        ("end", c_int32),
    ]


class PredictorLayout(Structure):
    _fields_ = [
        ("stack", Stack),
        ("project", Matrix),
        ("heads", c_void_p),
        ("inputs", c_void_p),
        ("tables", c_void_p),
        *((name, c_int32) for name in ("groups", "width", "vocabulary")),
    ]


class Convolution(Structure):
    _fields_ = [
        ("matrix", Matrix),
        ("rate", c_void_p),
        ("gain", c_void_p),
        *((name, c_int32) for name in ("columns", "dilation", "grows", "keeps", "adds")),
        ("memory", c_int64),
    ]


class MixLayout(Structure):
    _fields_ = [
        ("widen", Matrix),
        ("narrow", Matrix),
        *((name, c_void_p) for name in ("taps", "bias", "norm_weight", "norm_bias")),
        ("kernel", c_int32),
        ("width", c_int32),
        ("eps", c_float),
        ("memory", c_int64),
    ]


class CodecLayout(Structure):
    _fields_ = [
        ("stack", Stack),
        ("into", Matrix),
        ("out", Matrix),
        *((name, c_void_p) for name in ("norm", "table", "convolutions", "mixes")),
        *((name, c_int32) for name in ("groups", "size", "codebook_dim", "window")),
        *((name, c_int32) for name in ("convolution_count", "mix_count")),
        *((name, c_int64) for name in ("keys", "values", "layer_stride")),
    ]


class Packer:
    """Lays weights out and keeps alive whatever C points at."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def keep(self, tensor: Tensor) -> int:
        """The address of a float32 copy in one piece."""
        ready = tensor.detach().float().contiguous()
        self._kept.append(ready)
        return ready.data_ptr()

    def array(self, items: list[Any]) -> int:
        """The address of an array of one kind of structure, or of pointers."""
        kind = type(items[0]) if isinstance(items[0], Structure) else c_void_p
        made: Array[Any] = (kind * len(items))(*items)
        self._kept.append(made)
        return addressof(made)

    def matrix(self, weight: Tensor, bias: Tensor | None = None, taps: int = 1) -> Matrix:
        """`weight` [taps * k, n], columns out. Panels of 32 columns, or of 16 where so few are."""
        depth, n = weight.shape
        panel = 1 if n == 1 else NARROW if n <= NARROW else WIDE
        behind = -n % panel
        padded = F.pad(weight.detach().float(), (0, behind))
        panels = padded.view(depth, -1, panel).transpose(0, 1)
        full = (
            torch.zeros(n + behind) if bias is None else F.pad(bias.detach().float(), (0, behind))
        )
        return Matrix(self.keep(panels), self.keep(full), taps, depth // taps, n, panel)

    def folded(self, weight: Tensor, norm: RMSNorm) -> Matrix:
        """A linear weight [n, k] with the norm in front of it folded in."""
        return self.matrix((weight * norm.weight).t())

    def layer(self, layer: TransformerLayer) -> Layer:
        mix, mlp = layer.self_attn, layer.mlp
        qkv = torch.cat([mix.q_proj.weight, mix.k_proj.weight, mix.v_proj.weight])
        gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        return Layer(
            self.folded(qkv, layer.input_layernorm),
            self.matrix(mix.o_proj.weight.t()),
            self.folded(gate_up, layer.post_attention_layernorm),
            self.matrix(mlp.down_proj.weight.t()),
            self.keep(mix.q_norm.weight),
            self.keep(mix.k_norm.weight),
        )

    def turns(self, length: int, head_dim: int, theta: float) -> tuple[int, int]:
        """Addresses of cos and sin [length, head_dim]; sin carries the minus of the first half."""
        exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
        angles = torch.arange(length, dtype=torch.float32)[:, None] * (1.0 / theta**exponents)
        sin = angles.sin()
        cos = torch.cat([angles.cos(), angles.cos()], 1)
        return self.keep(cos), self.keep(torch.cat([-sin, sin], 1))

    def stack(self, layers: list[Layer], shape: Any, length: int) -> Stack:
        """`shape` is the configuration of whatever has the layers."""
        kv_heads = getattr(shape, "num_key_value_heads", shape.num_attention_heads)
        cos, sin = self.turns(length, shape.head_dim, shape.rope_theta)
        return Stack(
            self.array(layers),
            len(layers),
            shape.hidden_size,
            shape.intermediate_size,
            shape.num_attention_heads,
            kv_heads,
            shape.head_dim,
            shape.rms_norm_eps,
            cos,
            sin,
        )
