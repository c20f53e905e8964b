"""Attention of new positions over short contexts: q/k norm, rotary turn and cache write included.

One program a row and key head. A Talker row walks over its slot; a predictor row has at most 16.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import StackWeights

BLOCK = 64


@triton.jit
def _turned(low, high, gain, cos, sin, eps, d, HALF: tl.constexpr, DTYPE: tl.constexpr):
    """Both halves [heads, HALF] of a head, normalised and rotated, rounded as the model rounds."""
    size = tl.sum(low * low, 1) + tl.sum(high * high, 1)
    root = tl.rsqrt(size / (2 * HALF) + eps)[:, None]
    low = (low * root).to(DTYPE).to(tl.float32) * tl.load(gain + d).to(tl.float32)[None, :]
    high = (high * root).to(DTYPE).to(tl.float32) * tl.load(gain + HALF + d).to(tl.float32)[None, :]
    low, high = low.to(DTYPE).to(tl.float32), high.to(DTYPE).to(tl.float32)
    return low * cos - high * sin, high * cos + low * sin


@triton.jit
def _slots_kernel(qkv, q_gain, k_gain, cos, sin, keys, values, slots, positions, out, eps,
                  length, scaling, GROUPS: tl.constexpr, KV: tl.constexpr, HALF: tl.constexpr,
                  BLOCK_T: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    dim: tl.constexpr = 2 * HALF
    dtype: tl.constexpr = out.dtype.element_ty
    slot = tl.load(slots + row)
    at = tl.load(positions + slot)
    g, d, one = tl.arange(0, GROUPS), tl.arange(0, HALF), tl.arange(0, 1)
    c = tl.load(cos + at * HALF + d)[None, :]
    s = tl.load(sin + at * HALF + d)[None, :]
    base = qkv + row * (GROUPS + 2) * KV * dim
    q = base + (head * GROUPS + g)[:, None] * dim + d[None, :]
    ql, qh = _turned(tl.load(q).to(tl.float32), tl.load(q + HALF).to(tl.float32),
                     q_gain, c, s, eps, d, HALF, dtype)  # fmt: skip
    k = base + (GROUPS * KV + head + one)[:, None] * dim + d[None, :]
    kl, kh = _turned(tl.load(k).to(tl.float32), tl.load(k + HALF).to(tl.float32),
                     k_gain, c, s, eps, d, HALF, dtype)  # fmt: skip
    ql, qh = ql.to(dtype).to(tl.float32), qh.to(dtype).to(tl.float32)
    kl, kh = kl.to(dtype), kh.to(dtype)
    v = base + ((GROUPS + 1) * KV + head + one)[:, None] * dim + d[None, :]
    vl, vh = tl.load(v), tl.load(v + HALF)
    place = ((slot * KV + head) * length) * dim
    here = place + at * dim + one[:, None] * dim + d[None, :]
    tl.store(keys + here, kl)
    tl.store(keys + here + HALF, kh)
    tl.store(values + here, vl)
    tl.store(values + here + HALF, vh)
    # The new position opens the running softmax; the cached ones follow.
    peak = (tl.sum(ql * kl.to(tl.float32), 1) + tl.sum(qh * kh.to(tl.float32), 1)) * scaling
    total = tl.full((GROUPS,), 1.0, tl.float32)
    low = tl.zeros((GROUPS, HALF), tl.float32) + vl.to(tl.float32)
    high = tl.zeros((GROUPS, HALF), tl.float32) + vh.to(tl.float32)
    t = tl.arange(0, BLOCK_T)
    for start in range(0, at, BLOCK_T):
        past = (start + t)[:, None] * dim + d[None, :]
        known = (start + t < at)[:, None]
        k1 = tl.load(keys + place + past, mask=known, other=0.0).to(tl.float32)
        k2 = tl.load(keys + place + past + HALF, mask=known, other=0.0).to(tl.float32)
        v1 = tl.load(values + place + past, mask=known, other=0.0).to(tl.float32)
        v2 = tl.load(values + place + past + HALF, mask=known, other=0.0).to(tl.float32)
        score = tl.sum(ql[:, None, :] * k1[None], 2) + tl.sum(qh[:, None, :] * k2[None], 2)
        score = tl.where((start + t < at)[None, :], score * scaling, float("-inf"))
        top = tl.maximum(peak, tl.max(score, 1))
        fade, mass = tl.exp(peak - top), tl.exp(score - top[:, None])
        total = total * fade + tl.sum(mass, 1)
        low = low * fade[:, None] + tl.sum(mass[:, :, None] * v1[None], 1)
        high = high * fade[:, None] + tl.sum(mass[:, :, None] * v2[None], 1)
        peak = top
    o = out + (row * KV * GROUPS + head * GROUPS + g)[:, None] * dim + d[None, :]
    tl.store(o, (low / total[:, None]).to(dtype))
    tl.store(o + HALF, (high / total[:, None]).to(dtype))


@triton.jit
def _frame_kernel(qkv, q_gain, k_gain, cos, sin, keys, values, out, eps, scaling, start,
                  COUNT: tl.constexpr, LENGTH: tl.constexpr, GROUPS: tl.constexpr,
                  KV: tl.constexpr, HALF: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    dim: tl.constexpr = 2 * HALF
    dtype: tl.constexpr = out.dtype.element_ty
    g, d, one = tl.arange(0, GROUPS), tl.arange(0, HALF), tl.arange(0, 1)
    place = (row * LENGTH * KV + head) * dim
    for new in tl.static_range(COUNT):
        at = start + new
        c, s = tl.load(cos + at * HALF + d)[None, :], tl.load(sin + at * HALF + d)[None, :]
        base = qkv + (row * COUNT + new) * (GROUPS + 2) * KV * dim
        k = base + (GROUPS * KV + head + one)[:, None] * dim + d[None, :]
        kl, kh = _turned(tl.load(k).to(tl.float32), tl.load(k + HALF).to(tl.float32),
                         k_gain, c, s, eps, d, HALF, dtype)  # fmt: skip
        v = base + ((GROUPS + 1) * KV + head + one)[:, None] * dim + d[None, :]
        here = place + at * KV * dim + one[:, None] * dim + d[None, :]
        tl.store(keys + here, kl.to(dtype))
        tl.store(keys + here + HALF, kh.to(dtype))
        tl.store(values + here, tl.load(v))
        tl.store(values + here + HALF, tl.load(v + HALF))
    tl.debug_barrier()  # what other threads of this program wrote is read below
    t = tl.arange(0, LENGTH)
    past = place + t[:, None] * KV * dim + d[None, :]
    for new in tl.static_range(COUNT):
        at = start + new
        known = (t <= at)[:, None]
        c, s = tl.load(cos + at * HALF + d)[None, :], tl.load(sin + at * HALF + d)[None, :]
        base = qkv + (row * COUNT + new) * (GROUPS + 2) * KV * dim
        q = base + (head * GROUPS + g)[:, None] * dim + d[None, :]
        ql, qh = _turned(tl.load(q).to(tl.float32), tl.load(q + HALF).to(tl.float32),
                         q_gain, c, s, eps, d, HALF, dtype)  # fmt: skip
        ql, qh = ql.to(dtype).to(tl.float32), qh.to(dtype).to(tl.float32)
        k1 = tl.load(keys + past, mask=known, other=0.0).to(tl.float32)
        k2 = tl.load(keys + past + HALF, mask=known, other=0.0).to(tl.float32)
        score = tl.sum(ql[:, None, :] * k1[None], 2) + tl.sum(qh[:, None, :] * k2[None], 2)
        score = tl.where((t <= at)[None, :], score * scaling, float("-inf"))
        mass = tl.exp(score - tl.max(score, 1)[:, None])
        mass = mass / tl.sum(mass, 1)[:, None]
        v1 = tl.load(values + past, mask=known, other=0.0).to(tl.float32)
        v2 = tl.load(values + past + HALF, mask=known, other=0.0).to(tl.float32)
        o = out + ((row * COUNT + new) * KV * GROUPS + head * GROUPS + g)[:, None] * dim
        tl.store(o + d[None, :], tl.sum(mass[:, :, None] * v1[None], 1).to(dtype))
        tl.store(o + HALF + d[None, :], tl.sum(mass[:, :, None] * v2[None], 1).to(dtype))


def attend_slots(
    qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, rows: Tensor, early: bool = False
) -> Tensor:
    """As `plain.attend_slots`."""
    weights, groups = stack.layers[layer], stack.heads // stack.kv_heads
    out = qkv.new_empty(len(qkv), stack.heads * stack.head_dim)
    keys = arena.keys[layer]
    _slots_kernel[(len(qkv), stack.kv_heads)](
        qkv, weights.q_gain, weights.k_gain, stack.cos, stack.sin, keys, arena.values[layer],
        rows, arena.position, out, stack.eps, keys.shape[2], stack.head_dim**-0.5,
        GROUPS=groups, KV=stack.kv_heads, HALF=stack.head_dim // 2, BLOCK_T=BLOCK, EARLY=early,
        num_warps=4, **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return out


def attend_frame(
    qkv: Tensor,
    stack: StackWeights,
    layer: int,
    cache: Tensor,
    start: int,
    count: int,
    early: bool = False,
) -> Tensor:
    """As `plain.attend_frame`."""
    weights, rows = stack.layers[layer], len(qkv) // count
    out = qkv.new_empty(len(qkv), stack.heads * stack.head_dim)
    _frame_kernel[(rows, stack.kv_heads)](
        qkv, weights.q_gain, weights.k_gain, stack.cos, stack.sin, cache[layer, 0],
        cache[layer, 1], out, stack.eps, stack.head_dim**-0.5, start,
        COUNT=count, LENGTH=cache.shape[3], GROUPS=stack.heads // stack.kv_heads,
        KV=stack.kv_heads, HALF=stack.head_dim // 2, EARLY=early,
        num_warps=2, **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return out
