"""Products in Triton against plain PyTorch: ragged rows, ragged outputs, every way to finish."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gpu_engine.bench import cuts
from gpu_engine.kernels import plain
from gpu_engine.kernels.weights import Matrix, quantised

pytestmark = pytest.mark.usefixtures("fused")


def error(mine: Tensor, reference: Tensor) -> float:
    return float((mine.double() - reference.double()).norm() / reference.double().norm())


def inputs(rows: int, outputs: int, depth: int, device: torch.device) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(rows + outputs)
    shapes = (rows, depth), (outputs, depth), (depth,), (outputs,), (rows, outputs)
    return tuple(torch.randn(s, generator=generator).to(device) for s in shapes)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 16, 17, 70])
@pytest.mark.parametrize("outputs", [16, 37, 128])
def test_a_product_after_a_norm(rows: int, outputs: int, device: torch.device) -> None:
    from gpu_engine.kernels.fused.linear import linear

    x, weight, gain, bias, residual = inputs(rows, outputs, 96, device)
    options = {"gain": gain, "eps": 1e-6, "bias": bias, "residual": residual}
    mine = linear(x, Matrix(weight), **options)
    assert error(mine, plain.linear(x, Matrix(weight), **options)) < 2e-6


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_a_product_alone(rows: int, device: torch.device) -> None:
    from gpu_engine.kernels.fused.linear import linear

    x, weight, _, bias, residual = inputs(rows, 24, 64, device)
    assert error(linear(x, Matrix(weight)), x @ weight.T) < 2e-6
    assert error(linear(x, Matrix(weight), bias=bias), x @ weight.T + bias) < 2e-6
    mine = linear(x, Matrix(weight), residual=residual)
    assert error(mine, x @ weight.T + residual) < 2e-6


@pytest.mark.parametrize("rows", [1, 4, 9, 33])
@pytest.mark.parametrize("fp8", [False, True])
def test_a_gated_product(rows: int, fp8: bool, device: torch.device) -> None:
    from gpu_engine.kernels.fused.linear import gated

    x, weight, gain, _, _ = inputs(rows, 2 * 37, 192, device)
    matrix = quantised(Matrix(weight)) if fp8 else Matrix(weight)
    mine = gated(x, matrix, gain=gain, eps=1e-6)
    assert error(mine, plain.gated(x, matrix, gain=gain, eps=1e-6)) < 2e-6


@pytest.mark.parametrize("rows", [1, 8])
def test_huge_tiny_and_broken_rows_stay_their_own(rows: int, device: torch.device) -> None:
    """A row of 1e4, one of 1e-4 and one that is not a number: neighbours come out as alone."""
    from gpu_engine.kernels.fused.linear import linear

    x, weight, gain, _, _ = inputs(rows + 3, 32, 64, device)
    x[0], x[1], x[2] = x[0] * 1e4, x[1] * 1e-4, float("nan")
    mine = linear(x, Matrix(weight), gain=gain, eps=1e-6)
    reference = plain.linear(x, Matrix(weight), gain=gain, eps=1e-6)
    assert mine[2].isnan().all()
    for row in (0, 1, *range(3, rows + 3)):
        assert error(mine[row], reference[row]) < 3e-6


def test_a_row_does_not_know_its_neighbours(device: torch.device) -> None:
    """To the last bit on a GPU; the interpreter's products round by their shape."""
    from gpu_engine.kernels.fused.linear import linear

    x, weight, gain, _, _ = inputs(24, 48, 96, device)
    whole = linear(x, Matrix(weight), gain=gain, eps=1e-6)
    for first in (0, 7, 11):
        part = linear(x[first : first + 13].clone(), Matrix(weight), gain=gain, eps=1e-6)
        assert error(part, whole[first : first + 13]) <= (0 if device.type == "cuda" else 1e-6)


def test_bf16_is_summed_in_float32(device: torch.device) -> None:
    from gpu_engine.kernels.fused.linear import linear

    x, weight, gain, _, residual = (t.bfloat16() for t in inputs(3, 32, 256, device))
    mine = linear(x, Matrix(weight), gain=gain, eps=1e-6, residual=residual)
    wide = (t.double() for t in (x, weight, gain, residual))
    x, weight, gain, residual = wide
    reference = residual + (x * gain * (x.square().mean(1, True) + 1e-6).rsqrt()) @ weight.T
    assert error(mine, reference) < 4e-3


def test_fp8_weights_lose_two_digits_of_a_hundred(device: torch.device) -> None:
    """e4m3 keeps three bits: a product of random numbers is off by 2 to 4 %."""
    x, weight, *_ = inputs(4, 64, 512, device)
    mine = plain.linear(x, quantised(Matrix(weight)))
    assert 0.01 < error(mine, x @ weight.T) < 0.04


def test_every_cut_has_its_tiling() -> None:
    assert tuple(cuts.tunings()) == cuts.PRODUCTS
    assert tuple(cuts.convolutions()) == cuts.CONVOLUTIONS
