"""The decoder on a CPU: the same bits however its frames are cut into pushes and batches.

Channels last; convolutions are products over neighbouring columns. Exact on one thread; on several,
equal to a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_engine.models.codec.products import Conv, Memory, Product, Upsample, of_whole_rows
from gpu_engine.models.codec.state import CodecState
from gpu_engine.models.codec.transformer import rotate

if TYPE_CHECKING:
    from gpu_engine.models.codec.decoder import CodecDecoder, ConvNeXt, ResidualUnit, SnakeBeta
    from gpu_engine.models.codec.transformer import Layer

# Frames of all rows together in one go: more leaves the cache and is slower.
BLOCK = 4

Table = tuple[Tensor, Tensor]
# What every stage is: [B, n, channels] and the push's memory to [B, n * rate, channels].
Stage = Callable[[Tensor, Memory], Tensor]


@dataclass(frozen=True, slots=True)
class Snake:
    rate: Tensor
    gain: Tensor

    @classmethod
    def of(cls, module: SnakeBeta) -> Snake:
        return cls(module.alpha.exp(), (module.beta.exp() + 1e-9).reciprocal())

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        wave = torch.sin(x * self.rate)
        return torch.addcmul(x, wave.square_(), self.gain)


@dataclass(frozen=True, slots=True)
class Residual:
    stages: tuple[Stage, ...]

    @classmethod
    def of(cls, unit: ResidualUnit) -> Residual:
        return cls(
            (Snake.of(unit.act1), Conv.of(unit.conv1), Snake.of(unit.act2), Conv.of(unit.conv2))
        )

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        y = x
        for stage in self.stages:
            y = stage(y, memory)
        return y.add_(x)


@dataclass(frozen=True, slots=True)
class Mix:
    """ConvNeXt. The depthwise sum is written out column by column."""

    block: ConvNeXt
    taps: Tensor
    """[kernel, channels]."""
    widen: Product
    narrow: Product

    @classmethod
    def of(cls, block: ConvNeXt) -> Mix:
        taps = block.dwconv.conv.weight[:, 0].t().contiguous()
        return cls(block, taps, Product.of(block.pwconv1), Product.of(block.pwconv2))

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        bias, count = self.block.dwconv.conv.bias, x.shape[1]
        assert bias is not None
        past, h = memory.extend(x, len(self.taps) - 1), bias.expand_as(x)
        for tap, weight in enumerate(self.taps):
            h = torch.addcmul(h, past[:, tap : tap + count], weight)
        h = of_whole_rows(self.block.norm(h), self._mlp)
        return torch.addcmul(x, h, self.block.gamma)

    def _mlp(self, rows: Tensor) -> Tensor:
        return self.narrow.rows(F.gelu(self.widen.rows(rows)))


@dataclass(frozen=True, slots=True)
class Attention:
    """A transformer layer; every query reads exactly `window` positions, empty ones masked."""

    layer: Layer
    qkv: Product
    out: Product
    gate_up: Product
    down: Product

    @classmethod
    def of(cls, layer: Layer) -> Attention:
        mix, mlp = layer.self_attn, layer.mlp
        qkv = torch.cat([mix.q_proj.weight, mix.k_proj.weight, mix.v_proj.weight])
        gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        return cls(
            layer,
            Product(qkv.t().contiguous()),
            Product.of(mix.o_proj),
            Product(gate_up.t().contiguous()),
            Product.of(mlp.down_proj),
        )

    def __call__(self, x: Tensor, memory: Memory, table: Table, empty: Tensor) -> Tensor:
        layer = self.layer
        attended = self._attend(layer.input_layernorm(x), memory, table, empty)
        x = torch.addcmul(x, attended, layer.self_attn_layer_scale.scale)
        h = of_whole_rows(layer.post_attention_layernorm(x), self._mlp)
        return torch.addcmul(x, h, layer.mlp_layer_scale.scale)

    def _mlp(self, rows: Tensor) -> Tensor:
        gate, up = self.gate_up.rows(rows).chunk(2, -1)
        return self.down.rows(F.silu(gate.contiguous()) * up)

    def _attend(self, x: Tensor, memory: Memory, table: Table, empty: Tensor) -> Tensor:
        heads, window = self.layer.self_attn.heads, self.layer.self_attn.window
        parts = self.qkv(x).chunk(3, -1)
        q, k, v = (part.view(*x.shape[:2], heads, -1).transpose(1, 2) for part in parts)
        q, k = rotate(q, table), rotate(k, table)
        keys = memory.extend_heads(k, window - 1).unfold(2, window, 1)
        values = memory.extend_heads(v, window - 1).unfold(2, window, 1)
        # [B, heads, n, D, window]: sums over whole windows, each in the same order.
        scores = (q[..., None] * keys).sum(-2) * q.shape[-1] ** -0.5
        weights = scores.masked_fill(empty, -torch.inf).softmax(-1)
        context = (weights[..., None, :] * values).sum(-1)
        return self.out(context.transpose(1, 2).flatten(2))


class FoldedDecoder:
    """A snapshot of a decoder's weights: take a new one when they change."""

    @torch.no_grad()
    def __init__(self, decoder: CodecDecoder) -> None:
        part = decoder.pre_transformer
        self.rotary, self.norm = part.rotary, part.norm
        self.window = part.config.sliding_window
        self.first, self.into = Conv.of(decoder.pre_conv), Product.of(part.input_proj)
        self.layers = [Attention.of(layer) for layer in part.layers]  # type: ignore[arg-type]
        self.out = Product.of(part.output_proj)
        self.stages = [*_upsampling(decoder), *_rendering(decoder)]

    def step(self, latents: Tensor, state: CodecState) -> tuple[Tensor, CodecState]:
        """latents [B, codebook_dim, n] to unclamped audio [B, samples], and the next state."""
        block, pieces = max(1, BLOCK // len(latents)), []
        for part in torch.split(latents.transpose(1, 2), block, 1):
            memory = Memory(state)
            pieces.append(self._render(part, memory))
            state = memory.close(part.shape[1])
        return torch.cat(pieces, 1), state

    def _render(self, x: Tensor, memory: Memory) -> Tensor:
        x = self._transform(self.first(x, memory), memory)
        for stage in self.stages:
            x = stage(x, memory)
        return x[..., 0]

    def _transform(self, x: Tensor, memory: Memory) -> Tensor:
        at = memory.position[:, None] + torch.arange(x.shape[1])
        table = self.rotary(at)
        empty = torch.arange(self.window - 1, -1, -1) > at[..., None]
        x = self.into(x)
        for layer in self.layers:
            x = layer(x, memory, table, empty[:, None])
        return self.out(self.norm(x))


def _upsampling(decoder: CodecDecoder) -> Iterator[Stage]:
    for stage in decoder.upsample:
        up, mix = stage.children()
        yield Upsample.of(up)  # type: ignore[arg-type]
        yield Mix.of(mix)  # type: ignore[arg-type]


def _rendering(decoder: CodecDecoder) -> Iterator[Stage]:
    first, *blocks, act, last = decoder.decoder
    yield Conv.of(first)  # type: ignore[arg-type]
    for block in blocks:
        act_in, up, *units = block.block  # type: ignore[misc]
        yield Snake.of(act_in)
        yield Upsample.of(up)
        for unit in units:
            yield Residual.of(unit)
    yield Snake.of(act)  # type: ignore[arg-type]
    yield Conv.of(last)  # type: ignore[arg-type]
