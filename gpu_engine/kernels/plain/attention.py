"""Attention of new positions over short contexts, with q/k norm, rotary turn and cache write."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import StackWeights, rms


def turned(qkv: Tensor, stack: StackWeights, layer: int, at: Tensor) -> tuple[Tensor, ...]:
    """q [B, heads, D], k and v [B, kv, D] of rows qkv [B, (heads + 2 kv) D] at positions [B]:
    normalised and rotated. Sums in float32, results in the model's dtype."""
    weights = stack.layers[layer]
    sizes = [stack.heads, stack.kv_heads, stack.kv_heads]
    q, k, v = torch.split(qkv.view(len(qkv), -1, stack.head_dim), sizes, 1)
    cos, sin = stack.cos[at][:, None], stack.sin[at][:, None]

    def turn(x: Tensor, gain: Tensor) -> Tensor:
        low, high = rms(x, gain, stack.eps).float().chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1).to(x.dtype)

    return turn(q, weights.q_gain), turn(k, weights.k_gain), v


def attend_slots(
    qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, rows: Tensor
) -> Tensor:
    """One new position a row: writes its key and value into the row's slot and attends to all of
    the slot. qkv [B, (heads + 2 kv) D], rows int64 [B] are slots; context [B, heads D]."""
    at = arena.position[rows]
    q, k, v = turned(qkv, stack, layer, at)
    keys, values = arena.keys[layer], arena.values[layer]
    keys[rows, :, at], values[rows, :, at] = k, v
    groups = stack.heads // stack.kv_heads
    q = q.view(len(q), stack.kv_heads, groups, stack.head_dim)
    seen = torch.arange(int(at.max()) + 1, device=at.device) <= at[:, None]
    length = seen.shape[1]
    context = F.scaled_dot_product_attention(
        q, keys[rows, :, :length], values[rows, :, :length], attn_mask=seen[:, None, None]
    )
    return context.flatten(1)


def attend_prompt(
    qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, slot: Tensor
) -> Tensor:
    """Positions 0 .. L - 1 of one slot (int64 [1]), qkv [L, (heads + 2 kv) D]: writes their keys
    and values, each attends to those up to itself. Context [L, heads D]."""
    length = len(qkv)
    at = torch.arange(length, device=qkv.device)
    q, k, v = (part.transpose(0, 1)[None] for part in turned(qkv, stack, layer, at))
    for cache, new in ((arena.keys, k), (arena.values, v)):
        cache[layer, :, :, :length].index_copy_(0, slot, new)
    context = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return context[0].transpose(0, 1).reshape(length, -1)


def attend_frame(
    qkv: Tensor, stack: StackWeights, layer: int, cache: Tensor, start: int, count: int
) -> Tensor:
    """Positions start .. start + count - 1 of every row of a frame, qkv [B * count, ...]; cache
    [layers, 2, B, positions, kv, D] is written and read. Context [B * count, heads D]."""
    rows = len(qkv) // count
    at = torch.arange(start, start + count, device=qkv.device).repeat(rows)
    q, k, v = turned(qkv, stack, layer, at)
    keys, values = cache[layer, 0, :rows], cache[layer, 1, :rows]
    shape = rows, count, stack.kv_heads, stack.head_dim
    keys[:, start : start + count], values[:, start : start + count] = k.view(shape), v.view(shape)
    reach = torch.arange(start + count, device=qkv.device)
    mask = reach <= torch.arange(start, start + count, device=qkv.device)[:, None]
    context = F.scaled_dot_product_attention(
        q.view(rows, count, stack.heads, stack.head_dim).transpose(1, 2),
        keys[:, : start + count].transpose(1, 2),
        values[:, : start + count].transpose(1, 2),
        attn_mask=mask,
        enable_gqa=True,
    )
    return context.transpose(1, 2).reshape(len(qkv), -1)
