"""Products that have the L2 fetch what is read later: which bytes they ask for."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from gpu_engine.kernels import plain
from gpu_engine.kernels.weights import Matrix, StackWeights

WORD = 4  # bytes of a float32
Asked = Counter[int]
"""How often each byte was asked for, by its address."""


def test_every_product_knows_the_next(predictor_stack: StackWeights) -> None:
    first, last = predictor_stack.layers[0], predictor_stack.layers[-1]
    assert first.qkv.following[0] is first.out.weight
    gate, up = first.out.following
    assert torch.equal(torch.cat([gate, up]), first.gate_up.weight)
    assert first.gate_up.following[0] is first.down.weight
    assert first.down.following[0] is predictor_stack.layers[1].qkv.weight
    assert last.down.following == ()


@pytest.fixture
def asked(fused: None, monkeypatch: pytest.MonkeyPatch, device: torch.device) -> Asked:
    if device.type != "cpu":
        pytest.skip("the interpreter tells which bytes are asked for")
    found: Asked = Counter()

    def ask(address: Any, size: Any) -> None:
        begin, count = (int(value.handle.data[0]) for value in (address, size))
        assert (begin % 16, count % 16) == (0, 0)
        found.update(range(begin, begin + count))

    for name in ("ahead", "linear"):
        module = import_module(f"gpu_engine.kernels.fused.{name}")
        monkeypatch.setattr(module, "ask", ask)
    return found


def rows_of(tensor: Tensor, begin: int, end: int) -> Asked:
    """Each byte of these rows once."""
    width = tensor.shape[1] * WORD
    at = tensor.data_ptr()
    return Counter(range(at + begin * width, at + end * width))


def aligned(rows: int, depth: int, seed: int) -> Tensor:
    """As a device's allocator would place it."""
    generator = torch.Generator().manual_seed(seed)
    room = torch.randn(rows * depth + 32, generator=generator)
    skip = -room.data_ptr() % 128 // WORD
    return room[skip : skip + rows * depth].view(rows, depth)


def test_a_product_asks_for_its_own_rows_and_the_next_ones_beginning(asked: Asked) -> None:
    """2,048 bytes ahead are 8 rows of 64 numbers, and all of a smaller part."""
    from gpu_engine.kernels.fused.linear import Tuning, linear

    weight, after = aligned(37, 64, 1), aligned(16, 64, 2)
    x = torch.randn(1, 64)
    mine = linear(x, Matrix(weight, following=(after,)), tuning=Tuning(ahead=2048))

    torch.testing.assert_close(mine, plain.linear(x, Matrix(weight)), rtol=1e-5, atol=1e-5)
    assert asked == rows_of(weight, 8, 37) + rows_of(after, 0, 8)


def test_a_gated_product_reads_two_places(asked: Asked) -> None:
    """4,096 bytes are 8 rows of each of its halves."""
    from gpu_engine.kernels.fused.linear import Tuning, gated

    both, gain, x = aligned(48, 64, 3), torch.ones(64), torch.randn(1, 64)
    mine = gated(x, Matrix(both), gain=gain, eps=1e-6, tuning=Tuning(ahead=4096))

    reference = plain.gated(x, Matrix(both), gain=gain, eps=1e-6)
    torch.testing.assert_close(mine, reference, rtol=1e-5, atol=1e-5)
    assert asked == rows_of(both, 8, 24) + rows_of(both, 32, 48)


def test_both_parts_of_the_next_are_asked_for(asked: Asked) -> None:
    from gpu_engine.kernels.fused.linear import Tuning, linear

    weight, both = aligned(8, 64, 4), aligned(32, 64, 5)
    gate, up = both.chunk(2)
    linear(torch.randn(1, 64), Matrix(weight, following=(gate, up)), tuning=Tuning(ahead=2048))
    assert asked == rows_of(gate, 0, 4) + rows_of(up, 0, 4)


def test_nothing_is_asked_for_otherwise(asked: Asked) -> None:
    from gpu_engine.kernels.fused.linear import linear

    linear(torch.randn(1, 64), Matrix(aligned(8, 64, 6), following=(aligned(8, 64, 7),)))
    assert not asked
