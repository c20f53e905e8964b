"""How a step opens and closes, one program a row (and a stretch of its width)."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.slots import Arena

WIDE = 256


@triton.jit
def _talker_input_kernel(slots, frames, texts, next_input, text, out, length, H,
                         BLOCK: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, h = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    frame = tl.load(frames + slot)
    place = tl.maximum(tl.minimum(frame, tl.load(texts + slot)) - 1, 0)
    inside = h < H
    said = tl.load(text + (slot * length + place) * H + h, mask=inside & (frame > 0), other=0.0)
    made = tl.load(next_input + slot * H + h, mask=inside, other=0.0)
    total = made.to(tl.float32) + said.to(tl.float32)
    tl.store(out + row * H + h, total.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _norm_kernel(x, gain, out, eps, K, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    v = tl.load(x + row * K + k, mask=k < K, other=0.0).to(tl.float32)
    dtype: tl.constexpr = out.dtype.element_ty
    v = (v * tl.rsqrt(tl.sum(v * v, 0) / K + eps)).to(dtype).to(tl.float32)
    v *= tl.load(gain + k, mask=k < K, other=0.0).to(tl.float32)
    tl.store(out + row * K + k, v.to(dtype), mask=k < K)


@triton.jit
def root_of(x, K, eps, BLOCK: tl.constexpr):
    """What a row [K] is multiplied by to be normalised."""
    k = tl.arange(0, BLOCK)
    v = tl.load(x + k, mask=k < K, other=0.0).to(tl.float32)
    return tl.rsqrt(tl.sum(v * v, 0) / K + eps)


@triton.jit
def _gate_kernel(both, hidden, out, N, K, eps, BLOCK: tl.constexpr, RAW: tl.constexpr,
                 BLOCK_K: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, n = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    gate = tl.load(both + 2 * row * N + n, mask=n < N, other=0.0).to(tl.float32)
    up = tl.load(both + (2 * row + 1) * N + n, mask=n < N, other=0.0).to(tl.float32)
    if RAW:
        root = root_of(hidden + row * K, K, eps, BLOCK_K)
        gate, up = gate * root, up * root
    y = gate / (1.0 + tl.exp(-gate)) * up
    tl.store(out + row * N + n, y.to(out.dtype.element_ty), mask=n < N)


@triton.jit
def _close_talker_kernel(slots, hidden, code0, keep_hidden, keep_code0, position, told, scratch,
                         last, end, rows, H, BLOCK: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, h = tl.program_id(0), tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    v = tl.load(hidden + row * H + h, mask=h < H, other=0.0)
    tl.store(keep_hidden + slot * H + h, v, mask=h < H)
    code = tl.load(code0 + row)
    tl.store(keep_code0 + slot, code)
    at = tl.load(position + slot)
    tl.debug_barrier()
    tl.store(position + slot, tl.minimum(at + (slot != scratch).to(tl.int64), last))
    # Infinity and not-a-number alike: the difference to itself is not zero.
    wide = v.to(tl.float32)
    wrong = tl.sum((wide - wide != 0.0).to(tl.int32), 0)
    tl.store(told + row, (code == end).to(tl.uint8))
    tl.store(told + rows + row, (wrong > 0).to(tl.uint8))


@triton.jit
def _frame_input_kernel(slots, hidden, code0, embedding, codes, out, GROUPS, H,
                        BLOCK: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, h = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    code = tl.load(code0 + slot)
    tl.store(codes + row * GROUPS, code)
    first = tl.load(hidden + slot * H + h, mask=h < H, other=0.0)
    second = tl.load(embedding + code * H + h, mask=h < H, other=0.0)
    tl.store(out + 2 * row * H + h, first, mask=h < H)
    tl.store(out + (2 * row + 1) * H + h, second, mask=h < H)


@triton.jit
def _close_frame_kernel(slots, embedding, tables, codes, keep_codes, next_input, frames,
                        positions, vocabulary, H, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
                        EARLY: tl.constexpr):  # fmt: skip
    row, h = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    code = tl.load(codes + row * GROUPS)
    total = tl.load(embedding + code * H + h, mask=h < H, other=0.0).to(tl.float32)
    for group in tl.static_range(1, GROUPS):
        code = tl.load(codes + row * GROUPS + group)
        entry = tables + ((group - 1) * vocabulary + code) * H + h
        total += tl.load(entry, mask=h < H, other=0.0).to(tl.float32)
    tl.store(next_input + slot * H + h, total.to(next_input.dtype.element_ty), mask=h < H)
    if tl.program_id(1) == 0:
        g = tl.arange(0, GROUPS)
        place = (slot * positions + tl.load(frames + slot)) * GROUPS + g
        tl.store(keep_codes + place, tl.load(codes + row * GROUPS + g))


@triton.jit
def _advance_kernel(slots, counter, scratch, last, EARLY: tl.constexpr):
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + tl.program_id(0))
    at = tl.load(counter + slot)
    tl.debug_barrier()
    tl.store(counter + slot, tl.minimum(at + (slot != scratch).to(tl.int64), last))


def talker_input(arena: Arena, rows: Tensor, early: bool = False) -> Tensor:
    """As `plain.talker_input`."""
    width = arena.next_input.shape[1]
    out = arena.next_input.new_empty(len(rows), width)
    _talker_input_kernel[_grid(rows, width)](
        rows, arena.frames, arena.texts, arena.next_input, arena.text, out, arena.text.shape[1],
        width, BLOCK=WIDE, **_launch(early),
    )  # fmt: skip
    return out


def norm(x: Tensor, gain: Tensor, eps: float, early: bool = False) -> Tensor:
    """As `plain.norm`."""
    out, block = torch.empty_like(x), triton.next_power_of_2(x.shape[1])
    _norm_kernel[(len(x),)](x, gain, out, eps, x.shape[1], BLOCK=block, **_launch(early))
    return out


def gate(
    both: Tensor, early: bool = False, hidden: Tensor | None = None, eps: float = 0.0
) -> Tensor:
    """silu(gate) * up of rows [B, 2 I], gate first. `hidden` [B, H]: their product's input where
    that was not normalised."""
    out = both.new_empty(len(both), both.shape[1] // 2)
    width = out.shape[1]
    grid = len(both), triton.cdiv(width, 1024)
    depth = 1 if hidden is None else hidden.shape[1]
    _gate_kernel[grid](
        both, out if hidden is None else hidden, out, width, depth, eps, BLOCK=1024,
        RAW=hidden is not None, BLOCK_K=triton.next_power_of_2(depth), **_launch(early),
    )  # fmt: skip
    return out


def close_talker(
    arena: Arena, rows: Tensor, hidden: Tensor, code0: Tensor, end: int, early: bool = False
) -> Tensor:
    """As `plain.close_talker`."""
    told = torch.empty(2, len(rows), dtype=torch.uint8, device=rows.device)
    width = hidden.shape[1]
    _close_talker_kernel[(len(rows),)](
        rows, hidden, code0, arena.hidden, arena.code0, arena.position, told, arena.scratch,
        arena.keys.shape[3] - 1, end, len(rows), width, BLOCK=triton.next_power_of_2(width),
        **_launch(early),
    )  # fmt: skip
    return told.view(torch.bool)


def frame_input(
    arena: Arena, rows: Tensor, embedding: Tensor, codes: Tensor, early: bool = False
) -> Tensor:
    """As `plain.frame_input`."""
    width = embedding.shape[1]
    out = embedding.new_empty(2 * len(rows), width)
    _frame_input_kernel[_grid(rows, width)](
        rows, arena.hidden, arena.code0, embedding, codes, out, codes.shape[1], width,
        BLOCK=WIDE, **_launch(early),
    )  # fmt: skip
    return out


def close_frame(
    arena: Arena,
    rows: Tensor,
    embedding: Tensor,
    tables: Tensor,
    codes: Tensor,
    early: bool = False,
) -> None:
    """As `plain.close_frame`; the sum is kept in float32 until its end."""
    width = embedding.shape[1]
    _close_frame_kernel[_grid(rows, width)](
        rows, embedding, tables, codes, arena.codes, arena.next_input, arena.frames,
        arena.codes.shape[1], tables.shape[1], width, GROUPS=codes.shape[1], BLOCK=WIDE,
        **_launch(early),
    )  # fmt: skip
    # Its own kernel: every program above reads the counter.
    last = arena.codes.shape[1] - 1
    _advance_kernel[(len(rows),)](rows, arena.frames, arena.scratch, last, **_launch(early))


def _grid(rows: Tensor, width: int) -> tuple[int, int]:
    return len(rows), triton.cdiv(width, WIDE)


def _launch(early: bool) -> dict[str, Any]:
    return {"EARLY": early, "num_warps": 4} | ({"launch_pdl": True} if early else {})
