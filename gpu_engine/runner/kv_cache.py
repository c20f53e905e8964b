"""The Talker's keys and values, one slot a stream, and the attends that read and write them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_engine.config import TalkerConfig
from gpu_engine.models.attention import attention, causal_mask


class KvCache:
    """`keys` and `values`: [layers, slots, kv_heads, length, D]. Memory is touched as it is used:
    on the CPU an empty slot costs addresses, not pages."""

    def __init__(self, config: TalkerConfig, slots: int, length: int, like: Tensor) -> None:
        shape = (
            config.num_hidden_layers,
            slots,
            config.num_key_value_heads,
            length,
            config.head_dim,
        )
        self.keys, self.values = like.new_empty(shape), like.new_empty(shape)


class PrefillAttend:
    """Positions `start` and on of one prompt, written into `slot` behind those before."""

    def __init__(self, cache: KvCache, slot: int, start: int = 0) -> None:
        self._keys, self._values = cache.keys[:, slot], cache.values[:, slot]
        self._start = start
        self._mask: Tensor | None = None

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        end = self._start + k.shape[1]
        self._keys[layer, :, self._start : end] = k[0].transpose(0, 1)
        self._values[layer, :, self._start : end] = v[0].transpose(0, 1)
        if not self._start:
            return attention(q, k, v, causal=True)
        if self._mask is None:
            self._mask = causal_mask(k.shape[1], end, torch.tensor([end], device=k.device))
        keys = self._keys[layer, :, :end].transpose(0, 1)[None]
        values = self._values[layer, :, :end].transpose(0, 1)[None]
        return attention(q, keys, values, mask=self._mask)


class StepAttend:
    """One new position for each of several slots, each at its own length.

    Rows are attended one by one over a view of their slot: no copy, no mask, and a row's result
    can't depend on its neighbours. Copying ragged rows into one batch measured 4 to 8 times slower
    on the CPU.
    """

    def __init__(self, cache: KvCache, slots: list[int], positions: list[int]) -> None:
        self._cache = cache
        self._rows = list(zip(slots, positions, strict=True))
        device = cache.keys.device
        self._slots = torch.tensor(slots, device=device)
        self._positions = torch.tensor(positions, device=device)

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        keys, values = self._cache.keys[layer], self._cache.values[layer]
        keys[self._slots, :, self._positions] = k[:, 0]
        values[self._slots, :, self._positions] = v[:, 0]
        # The queries that share a kv head stand where a sequence would: one product a kv head.
        grouped = q.view(len(self._rows), k.shape[2], -1, q.shape[3])
        context = [
            F.scaled_dot_product_attention(
                grouped[row : row + 1],
                keys[slot : slot + 1, :, : position + 1],
                values[slot : slot + 1, :, : position + 1],
            )
            for row, (slot, position) in enumerate(self._rows)
        ]
        return torch.cat(context).view(q.shape)
