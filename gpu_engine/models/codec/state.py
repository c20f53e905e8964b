"""Streaming state of the codec decoder: what each causal layer must remember between pushes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class CodecState:
    """`position` int64 [rows]: frames seen. `memory`: tensors [rows, ...], one or two a stateful
    layer in call order. Rows are independent and may stand at different positions."""

    position: Tensor
    memory: tuple[Tensor, ...]

    def select(self, rows: Tensor) -> CodecState:
        """A copy of some rows (int64 [n])."""
        return CodecState(
            self.position.index_select(0, rows),
            tuple(tensor.index_select(0, rows) for tensor in self.memory),
        )

    def store(self, rows: Tensor, other: CodecState) -> None:
        """Writes the rows of `other` over the given rows of this state, in place."""
        self.position.index_copy_(0, rows, other.position)
        for mine, theirs in zip(self.memory, other.memory, strict=True):
            mine.index_copy_(0, rows, theirs)

    def reset(self, rows: Tensor) -> None:
        """Back to the start of a stream, in place."""
        for tensor in (self.position, *self.memory):
            tensor.index_fill_(0, rows, 0)


class Tape:
    """Hands each layer its memory in call order and collects what it leaves for the next push.

    Without memory (a whole sequence from its start) layers pad with zeros and leave nothing.
    """

    def __init__(self, state: CodecState | None = None) -> None:
        self._old = iter(state.memory) if state is not None else None
        self._new: list[Tensor] = []

    @property
    def streaming(self) -> bool:
        return self._old is not None

    def extend(self, x: Tensor, columns: int) -> Tensor:
        """x [B, C, n] behind the layer's last `columns` inputs; the newest `columns` are kept."""
        if columns == 0:
            return x
        if self._old is None:
            return torch.nn.functional.pad(x, (columns, 0))
        x = torch.cat([next(self._old), x], dim=-1)
        self._new.append(x[..., -columns:])
        return x

    def swap(self, *new: Tensor) -> None:
        self._new.extend(new)

    def take(self) -> Tensor:
        assert self._old is not None
        return next(self._old)

    def close(self, position: Tensor) -> CodecState:
        return CodecState(position, tuple(tensor.contiguous() for tensor in self._new))


def zeros(shapes: Iterable[tuple[int, ...]], rows: int, device: torch.device) -> CodecState:
    """The state before the first frame, float32."""
    memory = tuple(torch.zeros((rows, *shape), device=device) for shape in shapes)
    return CodecState(torch.zeros(rows, dtype=torch.int64, device=device), memory)
