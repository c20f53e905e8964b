"""Attention of a whole prompt, which begins its slot, with q/k norm, rotary turn and cache write.

A program has a block of positions of one key head. It turns the keys of all positions up to its own
by itself, so that no program waits for another: one launch a layer.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.fused.attention import turned
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import StackWeights

BLOCK = 16  # positions a program answers for; prompts are padded to a multiple of them
KEYS = 64  # positions whose keys are looked at together


@triton.jit
def _prompt_kernel(qkv, q_gain, k_gain, cos, sin, keys, values, slots, out, eps, length, scaling,
                   GROUPS: tl.constexpr, KV: tl.constexpr, HALF: tl.constexpr,
                   BLOCK: tl.constexpr, KEYS: tl.constexpr):  # fmt: skip
    first, head = tl.program_id(0) * BLOCK, tl.program_id(1)
    dim: tl.constexpr = 2 * HALF
    width: tl.constexpr = (GROUPS + 2) * KV * dim
    dtype: tl.constexpr = out.dtype.element_ty
    r, d, t = tl.arange(0, GROUPS * BLOCK), tl.arange(0, HALF), tl.arange(0, KEYS)
    at, query = first + r // GROUPS, head * GROUPS + r % GROUPS
    q = qkv + (at * width + query * dim)[:, None] + d[None, :]
    angle = at[:, None] * HALF + d[None, :]
    ql, qh = turned(tl.load(q).to(tl.float32), tl.load(q + HALF).to(tl.float32), q_gain,
                    tl.load(cos + angle), tl.load(sin + angle), eps, d, HALF, dtype)  # fmt: skip
    ql, qh = ql.to(dtype), qh.to(dtype)
    place = (tl.load(slots) * KV + head) * length * dim
    peak = tl.full((GROUPS * BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((GROUPS * BLOCK,), tl.float32)
    low = tl.zeros((GROUPS * BLOCK, HALF), tl.float32)
    high = tl.zeros((GROUPS * BLOCK, HALF), tl.float32)
    for start in range(0, first + BLOCK, KEYS):
        there = start + t
        inside = (there < first + BLOCK)[:, None]
        k = qkv + (there * width + (GROUPS * KV + head) * dim)[:, None] + d[None, :]
        turn = there[:, None] * HALF + d[None, :]
        kl, kh = turned(tl.load(k, mask=inside, other=0.0).to(tl.float32),
                        tl.load(k + HALF, mask=inside, other=0.0).to(tl.float32), k_gain,
                        tl.load(cos + turn, mask=inside, other=0.0),
                        tl.load(sin + turn, mask=inside, other=0.0),
                        eps, d, HALF, dtype)  # fmt: skip
        kl, kh = kl.to(dtype), kh.to(dtype)
        vl = tl.load(k + KV * dim, mask=inside, other=0.0)
        vh = tl.load(k + KV * dim + HALF, mask=inside, other=0.0)
        own = inside & (there >= first)[:, None]
        here = place + there[:, None] * dim + d[None, :]
        tl.store(keys + here, kl, mask=own)
        tl.store(keys + here + HALF, kh, mask=own)
        tl.store(values + here, vl, mask=own)
        tl.store(values + here + HALF, vh, mask=own)
        score = tl.dot(ql, tl.trans(kl), input_precision="ieee")
        score = tl.dot(qh, tl.trans(kh), score, input_precision="ieee") * scaling
        score = tl.where(there[None, :] <= at[:, None], score, float("-inf"))
        higher = tl.maximum(peak, tl.max(score, 1))
        fade, mass = tl.exp(peak - higher), tl.exp(score - higher[:, None])
        total = total * fade + tl.sum(mass, 1)
        weight = mass.to(dtype)
        low = tl.dot(weight, vl, low * fade[:, None], input_precision="ieee")
        high = tl.dot(weight, vh, high * fade[:, None], input_precision="ieee")
        peak = higher
    o = out + (at * KV * GROUPS + query)[:, None] * dim + d[None, :]
    tl.store(o, (low / total[:, None]).to(dtype))
    tl.store(o + HALF, (high / total[:, None]).to(dtype))


def attend_prompt(
    qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, slot: Tensor, early: bool = False
) -> Tensor:
    """As `plain.attend_prompt`; a multiple of 16 positions. `early`: it never starts early."""
    weights, groups = stack.layers[layer], stack.heads // stack.kv_heads
    assert len(qkv) % BLOCK == 0, "a prompt is padded to whole blocks"
    out = qkv.new_empty(len(qkv), stack.heads * stack.head_dim)
    keys = arena.keys[layer]
    _prompt_kernel[(len(qkv) // BLOCK, stack.kv_heads)](
        qkv, weights.q_gain, weights.k_gain, stack.cos, stack.sin, keys, arena.values[layer], slot,
        out, stack.eps, keys.shape[2], stack.head_dim**-0.5,
        GROUPS=groups, KV=stack.kv_heads, HALF=stack.head_dim // 2, BLOCK=BLOCK, KEYS=KEYS,
        num_warps=4, num_stages=1,
    )  # fmt: skip
    return out
