"""Products with what stands around them: norm before, FP8 scales, bias, gate, residual after.

Few rows stream the weights through registers (`_rows_kernel`): every load of a program is in flight
at once. More rows go through the tensor cores (`_tiles_kernel`). Both scale by the row's norm
at the end, so that the input is read once. Sums do not depend on the other rows of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.weights import Matrix


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a product is cut. `rows` 0 is the kernel for few rows, else rows a tile (16 or more)."""

    rows: int
    outputs: int
    depth: int
    warps: int = 4
    stages: int = 4


@dataclass(frozen=True, slots=True)
class Tuning:
    """Which tiling a product takes. Up to `few` rows stream; `wide` is for many outputs."""

    few: int = 4
    stream: Tiling = Tiling(0, 2, 2048, warps=4)
    wide: Tiling = Tiling(16, 32, 128)
    narrow: Tiling = Tiling(16, 16, 256)
    narrow_outputs: int = 2048
    exact: bool = True
    """Whether products of float32 are summed from all their bits, or rounded to tf32 before."""
    early: bool = False
    """Start loading weights before the kernel in front has ended (programmatic launch)."""

    def tiling(self, rows: int, outputs: int, depth: int) -> Tiling:
        if rows <= self.few:
            tiling = self.stream
        else:
            base = self.narrow if outputs <= self.narrow_outputs else self.wide
            tile = min(64, max(base.rows, triton.next_power_of_2(rows)))
            tiling = replace(base, rows=tile)
        while depth % tiling.depth:
            tiling = replace(tiling, depth=tiling.depth // 2)
        return tiling


DEFAULT = Tuning()


@triton.jit
def _finish(acc, up, mean, eps, scale, bias, left, n, N, NORM: tl.constexpr,
            SCALED: tl.constexpr, BIAS: tl.constexpr, GATED: tl.constexpr,
            RESIDUAL: tl.constexpr):  # fmt: skip
    """[rows, outputs] sums to what is stored."""
    if SCALED:
        acc *= tl.load(scale + n, mask=n < N, other=0.0)[None, :]
        if GATED:
            up *= tl.load(scale + N + n, mask=n < N, other=0.0)[None, :]
    if NORM:
        root = tl.rsqrt(mean + eps)[:, None]
        acc *= root
        if GATED:
            up *= root
    if BIAS:
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    if GATED:
        acc = acc / (1.0 + tl.exp(-acc)) * up
    if RESIDUAL:
        acc += left.to(tl.float32)
    return acc


@triton.jit
def _rows_kernel(x, gain, weight, scale, bias, residual, y, eps, rows, N,
                 K: tl.constexpr, ROWS: tl.constexpr,
                 BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, NORM: tl.constexpr,
                 SCALED: tl.constexpr, BIAS: tl.constexpr, GATED: tl.constexpr,
                 RESIDUAL: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    r, k = tl.arange(0, ROWS), tl.arange(0, BLOCK_K)
    inside = (n < N)[:, None]
    kept = (r < rows)[:, None] & (n < N)[None, :]
    at = weight + n.to(tl.int64)[:, None] * K + k[None, :]
    left = tl.zeros((ROWS, BLOCK_N), y.dtype.element_ty)
    acc = tl.zeros((ROWS, BLOCK_N, BLOCK_K), tl.float32)
    up = tl.zeros((ROWS, BLOCK_N, BLOCK_K), tl.float32)
    squares = tl.zeros((ROWS, BLOCK_K), tl.float32)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    for start in tl.static_range(0, K, BLOCK_K):
        w = tl.load(at + start, mask=inside, other=0.0).to(tl.float32)
        if GATED:
            second = tl.load(at + N.to(tl.int64) * K + start, mask=inside, other=0.0)
        if EARLY and start == 0:
            tl.extra.cuda.gdc_wait()
        if RESIDUAL and start == 0:  # with the input, not behind the sums
            left = tl.load(residual + r[:, None] * N + n[None, :], mask=kept, other=0.0)
        v = tl.load(x + r[:, None] * K + start + k[None, :], mask=(r < rows)[:, None], other=0.0)
        v = v.to(tl.float32)
        if NORM:
            squares += v * v
            v *= tl.load(gain + start + k).to(tl.float32)[None, :]
        acc += v[:, None, :] * w[None, :, :]
        if GATED:
            up += v[:, None, :] * second.to(tl.float32)[None, :, :]
    out, other = tl.sum(acc, 2), tl.sum(up, 2)
    out = _finish(out, other, tl.sum(squares, 1) / K, eps, scale, bias, left, n, N,
                  NORM, SCALED, BIAS, GATED, RESIDUAL)  # fmt: skip
    tl.store(y + r[:, None] * N + n[None, :], out.to(y.dtype.element_ty), mask=kept)


@triton.jit
def _tiles_kernel(x, gain, weight, scale, bias, residual, y, eps, rows, N, K,
                  ROWS: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr, NORM: tl.constexpr, SCALED: tl.constexpr,
                  BIAS: tl.constexpr, GATED: tl.constexpr, RESIDUAL: tl.constexpr,
                  EARLY: tl.constexpr, PRECISION: tl.constexpr):  # fmt: skip
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, BLOCK_K)
    at = weight + n.to(tl.int64)[:, None] * K + k[None, :]
    acc = tl.zeros((ROWS, BLOCK_N), tl.float32)
    up = tl.zeros((ROWS, BLOCK_N), tl.float32)
    squares = tl.zeros((ROWS,), tl.float32)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    for start in range(0, K, BLOCK_K):
        v = tl.load(x + r[:, None] * K + start + k[None, :], mask=(r < rows)[:, None], other=0.0)
        if NORM:
            wide = v.to(tl.float32)
            squares += tl.sum(wide * wide, 1)
            v = (wide * tl.load(gain + start + k).to(tl.float32)[None, :]).to(v.dtype)
        w = tl.load(at + start, mask=(n < N)[:, None], other=0.0).to(v.dtype)
        acc = tl.dot(v, tl.trans(w), acc, input_precision=PRECISION)
        if GATED:
            second = tl.load(at + N.to(tl.int64) * K + start, mask=(n < N)[:, None], other=0.0)
            up = tl.dot(v, tl.trans(second.to(v.dtype)), up, input_precision=PRECISION)
    kept = (r < rows)[:, None] & (n < N)[None, :]
    left = acc
    if RESIDUAL:
        left = tl.load(residual + r[:, None] * N + n[None, :], mask=kept, other=0.0).to(tl.float32)
    out = _finish(acc, up, squares / K, eps, scale, bias, left, n, N,
                  NORM, SCALED, BIAS, GATED, RESIDUAL)  # fmt: skip
    tl.store(y + r[:, None] * N + n[None, :], out.to(y.dtype.element_ty), mask=kept)


def linear(
    x: Tensor,
    matrix: Matrix,
    *,
    gain: Tensor | None = None,
    eps: float = 0.0,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    tuning: Tuning = DEFAULT,
) -> Tensor:
    """As `plain.linear`; a scale of FP8 weights is applied to the sums."""
    return _product(x, matrix, gain, eps, bias, residual, False, tuning)


def gated(
    x: Tensor, matrix: Matrix, *, gain: Tensor, eps: float, tuning: Tuning = DEFAULT
) -> Tensor:
    """As `plain.gated`."""
    return _product(x, matrix, gain, eps, None, None, True, tuning)


def _product(
    x: Tensor,
    matrix: Matrix,
    gain: Tensor | None,
    eps: float,
    bias: Tensor | None,
    residual: Tensor | None,
    gate: bool,
    tuning: Tuning,
) -> Tensor:
    (outputs, depth), rows = matrix.shape, len(x)
    assert x.is_contiguous(), "rows lie one after the other"
    assert x.shape[1] == depth, "the product's depth is the input's width"
    outputs = outputs // 2 if gate else outputs
    tiling = tuning.tiling(rows, outputs, depth)
    if x.dtype == torch.float32 and tiling.rows:
        # Twice the bytes: the tiles of a stage have to fit shared memory all the same.
        tiling = replace(tiling, depth=max(16, tiling.depth // 4))
    y = x.new_empty(rows, outputs)
    options: dict[str, Any] = {
        "BLOCK_N": tiling.outputs,
        "BLOCK_K": tiling.depth,
        "NORM": gain is not None,
        "SCALED": matrix.scale is not None,
        "BIAS": bias is not None,
        "GATED": gate,
        "RESIDUAL": residual is not None,
        "EARLY": tuning.early,
        "num_warps": tiling.warps,
        "num_stages": tiling.stages,
    }
    if tuning.early:
        options["launch_pdl"] = True
    inputs = [_or(t, x) for t in (gain, matrix.weight, matrix.scale, bias, residual)]
    columns = triton.cdiv(outputs, tiling.outputs)
    if tiling.rows == 0:
        options |= {"ROWS": triton.next_power_of_2(rows)}
        _rows_kernel[(columns,)](x, *inputs, y, eps, rows, outputs, K=depth, **options)
        return y
    options["ROWS"] = tiling.rows
    options["PRECISION"] = "ieee" if tuning.exact else "tf32"
    grid = columns, triton.cdiv(rows, tiling.rows)
    _tiles_kernel[grid](x, *inputs, y, eps, rows, outputs, depth, **options)
    return y


def _or(tensor: Tensor | None, stand_in: Tensor) -> Tensor:
    """A kernel's pointer that is never read still has to be one."""
    return stand_in if tensor is None else tensor
