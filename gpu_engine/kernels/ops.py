"""The functions a step is written in, and the sets of them to choose from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, Literal, Protocol

from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels import plain
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import Matrix, StackWeights
from gpu_engine.models.sampling import SpeechRules

Variant = Literal["plain", "library", "library-early", "fused", "early"]


class Ops(Protocol):
    """See `gpu_engine.kernels.plain`, whose functions these are. A `residual` may be overwritten
    by the result."""

    def linear(
        self,
        x: Tensor,
        matrix: Matrix,
        *,
        gain: Tensor | None = None,
        eps: float = 0.0,
        bias: Tensor | None = None,
        residual: Tensor | None = None,
    ) -> Tensor: ...
    def gated(self, x: Tensor, matrix: Matrix, *, gain: Tensor, eps: float) -> Tensor: ...
    def norm(self, x: Tensor, gain: Tensor, eps: float) -> Tensor: ...
    def attend_slots(
        self, qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, rows: Tensor
    ) -> Tensor: ...
    def attend_prompt(
        self, qkv: Tensor, stack: StackWeights, layer: int, arena: Arena, slot: Tensor
    ) -> Tensor: ...
    def attend_frame(
        self, qkv: Tensor, stack: StackWeights, layer: int, cache: Tensor, start: int, count: int
    ) -> Tensor: ...
    def draw_talker(
        self, logits: Tensor, arena: Arena, rows: Tensor, rules: SpeechRules
    ) -> Tensor: ...
    def draw_code(
        self,
        logits: Tensor,
        arena: Arena,
        rows: Tensor,
        codes: Tensor,
        group: int,
        table: Tensor | None,
    ) -> Tensor: ...
    def talker_input(self, arena: Arena, rows: Tensor) -> Tensor: ...
    def close_talker(
        self, arena: Arena, rows: Tensor, hidden: Tensor, code0: Tensor, end: int
    ) -> Tensor: ...
    def frame_input(
        self, arena: Arena, rows: Tensor, embedding: Tensor, codes: Tensor
    ) -> Tensor: ...
    def close_frame(
        self, arena: Arena, rows: Tensor, embedding: Tensor, tables: Tensor, codes: Tensor
    ) -> None: ...


class _Set:
    """A module's functions, some of them replaced."""

    def __init__(self, module: ModuleType, **functions: Any) -> None:
        for name in plain.__all__:
            setattr(self, name, functions.get(name) or getattr(module, name))


def make_ops(variant: Variant, tuning: Any = None) -> Ops:
    """`plain`: the reference. `fused`: Triton. `library`: Triton but for the products, which are
    cuBLAS's: their sums may change with the number of rows. `early`: each Triton kernel is set up
    before the one in front has ended, and loads its weights meanwhile. `tuning` is a
    `fused.Tuning`. Raises ImportError without Triton."""
    if variant == "plain":
        return _Set(plain)  # type: ignore[return-value]
    from gpu_engine.kernels import fused

    early = variant.endswith("early")
    functions = {name: partial(getattr(fused, name), early=early) for name in plain.__all__}
    if variant.startswith("library"):
        functions["linear"] = partial(_linear, early=early)
        functions["gated"] = partial(_gated, early=early)
    else:
        tuned = replace(tuning or fused.Tuning(), early=early)
        functions["linear"] = partial(fused.linear, tuning=tuned)
        functions["gated"] = partial(fused.gated, tuning=tuned)
    return _Set(fused, **functions)  # type: ignore[return-value]


def _linear(
    x: Tensor,
    matrix: Matrix,
    *,
    gain: Tensor | None = None,
    eps: float = 0.0,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    early: bool,
) -> Tensor:
    """cuBLAS cannot read e4m3 against bf16: such a matrix is unfolded for the product."""
    from gpu_engine.kernels.fused import norm

    x = x if gain is None else norm(x, gain, eps, early)
    weight = matrix.dense(x.dtype)
    if residual is not None and bias is None:
        # In place the residual is where the sums start: no copy before the product.
        return residual.addmm_(x, weight.t())
    y = F.linear(x, weight, bias)
    return y if residual is None else residual + y


def _gated(x: Tensor, matrix: Matrix, *, gain: Tensor, eps: float, early: bool) -> Tensor:
    from gpu_engine.kernels.fused import gate

    return gate(_linear(x, matrix, gain=gain, eps=eps, early=early), early)
