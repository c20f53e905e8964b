"""The codec decoder's weights as its kernels read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gpu_engine.kernels.fused.convolution import Conv, Snake
from gpu_engine.kernels.weights import Matrix
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.codec.decoder import CausalUpsample, ConvNeXt, SnakeBeta
from gpu_engine.models.codec.transformer import Layer


@dataclass(frozen=True, slots=True)
class Unit:
    """A residual unit: Snake, wide convolution, Snake, narrow one."""

    first: Snake
    wide: Conv
    second: Snake
    narrow: Conv


@dataclass(frozen=True, slots=True)
class Block:
    snake: Snake
    up: Conv
    rate: int
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Mixer:
    up: Conv
    rate: int
    taps: Tensor
    bias: Tensor
    norm: tuple[Tensor, Tensor]
    eps: float
    widen: Conv
    narrow: Conv


@dataclass(frozen=True, slots=True)
class Attention:
    """Layer scales are folded into the matrices that they follow."""

    qkv: Matrix
    out: Matrix
    gate_up: Matrix
    down: Matrix
    input_gain: Tensor
    post_gain: Tensor


class CodecWeights:
    """A decoder's weights in `dtype`, laid out for the kernels."""

    @torch.no_grad()
    def __init__(self, decoder: CodecDecoder, dtype: torch.dtype) -> None:
        self.dtype, self.config = dtype, decoder.config
        part = decoder.pre_transformer
        self.table = decoder.quantizer.table()
        self.size = decoder.config.codebook_size
        self.first = self._conv(decoder.pre_conv)
        self.into = self._matrix(part.input_proj.weight), self._cast(part.input_proj.bias)
        self.layers = [self._layer(layer) for layer in part.layers]
        self.gain, self.eps = self._cast(part.norm.weight), decoder.config.rms_norm_eps
        self.back = self._matrix(part.output_proj.weight), self._cast(part.output_proj.bias)
        half = decoder.config.head_dim // 2
        steps = torch.arange(half, dtype=torch.float32, device=self.table.device)
        self.rates = decoder.config.rope_theta ** (-steps / half)
        self.mixers = [self._mixer(*stage.children()) for stage in decoder.upsample]
        opening, *blocks, act, last = decoder.decoder
        self.opening = self._conv(opening)
        self.blocks = [self._block(block) for block in blocks]
        self.act, self.last = _snake(act), self._conv(last)

    def _cast(self, tensor: Tensor | None) -> Tensor:
        assert tensor is not None, "every layer of the codec but its attention has a bias"
        return tensor.detach().to(self.dtype).contiguous()

    def _matrix(self, weight: Tensor) -> Matrix:
        return Matrix(self._cast(weight))

    def _conv(self, module: Any) -> Conv:
        weight, (dilation,) = module.conv.weight, module.conv.dilation
        flat = weight.permute(0, 2, 1).flatten(1)
        bias = module.conv.bias.detach().float()
        return Conv(self._cast(flat), bias, weight.shape[-1], dilation, len(weight))

    def _upsample(self, module: CausalUpsample) -> Conv:
        weight, rate, columns = module.conv.weight, module.stride, module.columns
        taps = weight.view(*weight.shape[:2], columns + 1, rate).flip(2)
        flat = taps.permute(3, 1, 2, 0).flatten(0, 1).flatten(1)
        bias = self._bias(module).repeat(rate)
        return Conv(self._cast(flat), bias, columns + 1, 1, weight.shape[1])

    @staticmethod
    def _bias(module: CausalUpsample) -> Tensor:
        assert module.conv.bias is not None
        return module.conv.bias.detach().float()

    def _linear(self, module: nn.Linear, gain: Tensor | None = None) -> Conv:
        weight: Tensor = module.weight
        bias: Tensor = module.bias
        if gain is not None:
            weight, bias = weight * gain[:, None], bias * gain
        return Conv(self._cast(weight), bias.detach().float(), 1, 1, len(weight))

    def _mixer(self, up: Any, block: Any) -> Mixer:
        assert isinstance(up, CausalUpsample)
        assert isinstance(block, ConvNeXt)
        conv = block.dwconv.conv
        return Mixer(
            up=self._upsample(up),
            rate=up.stride,
            taps=self._cast(conv.weight[:, 0].t()),
            bias=self._cast(conv.bias),
            norm=(self._cast(block.norm.weight), self._cast(block.norm.bias)),
            eps=block.norm.eps,
            widen=self._linear(block.pwconv1),
            narrow=self._linear(block.pwconv2, block.gamma),
        )

    def _block(self, module: Any) -> Block:
        act, up, *units = module.block
        made = [
            Unit(_snake(u.act1), self._conv(u.conv1), _snake(u.act2), self._conv(u.conv2))
            for u in units
        ]
        return Block(_snake(act), self._upsample(up), up.stride, tuple(made))

    def _layer(self, layer: Any) -> Attention:
        assert isinstance(layer, Layer)
        mix_, mlp = layer.self_attn, layer.mlp
        scale, deep = layer.self_attn_layer_scale.scale, layer.mlp_layer_scale.scale
        qkv = torch.cat([mix_.q_proj.weight, mix_.k_proj.weight, mix_.v_proj.weight])
        return Attention(
            qkv=self._matrix(qkv),
            out=self._matrix(mix_.o_proj.weight * scale[:, None]),
            gate_up=self._matrix(torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])),
            down=self._matrix(mlp.down_proj.weight * deep[:, None]),
            input_gain=self._cast(layer.input_layernorm.weight),
            post_gain=self._cast(layer.post_attention_layernorm.weight),
        )


def _snake(module: Any) -> Snake:
    assert isinstance(module, SnakeBeta)
    alpha, beta = module.alpha.detach().float(), module.beta.detach().float()
    return Snake(alpha.exp(), (beta.exp() + 1e-9).reciprocal())
