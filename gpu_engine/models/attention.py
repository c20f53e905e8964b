"""Layers never remember keys and values: they hand every q, k and v to an `attend`."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F


class Attend(Protocol):
    """Turns one layer's queries, keys and values into its context.

    `q` is [B, L, heads, D], `k` and `v` are [B, L, kv_heads, D], all after q/k norm and RoPE; the
    context returned is [B, L, heads, D]. Called once per layer, in layer order. An implementation
    that keeps keys and values for later calls owns them and is valid for one sequence batch.
    """

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor: ...


class CausalAttend:
    """Whole sequences at once, nothing kept: prefill without a cache, and training.

    `lengths` [B] counts each row's real positions when rows are padded on the left.
    """

    def __init__(self, lengths: Tensor | None = None) -> None:
        self.lengths = lengths
        self._mask: Tensor | None = None

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self.lengths is None:
            return attention(q, k, v, causal=True)
        if self._mask is None:
            self._mask = causal_mask(q.shape[1], k.shape[1], self.lengths)
        return attention(q, k, v, mask=self._mask)


class GrowingAttend:
    """Keeps all keys and values and appends to them: the plain decoding loop, and prefill.

    `lengths` [B] counts each row's real prompt positions when prompts are padded on the left.
    """

    def __init__(self, lengths: Tensor | None = None) -> None:
        self._padding = lengths
        self._prompt = 0
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if layer in self._kept:
            old_k, old_v = self._kept[layer]
            k, v = torch.cat([old_k, k], 1), torch.cat([old_v, v], 1)
        else:
            self._prompt = k.shape[1]
        self._kept[layer] = k, v
        if self._padding is None:
            return attention(q, k, v, causal=q.shape[1] > 1)
        real = self._padding + (k.shape[1] - self._prompt)
        return attention(q, k, v, mask=causal_mask(q.shape[1], k.shape[1], real))


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, mask: Tensor | None = None
) -> Tensor:
    """Scaled dot-product attention over [B, L, heads, D] with grouped kv heads."""
    context = F.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=mask,
        is_causal=causal,
        enable_gqa=q.shape[2] != k.shape[2],
    )
    return context.transpose(1, 2)


def causal_mask(queries: int, keys: int, lengths: Tensor) -> Tensor:
    """[B, 1, queries, keys], true where a query may look; the queries are the last positions.

    A padded query sees itself alone: a row without any key would be all NaN.
    """
    at = torch.arange(keys, device=lengths.device)
    query = at[keys - queries :, None]
    real = at >= keys - lengths[:, None]
    allowed = (at <= query) & real[:, None, :]
    return (allowed | (at == query))[:, None]


def left_padded_positions(lengths: Tensor, width: int) -> Tensor:
    """[B, width]: 0, 1, 2 ... over each row's real positions, 0 on the padding before them."""
    at = torch.arange(width, device=lengths.device)
    return (at - (width - lengths[:, None])).clamp(min=0)
