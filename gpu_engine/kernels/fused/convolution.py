"""The codec's convolutions as products over neighbouring columns, Snake and residual at their end.

Channels last. A buffer [B, columns + T, C] has a layer's memory before its new columns, so that a
convolution is one product of rows `kernel` columns wide; a transposed one makes `rate` columns of
each. Snake is taken where a column is made, once, not at each of the seven taps that read it. Few
columns leave most of a GPU without a tile: then programs share a tile's depth, and the last to end
adds their sums up, always in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.fused.counters import counters
from gpu_engine.kernels.fused.numbers import nearest_tf32, sine_squared

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


@dataclass(frozen=True, slots=True)
class Cut:
    """A tile's rows (columns of audio), outputs and depth; `splits` programs share its depth."""

    rows: int
    outputs: int
    depth: int
    warps: int
    stages: int
    splits: int = 1


MOST_SPLITS, FEWEST_STEPS = 8, 4


@dataclass(frozen=True, slots=True)
class Cuts:
    """`large` where that gives each of `programs` multiprocessors a tile, else small tiles and a
    shared depth, two programs a multiprocessor."""

    large: Cut = Cut(128, 64, 64, warps=4, stages=4)
    programs: int = 132

    def cut(self, rows: int, outputs: int, channels: int, depth: int, wide: bool) -> Cut:
        """`wide`: in float32 the same bytes of shared memory hold half as deep a tile."""

        def fitted(cut: Cut) -> Cut:
            deep = cut.depth // 2 if wide else cut.depth
            while channels % deep:
                deep //= 2
            narrow = min(cut.outputs, triton.next_power_of_2(max(16, outputs)))
            return replace(cut, outputs=narrow, depth=deep)

        for cut in (fitted(self.large), fitted(Cut(64, 64, 64, warps=4, stages=4))):
            if _tiles(cut, rows, outputs) >= self.programs:
                return cut
        few = min(64, triton.next_power_of_2(max(16, rows)))
        cut = fitted(Cut(few, 32, 128, warps=4, stages=4))
        share = 2 * self.programs // _tiles(cut, rows, outputs)
        splits = max(1, min(share, MOST_SPLITS, depth // (FEWEST_STEPS * cut.depth)))
        return replace(cut, splits=splits)


DEFAULT = Cuts()


def _tiles(cut: Cut, rows: int, outputs: int) -> int:
    return -(-rows // cut.rows) * -(-outputs // cut.outputs)


@triton.jit
def _conv_kernel(x, weight, bias, rate, amount, residual, raw, ended, sums, waiting, rows, T, N, C,
                 x_stride, residual_stride, raw_stride, ended_stride, channels, dilation, DEPTH,
                 span, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                 SPLITS: tl.constexpr, RESIDUAL: tl.constexpr, RAW: tl.constexpr,
                 END: tl.constexpr, ROUND: tl.constexpr):  # fmt: skip
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    b, t = (m // T).to(tl.int64), m % T
    start = x + b * x_stride + t * C
    w = weight + n.to(tl.int64)[:, None] * DEPTH + k[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    split = tl.program_id(2)
    for at in range(split * span, tl.minimum(DEPTH, (split + 1) * span), BLOCK_K):
        # Without the hint the compiler sees no wide loads here, and loads nothing ahead.
        reach = tl.multiple_of(at // C * dilation * C + at % C, BLOCK_K)
        v = tl.load(start[:, None] + reach + k[None, :], mask=(m < rows)[:, None], other=0.0)
        wide = tl.load(w + at, mask=(n < N)[:, None], other=0.0)
        if ROUND:
            v, wide = nearest_tf32(v), nearest_tf32(wide)
            acc = tl.dot(v, tl.trans(wide), acc, input_precision="tf32")
        else:
            acc = tl.dot(v, tl.trans(wide), acc, input_precision="ieee")
    kept = (m < rows)[:, None] & (n < N)[None, :]
    out = t.to(tl.int64)[:, None] * N + n[None, :]
    if SPLITS > 1:
        part = m[:, None] * N + n[None, :]
        size = rows * N
        tl.store(sums + split * size + part, acc, mask=kept)
        tl.debug_barrier()  # all threads' sums are written before one tells so
        tile = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        last = tl.atomic_add(waiting + tile, 1, sem="acq_rel") == SPLITS - 1
        kept = kept & last
        if last:
            tl.store(waiting + tile, 0)
            # Past the L1: other multiprocessors wrote them.
            acc = tl.load(sums + part, mask=kept, other=0.0, cache_modifier=".cg")
            for other in range(1, SPLITS):
                acc += tl.load(sums + other * size + part, mask=kept, other=0.0,
                               cache_modifier=".cg")  # fmt: skip
    acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    if RESIDUAL:
        acc += tl.load(residual + b[:, None] * residual_stride + out, mask=kept, other=0.0).to(
            tl.float32
        )
    if RAW:
        tl.store(raw + b[:, None] * raw_stride + out, acc.to(raw.dtype.element_ty), mask=kept)
    if END == 1:
        turn = tl.load(rate + n % channels, mask=n < N, other=0.0)[None, :]
        gain = tl.load(amount + n % channels, mask=n < N, other=0.0)[None, :]
        acc += sine_squared(acc * turn) * gain
    if END == 2:
        acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    if END > 0:
        tl.store(ended + b[:, None] * ended_stride + out, acc.to(ended.dtype.element_ty), mask=kept)


def convolve(
    x: Tensor,
    conv: Conv,
    *,
    residual: Tensor | None = None,
    raw: Tensor | None = None,
    ended: Tensor | None = None,
    snake: Snake | None = None,
    exact: bool = False,
    cuts: Cuts = DEFAULT,
) -> None:
    """x [B, columns + T, C] (a buffer) to views [B, T * rate, channels] of buffers: `raw` as it is
    with the residual added, `ended` after that through Snake, or GELU where there is none. `exact`
    keeps float32 products from being rounded to tf32."""
    batch, channels = x.shape[0], x.shape[2]
    steps = x.shape[1] - (conv.kernel - 1) * conv.dilation
    outputs, depth = conv.weight.shape
    some = raw if raw is not None else ended
    assert some is not None, "a convolution has somewhere to go"
    rows = batch * steps
    wide = x.dtype == torch.float32
    cut = cuts.cut(rows, outputs, channels, depth, wide)
    span = triton.cdiv(triton.cdiv(depth, cut.depth), cut.splits) * cut.depth
    sums = torch.empty(
        (cut.splits, rows, outputs) if cut.splits > 1 else 1, dtype=torch.float32, device=x.device
    )
    grid = triton.cdiv(outputs, cut.outputs), triton.cdiv(rows, cut.rows), cut.splits
    end = NO_END if ended is None else GELU if snake is None else SNAKE
    _conv_kernel[grid](
        x, conv.weight, conv.bias, conv.bias if snake is None else snake.rate,
        conv.bias if snake is None else snake.gain, some if residual is None else residual,
        some if raw is None else raw, some if ended is None else ended, sums, counters(x.device),
        rows, steps, outputs, channels, x.stride(0),
        0 if residual is None else residual.stride(0), 0 if raw is None else raw.stride(0),
        0 if ended is None else ended.stride(0), conv.channels, conv.dilation,
        depth, span, BLOCK_M=cut.rows, BLOCK_N=cut.outputs, BLOCK_K=cut.depth, SPLITS=cut.splits,
        RESIDUAL=residual is not None, RAW=raw is not None, END=end, ROUND=wide and not exact,
        num_warps=cut.warps, num_stages=cut.stages,
    )  # fmt: skip
