"""Products that come out the same to the last bit in any company, and convolutions made of them.

A matrix library picks its kernel, and with it the order of its sums, by the shape of the product.
With rows padded to a multiple of ROWS, on one thread, each row is summed in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.codec.state import CodecState

if TYPE_CHECKING:
    from gpu_engine.models.codec.decoder import CausalConv, CausalUpsample

# Seen on AVX-512: 8 rows are too few for equal sums, 16 always enough.
ROWS = 16


class Memory:
    """Hands each layer its tensor of a CodecState in order and keeps what it leaves."""

    def __init__(self, state: CodecState) -> None:
        self._old: Iterator[Tensor] = iter(state.memory)
        self._new: list[Tensor] = []
        self.position = state.position

    def extend(self, x: Tensor, columns: int) -> Tensor:
        """x [B, n, C] behind the layer's last `columns` inputs."""
        if columns == 0:
            return x
        x = torch.cat([next(self._old).transpose(1, 2), x], 1)
        self._new.append(x[:, -columns:].transpose(1, 2).contiguous())
        return x

    def extend_heads(self, x: Tensor, keep: int) -> Tensor:
        """x [B, heads, n, D] behind the last `keep` positions."""
        x = torch.cat([next(self._old), x], 2)
        self._new.append(x[:, :, -keep:].contiguous())
        return x

    def close(self, frames: int) -> CodecState:
        return CodecState(self.position + frames, tuple(self._new))


@dataclass(frozen=True, slots=True)
class Product:
    """x [..., K] times `weight` [K, N], rows padded so that each is summed in the same order."""

    weight: Tensor
    bias: Tensor | None = None

    @classmethod
    def of(cls, module: nn.Linear) -> Product:
        return cls(module.weight.t().contiguous(), module.bias)

    def __call__(self, x: Tensor) -> Tensor:
        return of_whole_rows(x, self.rows)

    def rows(self, x: Tensor) -> Tensor:
        """As it is, for [rows, K] already padded."""
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


def of_whole_rows(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function` of x [..., K] laid out as a multiple of ROWS rows, padding cut off again.

    Elementwise functions belong inside: the last few elements of a tensor that is no multiple of
    the vector width take a scalar road, which rounds otherwise.
    """
    rows = x.reshape(-1, x.shape[-1])
    missing = -len(rows) % ROWS
    if missing:
        rows = F.pad(rows, (0, 0, 0, missing))
    return function(rows)[: len(rows) - missing].view(*x.shape[:-1], -1)


@dataclass(frozen=True, slots=True)
class Conv:
    """Causal convolution as a product over `kernel` columns, `dilation` apart."""

    product: Product
    """Of [kernel * inputs, outputs]."""
    kernel: int
    dilation: int

    @classmethod
    def of(cls, module: CausalConv) -> Conv:
        weight, (dilation,) = module.conv.weight, module.conv.dilation
        flat = weight.permute(2, 1, 0).flatten(0, 1).contiguous()
        return cls(Product(flat, module.conv.bias), weight.shape[-1], dilation)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        columns = (self.kernel - 1) * self.dilation
        x = memory.extend(x, columns).contiguous()
        windows = _windows(x, x.shape[1] - columns, self.kernel, self.dilation)
        return self.product(windows)


def _windows(x: Tensor, count: int, kernel: int, dilation: int) -> Tensor:
    """Columns t, t + dilation ... of contiguous x [B, n, C] for each t: [B, count, kernel * C]."""
    rows, length, channels = x.shape
    shape = rows, count, kernel, channels
    stride = length * channels, channels, dilation * channels, 1
    return x.as_strided(shape, stride, x.storage_offset()).flatten(2)


@dataclass(frozen=True, slots=True)
class Upsample:
    """Causal transposed convolution: each input column and the one before make `rate` columns."""

    product: Product
    """Of [(columns + 1) * inputs, rate * outputs]."""
    rate: int
    columns: int

    @classmethod
    def of(cls, module: CausalUpsample) -> Upsample:
        weight, rate, columns = module.conv.weight, module.stride, module.columns
        # [inputs, outputs, columns + 1, rate]: the newest column holds the first taps, yet is last.
        taps = weight.view(*weight.shape[:2], columns + 1, rate).flip(2)
        flat = taps.permute(2, 0, 3, 1).flatten(2).flatten(0, 1).contiguous()
        assert module.conv.bias is not None
        return cls(Product(flat, module.conv.bias.repeat(rate)), rate, columns)

    def __call__(self, x: Tensor, memory: Memory) -> Tensor:
        count = x.shape[1]
        x = memory.extend(x, self.columns).contiguous()
        y = self.product(_windows(x, count, self.columns + 1, 1))
        return y.view(len(x), count * self.rate, -1)
