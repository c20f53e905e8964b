"""Attention in training: several sequences packed into a row, or whole frames at once."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


class PackedAttend:
    """Causal attention within each of a row's sequences; keeps one layer's q and k for guidance."""

    def __init__(self, start: Tensor, dropout: float, kept: int = -1) -> None:
        at = torch.arange(start.shape[1], device=start.device)
        same = start[:, :, None] == start[:, None, :]
        self.mask = (same & (at[:, None] >= at[None, :]))[:, None]
        self.kept: tuple[Tensor, Tensor] | None = None
        self._dropout, self._layer = dropout, kept

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        groups = q.shape[2] // k.shape[2]
        k, v = k.repeat_interleave(groups, 2), v.repeat_interleave(groups, 2)
        if layer == self._layer:
            self.kept = q, k
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        return F.dropout(context.transpose(1, 2), self._dropout, self._dropout > 0)


class FrameCausal:
    """Whole frames of 16 positions at once."""

    def __init__(self, dropout: float) -> None:
        self._dropout = dropout

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        groups = q.shape[2] // k.shape[2]
        k, v = k.repeat_interleave(groups, 2), v.repeat_interleave(groups, 2)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.dropout(context.transpose(1, 2), self._dropout, self._dropout > 0)
