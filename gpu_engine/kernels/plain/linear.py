"""Products with what stands around them."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels.weights import Matrix, rms


def linear(
    x: Tensor,
    matrix: Matrix,
    *,
    gain: Tensor | None = None,
    eps: float = 0.0,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
) -> Tensor:
    """[B, K] to [B, N]: RMSNorm where there is a gain, then the product, bias, residual."""
    x = x if gain is None else rms(x, gain, eps)
    y = F.linear(x, matrix.dense(x.dtype), bias)
    return y if residual is None else residual + y


def gated(x: Tensor, matrix: Matrix, *, gain: Tensor, eps: float) -> Tensor:
    """[B, K] to [B, I]: RMSNorm, then silu(gate) * up of a matrix [2 I, K]."""
    gate, up = linear(x, matrix, gain=gain, eps=eps).chunk(2, -1)
    return F.silu(gate) * up


def norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """RMSNorm of rows [B, K]."""
    return rms(x, gain, eps)
