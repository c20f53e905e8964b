"""The codec's attention over a sliding window, its keys and values in a ring in each slot."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

RING = 128  # positions: the window and two chunks of the most frames, to a power of two


@triton.jit
def _window_kernel(qkv, cos_rate, keys, values, slots, positions, out, T, WINDOW, scaling,
                   HEADS: tl.constexpr, HALF: tl.constexpr, RING: tl.constexpr,
                   BLOCK_T: tl.constexpr, EXACT: tl.constexpr):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    dim: tl.constexpr = 2 * HALF
    width: tl.constexpr = HEADS * dim
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    slot = tl.load(slots + row)
    first = tl.load(positions + slot)
    t, d, r = tl.arange(0, BLOCK_T), tl.arange(0, HALF), tl.arange(0, RING)
    known = (t < T)[:, None]
    at = first + t
    angle = at.to(tl.float32)[:, None] * tl.load(cos_rate + d)[None, :]
    c, s = tl.cos(angle), tl.sin(angle)
    base = qkv + (row * T + t)[:, None] * 3 * width + head * dim + d[None, :]
    ql, qh = tl.load(base, mask=known, other=0.0), tl.load(base + HALF, mask=known, other=0.0)
    kl = tl.load(base + width, mask=known, other=0.0)
    kh = tl.load(base + width + HALF, mask=known, other=0.0)
    vl = tl.load(base + 2 * width, mask=known, other=0.0)
    vh = tl.load(base + 2 * width + HALF, mask=known, other=0.0)
    kind = ql.dtype
    ql, qh, kl, kh = ql.to(tl.float32), qh.to(tl.float32), kl.to(tl.float32), kh.to(tl.float32)
    ql, qh = (ql * c - qh * s).to(kind), (qh * c + ql * s).to(kind)
    kl, kh = (kl * c - kh * s).to(kind), (kh * c + kl * s).to(kind)
    place = (slot * HEADS + head) * RING * dim
    here = place + (at % RING)[:, None] * dim + d[None, :]
    tl.store(keys + here, kl, mask=known)
    tl.store(keys + here + HALF, kh, mask=known)
    tl.store(values + here, vl, mask=known)
    tl.store(values + here + HALF, vh, mask=known)
    tl.debug_barrier()  # written by other threads of this program, read below
    # The newest position that lies at each place of the ring, and how far back it is.
    newest = first + T - 1
    held = newest - (newest - r + RING) % RING
    past = place + r[:, None] * dim + d[None, :]
    there = (held >= 0)[:, None]
    k1 = tl.load(keys + past, mask=there, other=0.0)
    k2 = tl.load(keys + past + HALF, mask=there, other=0.0)
    score = tl.dot(ql, tl.trans(k1), input_precision=precision)
    score = tl.dot(qh, tl.trans(k2), score, input_precision=precision) * scaling
    distance = at[:, None] - held[None, :]
    seen = (distance >= 0) & (distance < WINDOW) & (held >= 0)[None, :]
    score = tl.where(seen, score, float("-inf"))
    mass = tl.exp(score - tl.max(score, 1)[:, None])
    mass = (mass / tl.sum(mass, 1)[:, None]).to(kind)
    v1 = tl.load(values + past, mask=there, other=0.0)
    v2 = tl.load(values + past + HALF, mask=there, other=0.0)
    o = out + (row * T + t)[:, None] * width + head * dim + d[None, :]
    low = tl.dot(mass, v1, input_precision=precision)
    high = tl.dot(mass, v2, input_precision=precision)
    tl.store(o, low.to(kind), mask=known)
    tl.store(o + HALF, high.to(kind), mask=known)


def attend_window(
    qkv: Tensor,
    rates: Tensor,
    keys: Tensor,
    values: Tensor,
    slots: Tensor,
    positions: Tensor,
    frames: int,
    window: int,
    exact: bool = False,
) -> Tensor:
    """qkv [B * frames, 3 heads D] of the frames from each slot's position on; keys and values
    [slots, heads, RING, D]; `rates` [D/2] the angle of one position. Context [B * frames, heads D].
    """
    heads, ring, dim = keys.shape[1:]
    out = qkv.new_empty(len(qkv), heads * dim)
    _window_kernel[(len(slots), heads)](
        qkv, rates, keys, values, slots, positions, out, frames, window, dim**-0.5,
        HEADS=heads, HALF=dim // 2, RING=ring, BLOCK_T=max(16, triton.next_power_of_2(frames)),
        EXACT=exact, num_warps=4,
    )  # fmt: skip
    return out
