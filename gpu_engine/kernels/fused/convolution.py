"""The codec's convolutions as products over neighbouring columns, Snake and residual at their end.

Channels last. A buffer [B, columns + T, C] has a layer's memory before its new columns, so that a
convolution is one product of rows `kernel` columns wide; a transposed one makes `rate` columns of
each. Snake is taken where a column is made, once, not at each of the seven taps that read it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

NO_END, SNAKE, GELU = 0, 1, 2


class Conv(NamedTuple):
    """`weight` [N, kernel * C], tap by tap; `bias` [N]; `channels` of an output column (N = rate
    times that in a transposed one)."""

    weight: Tensor
    bias: Tensor
    kernel: int
    dilation: int
    channels: int


class Snake(NamedTuple):
    """e^alpha and 1 / (e^beta + 1e-9), float32 [channels]."""

    rate: Tensor
    gain: Tensor


@triton.jit
def _conv_kernel(x, weight, bias, rate, amount, residual, raw, ended, rows, T, N, C, x_stride,
                 residual_stride, raw_stride, ended_stride, channels, dilation,
                 DEPTH, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr, RESIDUAL: tl.constexpr, RAW: tl.constexpr,
                 END: tl.constexpr, PRECISION: tl.constexpr):  # fmt: skip
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    b, t = (m // T).to(tl.int64), m % T
    start = x + b * x_stride + t * C
    w = weight + n.to(tl.int64)[:, None] * DEPTH + k[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for at in range(0, DEPTH, BLOCK_K):
        tap, c = at // C, at % C
        place = start[:, None] + tap * dilation * C + c + k[None, :]
        v = tl.load(place, mask=(m < rows)[:, None], other=0.0)
        wide = tl.load(w + at, mask=(n < N)[:, None], other=0.0)
        acc = tl.dot(v, tl.trans(wide), acc, input_precision=PRECISION)
    acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    kept = (m < rows)[:, None] & (n < N)[None, :]
    out = t.to(tl.int64)[:, None] * N + n[None, :]
    if RESIDUAL:
        acc += tl.load(residual + b[:, None] * residual_stride + out, mask=kept, other=0.0).to(
            tl.float32
        )
    if RAW:
        tl.store(raw + b[:, None] * raw_stride + out, acc.to(raw.dtype.element_ty), mask=kept)
    if END == 1:
        turn = tl.load(rate + n % channels, mask=n < N, other=0.0)[None, :]
        wave = tl.sin(acc * turn)
        acc += wave * wave * tl.load(amount + n % channels, mask=n < N, other=0.0)[None, :]
    if END == 2:
        acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    if END > 0:
        tl.store(ended + b[:, None] * ended_stride + out, acc.to(ended.dtype.element_ty), mask=kept)


@triton.jit
def _mix_kernel(x, taps, bias, gain, shift, y, T, C, x_stride, eps, TAPS: tl.constexpr,
                BLOCK: tl.constexpr):  # fmt: skip
    """Depthwise causal convolution and LayerNorm of one column."""
    b, t, c = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < C
    acc = tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
    for tap in tl.static_range(TAPS):
        v = tl.load(x + b * x_stride + (t + tap) * C + c, mask=inside, other=0.0).to(tl.float32)
        acc += v * tl.load(taps + tap * C + c, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(acc, 0) / C
    centred = tl.where(inside, acc - mean, 0.0)
    acc = centred * tl.rsqrt(tl.sum(centred * centred, 0) / C + eps)
    acc = acc * tl.load(gain + c, mask=inside, other=0.0).to(tl.float32)
    acc += tl.load(shift + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + (b * T + t) * C + c, acc.to(y.dtype.element_ty), mask=inside)


@triton.jit
def _memory_kernel(places, slots, frames, ITEM: tl.constexpr, BACK: tl.constexpr,
                   BLOCK: tl.constexpr):  # fmt: skip
    """One layer's memory of one row: from its slot to before the new columns, or BACK from the end
    of `frames` new frames to the slot. `places` [layers, 5]: slot array, buffer, numbers of a
    memory, of a buffer's row, of a frame."""
    row, layer = tl.program_id(0), tl.program_id(1)
    table = places + layer * 5
    size, line = tl.load(table + 2), tl.load(table + 3)
    slot = tl.load(slots + row)
    arena = tl.load(table).to(tl.pointer_type(ITEM)) + slot * size
    buffer = tl.load(table + 1).to(tl.pointer_type(ITEM)) + row * line
    i = tl.arange(0, BLOCK)
    if BACK:
        buffer += tl.load(frames) * tl.load(table + 4)
    for start in range(0, size, BLOCK):
        inside = start + i < size
        if BACK:
            tl.store(arena + start + i, tl.load(buffer + start + i, mask=inside), mask=inside)
        else:
            tl.store(buffer + start + i, tl.load(arena + start + i, mask=inside), mask=inside)


def convolve(
    x: Tensor,
    conv: Conv,
    *,
    residual: Tensor | None = None,
    raw: Tensor | None = None,
    ended: Tensor | None = None,
    snake: Snake | None = None,
    exact: bool = False,
) -> None:
    """x [B, columns + T, C] (a buffer) to views [B, T * rate, channels] of buffers: `raw` as it is
    with the residual added, `ended` after that through Snake, or GELU where there is none. `exact`
    keeps float32 products from being rounded to tf32."""
    batch, channels = x.shape[0], x.shape[2]
    steps = x.shape[1] - (conv.kernel - 1) * conv.dilation
    outputs, depth = conv.weight.shape
    some = raw if raw is not None else ended
    assert some is not None, "a convolution has somewhere to go"
    wide = min(64, triton.next_power_of_2(max(16, outputs)))
    tall = 64 if batch * steps <= 2048 else 128
    grid = triton.cdiv(outputs, wide), triton.cdiv(batch * steps, tall)
    end = NO_END if ended is None else GELU if snake is None else SNAKE
    _conv_kernel[grid](
        x, conv.weight, conv.bias, conv.bias if snake is None else snake.rate,
        conv.bias if snake is None else snake.gain, some if residual is None else residual,
        some if raw is None else raw, some if ended is None else ended,
        batch * steps, steps, outputs, channels, x.stride(0),
        0 if residual is None else residual.stride(0), 0 if raw is None else raw.stride(0),
        0 if ended is None else ended.stride(0), conv.channels, conv.dilation,
        depth, BLOCK_M=tall, BLOCK_N=wide, BLOCK_K=_depth(channels),
        RESIDUAL=residual is not None, RAW=raw is not None, END=end,
        PRECISION="ieee" if exact else "tf32", num_warps=4 if tall == 64 else 8, num_stages=3,
    )  # fmt: skip


def _depth(channels: int) -> int:
    return next(size for size in (64, 32, 16) if channels % size == 0)


def mix(x: Tensor, taps: Tensor, bias: Tensor, norm: tuple[Tensor, Tensor], eps: float) -> Tensor:
    """ConvNeXt's first half: x [B, taps - 1 + T, C] (a buffer), taps [kernel, C] to [B, T, C]."""
    batch, channels = x.shape[0], x.shape[2]
    steps = x.shape[1] - len(taps) + 1
    y = x.new_empty(batch, steps, channels)
    _mix_kernel[(steps, batch)](
        x, taps, bias, *norm, y, steps, channels, x.stride(0), eps,
        TAPS=len(taps), BLOCK=triton.next_power_of_2(channels), num_warps=4,
    )  # fmt: skip
    return y


def remember(places: Tensor, slots: Tensor, frames: Tensor, item: torch.dtype, back: bool) -> None:
    """All layers' memories between slots and buffers in one launch: see `_memory_kernel`."""
    kinds = {torch.float32: tl.float32, torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}
    _memory_kernel[(len(slots), len(places))](
        places, slots, frames, ITEM=kinds[item], BACK=back, BLOCK=1024, num_warps=4
    )
