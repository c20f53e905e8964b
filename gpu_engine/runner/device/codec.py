"""The codec's decoder over slots: frames of codes to audio, memories in place, as one function.

Channels last, in float16 or, rounded to tf32 in products, float32. bf16 is audible.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gpu_engine.kernels.fused.columns import mix, remember
from gpu_engine.kernels.fused.convolution import Conv, Cuts, convolve
from gpu_engine.kernels.fused.linear import Tuning, gated
from gpu_engine.kernels.fused.linear import linear as product
from gpu_engine.kernels.fused.window import RING, attend_window
from gpu_engine.runner.device.codec_weights import CodecWeights


class CodecArena:
    """Every slot's memories (one more for padding rows): convolutions' columns in the order of use,
    the attention's rings, and how many frames each has heard."""

    def __init__(self, weights: CodecWeights, slots: int) -> None:
        config, every, device = weights.config, slots + 1, weights.table.device
        shape = len(weights.layers), every, config.num_attention_heads, RING, config.head_dim
        self.keys = torch.zeros(shape, dtype=weights.dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.position = torch.zeros(every, dtype=torch.int64, device=device)
        self.columns = [
            torch.zeros(every, columns, channels, dtype=weights.dtype, device=device)
            for columns, channels, _ in memories(weights)
        ]

    def reset(self, slot: Tensor) -> None:
        """Back to the start of a stream, slot int64 [1]. Rings need nothing: no place before the
        start is read."""
        for kept in (self.position, *self.columns):
            kept.index_fill_(0, slot, 0)

    def save(self, slot: int) -> list[Tensor]:
        """A copy of a slot's memory."""
        rings = self.keys[:, slot].clone(), self.values[:, slot].clone()
        return [*rings, *(each[slot].clone() for each in (self.position, *self.columns))]

    def load(self, slot: int, saved: Sequence[Tensor]) -> None:
        self.keys[:, slot], self.values[:, slot], *rest = saved
        for tensor, copy in zip((self.position, *self.columns), rest, strict=True):
            tensor[slot] = copy


def memories(weights: CodecWeights) -> list[tuple[int, int, int]]:
    """(columns, channels, columns of new input a frame) of each layer that remembers, in order."""
    rate, found = 1, [_memory(weights.first, weights.config.codebook_dim, 1)]
    for mixer in weights.mixers:
        rate *= mixer.rate
        found.append((len(mixer.taps) - 1, mixer.taps.shape[1], rate))
    found.append(_memory(weights.opening, weights.config.latent_dim, rate))
    channels = weights.opening.channels
    for block in weights.blocks:
        found.append(_memory(block.up, channels, rate))
        rate, channels = rate * block.rate, block.up.channels
        found += [_memory(unit.wide, channels, rate) for unit in block.units]
    found.append(_memory(weights.last, channels, rate))
    return found


def _memory(conv: Conv, channels: int, rate: int) -> tuple[int, int, int]:
    return (conv.kernel - 1) * conv.dilation, channels, rate


class CodecStep:
    """Decodes up to `frames` frames for `rows` slots; the buffers are this shape's own."""

    def __init__(
        self,
        weights: CodecWeights,
        arena: CodecArena,
        rows: int,
        frames: int,
        exact: bool = False,
        cuts: Cuts | None = None,
    ) -> None:
        """`exact` keeps float32 products from being rounded; `cuts` tile convolutions."""
        self.weights, self.arena, self.rows, self.frames = weights, arena, rows, frames
        self.exact, self.tuning = exact, Tuning(exact=exact)
        self._convolve = partial(convolve, exact=exact, cuts=cuts or Cuts())
        dtype, device = weights.dtype, weights.table.device
        layout = memories(weights)
        self.buffers = [
            torch.zeros(rows, columns + rate * frames, channels, dtype=dtype, device=device)
            for columns, channels, rate in layout
        ]
        places = [
            (slots.data_ptr(), buffer.data_ptr(), columns * channels, buffer[0].numel(),
             rate * channels)
            for slots, buffer, (columns, channels, rate) in zip(
                arena.columns, self.buffers, layout, strict=True
            )
        ]  # fmt: skip
        self._places = torch.tensor(places, dtype=torch.int64, device=device)
        groups = weights.config.num_quantizers
        self._offsets = torch.arange(groups, device=device) * weights.size

    def __call__(self, slots: Tensor, codes: Tensor, real: Tensor) -> Tensor:
        """slots int64 [rows], codes int64 [rows, frames, groups], real int64 [1] <= frames: so many
        frames are remembered, the others padding. Audio float32 [rows, samples], not clamped where
        padding is."""
        weights, arena, dtype = self.weights, self.arena, self.weights.dtype
        remember(self._places, slots, real, dtype, back=False)
        latents = torch.nn.functional.embedding(codes + self._offsets, weights.table).sum(2)
        buffers = iter(self.buffers)
        buffer = next(buffers)
        self._fresh(buffer, 1).copy_(latents)
        x = self._made(buffer, weights.first, 1)
        x = self._transform(x, slots)
        x = self._upsampled(x, buffers)
        audio = self._rendered(x, buffers)
        remember(self._places, slots, real, dtype, back=True)
        arena.position.index_add_(0, slots, real.expand(len(slots)))
        arena.position[-1].zero_()
        return audio.clamp(-1, 1)

    def _fresh(self, buffer: Tensor, rate: int) -> Tensor:
        """The part of a buffer that new columns fill."""
        return buffer[:, buffer.shape[1] - rate * self.frames :]

    def _made(self, x: Tensor, conv: Conv, rate: int) -> Tensor:
        out = x.new_empty(self.rows, self.frames * rate, len(conv.weight))
        self._convolve(x, conv, raw=out)
        return out

    def _transform(self, x: Tensor, slots: Tensor) -> Tensor:
        weights, arena, frames = self.weights, self.arena, self.frames
        tuning = self.tuning
        flat = product(x.flatten(0, 1), weights.into[0], bias=weights.into[1], tuning=tuning)
        eps, window = weights.eps, weights.config.sliding_window
        for index, layer in enumerate(weights.layers):
            qkv = product(flat, layer.qkv, gain=layer.input_gain, eps=eps, tuning=tuning)
            context = attend_window(
                qkv, weights.rates, arena.keys[index], arena.values[index], slots, arena.position,
                frames, window, self.exact,
            )  # fmt: skip
            flat = product(context, layer.out, residual=flat, tuning=tuning)
            h = gated(flat, layer.gate_up, gain=layer.post_gain, eps=eps, tuning=tuning)
            flat = product(h, layer.down, residual=flat, tuning=tuning)
        matrix, bias = weights.back
        flat = product(flat, matrix, gain=weights.gain, eps=eps, bias=bias, tuning=tuning)
        return flat.view(self.rows, frames, -1)

    def _upsampled(self, x: Tensor, buffers: Any) -> Tensor:
        """Through both mixers, each with an upsampling that remembers nothing before it."""
        rate = 1
        for mixer in self.weights.mixers:
            buffer = next(buffers)
            rate *= mixer.rate
            fresh = self._fresh(buffer, rate)
            # Each column makes `rate` of them: as rows of a wider matrix they lie as they should.
            self._convolve(x, mixer.up, raw=fresh)
            h = mix(buffer, mixer.taps, mixer.bias, mixer.norm, mixer.eps)
            inner = x.new_empty(self.rows, h.shape[1], len(mixer.widen.weight))
            self._convolve(h, mixer.widen, ended=inner)
            x = h.new_empty(h.shape)
            self._convolve(inner, mixer.narrow, raw=x, residual=fresh)
        return x

    def _rendered(self, x: Tensor, buffers: Any) -> Tensor:
        weights = self.weights
        rate = x.shape[1] // self.frames
        buffer = next(buffers)
        self._fresh(buffer, rate).copy_(x)
        following = next(buffers)
        ends = [block.snake for block in weights.blocks[1:]] + [weights.act]
        target = self._fresh(following, rate)
        self._convolve(buffer, weights.opening, ended=target, snake=weights.blocks[0].snake)
        for block, end in zip(weights.blocks, ends, strict=True):
            buffer, rate = following, rate * block.rate
            following = next(buffers)
            raw = x.new_empty(self.rows, self.frames * rate, block.up.channels)
            first = self._fresh(following, rate)
            self._convolve(
                buffer,
                block.up,
                raw=raw,
                ended=first,
                snake=block.units[0].first,
            )
            snakes = [unit.first for unit in block.units[1:]] + [end]
            for unit, snake in zip(block.units, snakes, strict=True):
                buffer, following = following, next(buffers)
                inner = torch.empty_like(raw)
                self._convolve(buffer, unit.wide, ended=inner, snake=unit.second)
                made, ended = torch.empty_like(raw), self._fresh(following, rate)
                self._convolve(
                    inner,
                    unit.narrow,
                    residual=raw,
                    raw=made,
                    ended=ended,
                    snake=snake,
                )
                raw = made
        audio = torch.empty(self.rows, self.frames * rate, 1, device=x.device)
        self._convolve(following, weights.last, raw=audio)
        return audio[..., 0]
