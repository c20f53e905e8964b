"""A frame's attention over at most sixteen positions, one program a row and key head: q/k norm,
rotary turn and cache write included.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.fused.rows import root_of
from gpu_engine.kernels.weights import StackWeights


@triton.jit
def turned(low, high, gain, cos, sin, eps, d, HALF: tl.constexpr, DTYPE: tl.constexpr):
    """Both halves [heads, HALF] of a head, normalised and rotated, rounded as the model rounds."""
    size = tl.sum(low * low, 1) + tl.sum(high * high, 1)
    root = tl.rsqrt(size / (2 * HALF) + eps)[:, None]
    low = (low * root).to(DTYPE).to(tl.float32) * tl.load(gain + d).to(tl.float32)[None, :]
    high = (high * root).to(DTYPE).to(tl.float32) * tl.load(gain + HALF + d).to(tl.float32)[None, :]
    low, high = low.to(DTYPE).to(tl.float32), high.to(DTYPE).to(tl.float32)
    return low * cos - high * sin, high * cos + low * sin


@triton.jit
def scaled(part, scale, DTYPE: tl.constexpr):
    """Sums of an input that was not normalised, rounded as those of one that was."""
    return (tl.load(part).to(tl.float32) * scale).to(DTYPE)


@triton.jit
def new_key_value(base, head, gain, cos, sin, eps, d, scale, GROUPS: tl.constexpr,
                  KV: tl.constexpr, HALF: tl.constexpr, DTYPE: tl.constexpr):  # fmt: skip
    """A new position's key, turned, and its value, both in halves [1, HALF]. `base`: its row of
    queries, keys and values; `scale`: what they are to be multiplied by."""
    k = base + (GROUPS * KV + head) * 2 * HALF + d[None, :]
    low, high = scaled(k, scale, DTYPE), scaled(k + HALF, scale, DTYPE)
    low, high = turned(low.to(tl.float32), high.to(tl.float32), gain, cos, sin, eps, d, HALF, DTYPE)
    v = k + KV * 2 * HALF
    return low.to(DTYPE), high.to(DTYPE), scaled(v, scale, DTYPE), scaled(v + HALF, scale, DTYPE)


@triton.jit
def keep(keys, values, here, kl, kh, vl, vh, HALF: tl.constexpr):
    """A position's key and value into the cache; `here` [1, HALF] is the place of their first
    halves."""
    tl.store(keys + here, kl)
    tl.store(keys + here + HALF, kh)
    tl.store(values + here, vl)
    tl.store(values + here + HALF, vh)


@triton.jit
def _frame_kernel(qkv, q_gain, k_gain, cos, sin, keys, values, hidden, out, eps, scaling, start, K,
                  COUNT: tl.constexpr, LENGTH: tl.constexpr, GROUPS: tl.constexpr,
                  KV: tl.constexpr, HALF: tl.constexpr, RAW: tl.constexpr,
                  BLOCK_K: tl.constexpr, EARLY: tl.constexpr):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    dim: tl.constexpr = 2 * HALF
    dtype: tl.constexpr = out.dtype.element_ty
    g, d, t = tl.arange(0, GROUPS), tl.arange(0, HALF), tl.arange(0, LENGTH)
    place = (row * LENGTH * KV + head) * dim
    past = place + t[:, None] * KV * dim + d[None, :]
    # What earlier passes left; the new positions' own keys and values stay in registers.
    known = (t < start)[:, None]
    k1 = tl.load(keys + past, mask=known, other=0.0).to(tl.float32)
    k2 = tl.load(keys + past + HALF, mask=known, other=0.0).to(tl.float32)
    v1 = tl.load(values + past, mask=known, other=0.0).to(tl.float32)
    v2 = tl.load(values + past + HALF, mask=known, other=0.0).to(tl.float32)
    for new in tl.static_range(COUNT):
        at = start + new
        c, s = tl.load(cos + at * HALF + d)[None, :], tl.load(sin + at * HALF + d)[None, :]
        base = qkv + (row * COUNT + new) * (GROUPS + 2) * KV * dim
        scale = 1.0
        if RAW:
            scale = root_of(hidden + (row * COUNT + new) * K, K, eps, BLOCK_K)
        q = base + (head * GROUPS + g)[:, None] * dim + d[None, :]
        ql, qh = scaled(q, scale, dtype), scaled(q + HALF, scale, dtype)
        ql, qh = turned(ql.to(tl.float32), qh.to(tl.float32), q_gain, c, s, eps, d, HALF, dtype)
        kl, kh, vl, vh = new_key_value(base, head, k_gain, c, s, eps, d, scale, GROUPS, KV, HALF,
                                       dtype)  # fmt: skip
        keep(keys, values, place + at * KV * dim + d[None, :], kl, kh, vl, vh, HALF)
        mine = (t == at)[:, None]
        k1, k2 = tl.where(mine, kl.to(tl.float32), k1), tl.where(mine, kh.to(tl.float32), k2)
        v1, v2 = tl.where(mine, vl.to(tl.float32), v1), tl.where(mine, vh.to(tl.float32), v2)
        ql, qh = ql.to(dtype).to(tl.float32), qh.to(dtype).to(tl.float32)
        score = tl.sum(ql[:, None, :] * k1[None], 2) + tl.sum(qh[:, None, :] * k2[None], 2)
        score = tl.where((t <= at)[None, :], score * scaling, float("-inf"))
        mass = tl.exp(score - tl.max(score, 1)[:, None])
        mass = mass / tl.sum(mass, 1)[:, None]
        o = out + ((row * COUNT + new) * KV * GROUPS + head * GROUPS + g)[:, None] * dim
        tl.store(o + d[None, :], tl.sum(mass[:, :, None] * v1[None], 1).to(dtype))
        tl.store(o + HALF + d[None, :], tl.sum(mass[:, :, None] * v2[None], 1).to(dtype))


def attend_frame(
    qkv: Tensor,
    stack: StackWeights,
    layer: int,
    cache: Tensor,
    start: int,
    count: int,
    early: bool = False,
    hidden: Tensor | None = None,
) -> Tensor:
    """As `plain.attend_frame`. `hidden` [B * count, H]: the product's input where that was not
    normalised (its gain is in the weights then)."""
    weights, rows = stack.layers[layer], len(qkv) // count
    out = qkv.new_empty(len(qkv), stack.heads * stack.head_dim)
    width = 1 if hidden is None else hidden.shape[1]
    _frame_kernel[(rows, stack.kv_heads)](
        qkv, weights.q_gain, weights.k_gain, stack.cos, stack.sin, cache[layer, 0],
        cache[layer, 1], out if hidden is None else hidden, out, stack.eps, stack.head_dim**-0.5,
        start, width, RAW=hidden is not None, BLOCK_K=triton.next_power_of_2(width),
        COUNT=count, LENGTH=cache.shape[3], GROUPS=stack.heads // stack.kv_heads,
        KV=stack.kv_heads, HALF=stack.head_dim // 2, EARLY=early,
        num_warps=2, **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return out
