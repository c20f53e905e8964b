"""Attention of one new position a row over its slot, with q/k norm, rotary turn and cache write.

The queries of a key head, padded to sixteen, go through the tensor cores. A slot's blocks of
positions are dealt out to SPLITS parts, which are added up in their order. Few rows give each part
a program of its own, and the last to end adds up; many rows go through the parts in one. Sums
know the slot's length and nothing of the batch: the same bits in both ways.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.fused.attention import keep, new_key_value, turned
from gpu_engine.kernels.fused.counters import SIZE, counters
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import StackWeights

BLOCK = 128
SPLITS = 4
SPLIT_ROWS = 8  # up to so many rows each part is a program
QUERIES = 16  # the fewest rows of a product on tensor cores
MARKS = 4  # behind a part's sums: its peak and its total, to sixteen bytes


@triton.jit
def _merged(peak, total, low, high, peak2, total2, low2, high2):
    """Two softmax sums, each against its own peak, as one."""
    top = tl.maximum(peak, peak2)
    a, b = tl.exp(peak - top), tl.exp(peak2 - top)
    low = low * a[:, None] + low2 * b[:, None]
    high = high * a[:, None] + high2 * b[:, None]
    return top, total * a + total2 * b, low, high


@triton.jit
def _gathered(sums, parts, g, d, dim, GROUPS: tl.constexpr, LINE: tl.constexpr,
              ROWS: tl.constexpr, HALF: tl.constexpr):  # fmt: skip
    """All parts' sums as one, read past the L1: other multiprocessors wrote them."""
    peak = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    low = tl.zeros((ROWS, HALF), tl.float32)
    high = tl.zeros((ROWS, HALF), tl.float32)
    for part in range(0, parts):
        its = sums + part * GROUPS * LINE
        peak2 = tl.load(its + dim, mask=g < GROUPS, other=0.0, cache_modifier=".cg")
        total2 = tl.load(its + dim + 1, mask=g < GROUPS, other=1.0, cache_modifier=".cg")
        its = its[:, None] + d[None, :]
        low2 = tl.load(its, mask=(g < GROUPS)[:, None], other=0.0, cache_modifier=".cg")
        high2 = tl.load(its + HALF, mask=(g < GROUPS)[:, None], other=0.0, cache_modifier=".cg")
        peak, total, low, high = _merged(peak, total, low, high, peak2, total2, low2, high2)
    return peak, total, low, high


@triton.jit
def _part_sum(part, at, place, keys, values, ql, qh, newest, vl, vh, scaling, d,
              HALF: tl.constexpr, BLOCK_T: tl.constexpr, SPLITS: tl.constexpr,
              ROWS: tl.constexpr):  # fmt: skip
    """The softmax sum of a part's blocks. The new position (`newest` its score, `vl` and `vh` its
    value) opens the first part's; the cached ones follow."""
    dim: tl.constexpr = 2 * HALF
    t, opens = tl.arange(0, BLOCK_T), part == 0
    peak = tl.where(opens, newest, float("-inf"))
    total = tl.zeros((ROWS,), tl.float32) + tl.where(opens, 1.0, 0.0)
    low = tl.zeros((ROWS, HALF), tl.float32) + tl.where(opens, vl.to(tl.float32), 0.0)
    high = tl.zeros((ROWS, HALF), tl.float32) + tl.where(opens, vh.to(tl.float32), 0.0)
    for start in range(part * BLOCK_T, at, SPLITS * BLOCK_T):
        past = place + (start + t)[:, None] * dim + d[None, :]
        known = start + t < at
        k1 = tl.load(keys + past, mask=known[:, None], other=0.0)
        k2 = tl.load(keys + past + HALF, mask=known[:, None], other=0.0)
        v1 = tl.load(values + past, mask=known[:, None], other=0.0)
        v2 = tl.load(values + past + HALF, mask=known[:, None], other=0.0)
        score = tl.dot(ql, tl.trans(k1), input_precision="ieee")
        score = tl.dot(qh, tl.trans(k2), score, input_precision="ieee") * scaling
        score = tl.where(known[None, :], score, float("-inf"))
        higher = tl.maximum(peak, tl.max(score, 1))
        fade, mass = tl.exp(peak - higher), tl.exp(score - higher[:, None])
        total = total * fade + tl.sum(mass, 1)
        weight = mass.to(ql.dtype)
        low = tl.dot(weight, v1, low * fade[:, None], input_precision="ieee")
        high = tl.dot(weight, v2, high * fade[:, None], input_precision="ieee")
        peak = higher
    return peak, total, low, high


@triton.jit
def _joined(sums, waiting, own, parts, peak, total, low, high, g, d, GROUPS: tl.constexpr,
            MARKS: tl.constexpr, ROWS: tl.constexpr, HALF: tl.constexpr):  # fmt: skip
    """The program's part of a sum left for the others: how many parts had ended before, and all of
    them as one where this was the last. `sums` and `waiting`: of the row's key head."""
    dim: tl.constexpr = 2 * HALF
    line: tl.constexpr = dim + MARKS
    theirs, ended = sums + g * line, parts - 1
    if parts > 1:
        mine, inside = theirs + own * GROUPS * line, g < GROUPS
        tl.store(mine[:, None] + d[None, :], low, mask=inside[:, None])
        tl.store(mine[:, None] + HALF + d[None, :], high, mask=inside[:, None])
        tl.store(mine + dim, peak, mask=inside)
        tl.store(mine + dim + 1, total, mask=inside)
        tl.debug_barrier()  # all threads' sums are written before one tells so
        ended = tl.atomic_add(waiting, 1, sem="acq_rel")
        if ended == parts - 1:
            tl.store(waiting, 0)
            peak, total, low, high = _gathered(theirs, parts, g, d, dim, GROUPS, line, ROWS, HALF)
    return ended, peak, total, low, high


@triton.jit
def _slots_kernel(qkv, q_gain, k_gain, cos, sin, keys, values, slots, positions, sums, waiting,
                  out, eps, length, scaling, GROUPS: tl.constexpr, KV: tl.constexpr,
                  HALF: tl.constexpr, BLOCK_T: tl.constexpr, SPLITS: tl.constexpr,
                  PARTED: tl.constexpr, MARKS: tl.constexpr, QUERIES: tl.constexpr,
                  EARLY: tl.constexpr):  # fmt: skip
    row, head, own = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    dim: tl.constexpr = 2 * HALF
    dtype: tl.constexpr = out.dtype.element_ty
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
    # A slot's number and position were written by an earlier graph: nothing to wait for.
    slot = tl.load(slots + row)
    at = tl.load(positions + slot)
    parts = tl.maximum(tl.minimum((at + BLOCK_T - 1) // BLOCK_T, SPLITS), 1).to(tl.int32)
    if own >= parts:
        return
    g, d = tl.arange(0, QUERIES), tl.arange(0, HALF)
    inside = (g < GROUPS)[:, None]
    c = tl.load(cos + at * HALF + d)[None, :]
    s = tl.load(sin + at * HALF + d)[None, :]
    place = ((slot * KV + head) * length) * dim
    if EARLY:
        tl.extra.cuda.gdc_wait()
    base = qkv + row * (GROUPS + 2) * KV * dim
    q = base + (head * GROUPS + g)[:, None] * dim + d[None, :]
    ql, qh = turned(tl.load(q, mask=inside, other=0.0).to(tl.float32),
                    tl.load(q + HALF, mask=inside, other=0.0).to(tl.float32),
                    q_gain, c, s, eps, d, HALF, dtype)  # fmt: skip
    ql, qh = ql.to(dtype), qh.to(dtype)
    kl, kh, vl, vh = new_key_value(base, head, k_gain, c, s, eps, d, 1.0, GROUPS, KV, HALF,
                                   dtype)  # fmt: skip
    if own == 0:
        keep(keys, values, place + at * dim + d[None, :], kl, kh, vl, vh, HALF)
    newest = tl.sum(ql.to(tl.float32) * kl.to(tl.float32), 1)
    newest = (newest + tl.sum(qh.to(tl.float32) * kh.to(tl.float32), 1)) * scaling
    peak = tl.full((QUERIES,), float("-inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    low = tl.zeros((QUERIES, HALF), tl.float32)
    high = tl.zeros((QUERIES, HALF), tl.float32)
    for part in range(own, parts, SPLITS if PARTED else 1):
        peak2, total2, low2, high2 = _part_sum(part, at, place, keys, values, ql, qh, newest, vl,
                                               vh, scaling, d, HALF, BLOCK_T, SPLITS,
                                               QUERIES)  # fmt: skip
        peak, total, low, high = _merged(peak, total, low, high, peak2, total2, low2, high2)
    if PARTED:
        pair = row * KV + head
        ended, peak, total, low, high = _joined(sums + pair * SPLITS * GROUPS * (dim + MARKS),
                                                waiting + pair, own, parts, peak, total, low, high,
                                                g, d, GROUPS, MARKS, QUERIES, HALF)  # fmt: skip
        inside = inside & (ended == parts - 1)
    o = out + (row * KV * GROUPS + head * GROUPS + g)[:, None] * dim + d[None, :]
    tl.store(o, (low / total[:, None]).to(dtype), mask=inside)
    tl.store(o + HALF, (high / total[:, None]).to(dtype), mask=inside)


def attend_slots(
    qkv: Tensor,
    stack: StackWeights,
    layer: int,
    arena: Arena,
    rows: Tensor,
    early: bool = False,
    block: int = BLOCK,
    warps: int = 4,
) -> Tensor:
    """As `plain.attend_slots`."""
    weights, groups = stack.layers[layer], stack.heads // stack.kv_heads
    dim, parted = stack.head_dim, len(qkv) <= SPLIT_ROWS
    assert not parted or len(qkv) * stack.kv_heads <= SIZE, "each sum has its counter"
    out = qkv.new_empty(len(qkv), stack.heads * dim)
    shape = len(qkv), stack.kv_heads, SPLITS, groups, dim + MARKS
    sums = torch.empty(shape if parted else 1, dtype=torch.float32, device=qkv.device)
    keys = arena.keys[layer]
    _slots_kernel[(len(qkv), stack.kv_heads, SPLITS if parted else 1)](
        qkv, weights.q_gain, weights.k_gain, stack.cos, stack.sin, keys, arena.values[layer],
        rows, arena.position, sums, counters(qkv.device), out, stack.eps, keys.shape[2],
        dim**-0.5, GROUPS=groups, KV=stack.kv_heads, HALF=dim // 2, BLOCK_T=block, SPLITS=SPLITS,
        PARTED=parted, MARKS=MARKS, QUERIES=QUERIES, EARLY=early,
        num_warps=warps, num_stages=1,
        **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return out
