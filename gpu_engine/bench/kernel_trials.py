"""Single kernels at the official shapes, each beside its plain PyTorch reference in float32."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gpu_engine.kernels import plain
from gpu_engine.kernels.ops import Ops
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import Matrix, StackWeights
from gpu_engine.models.sampling import SpeechRules

PRODUCTS = ("qkv", "out", "gate_up", "down")
KERNELS = (
    *(f"{stack}.{name}" for stack in ("talker", "predictor") for name in PRODUCTS),
    "talker.attend",
    "talker.attend:64",
    "talker.attend:8w",
    "predictor.attend",
    "talker.draw",
    "predictor.draw",
)
ATTEND_CUTS: dict[str, dict[str, Any]] = {"": {}, "64": {"block": 64}, "8w": {"warps": 8}}
REPEATS = 8
"""Times a captured graph holds the kernel: starting a graph costs as much as a small one."""
Call = Callable[[], Tensor]


def product(
    ops: Ops, stack: StackWeights, index: int, name: str, rows: int, like: Tensor
) -> tuple[Call, Call]:
    """A layer's product as a step calls it, and the same in float32."""
    layer = stack.layers[index % len(stack.layers)]
    matrix: Matrix = getattr(layer, name)
    depth, outputs = matrix.shape[1], matrix.shape[0]
    x, residual = _noise(like, rows, depth, 1), _noise(like, rows, outputs, 2)

    def run(functions: Ops, cast: Callable[[Tensor], Tensor]) -> Tensor:
        wide = Matrix(cast(matrix.weight), matrix.scale)
        if name == "gate_up":
            gain = cast(layer.post_gain)
            return functions.gated(cast(x), wide, gain=gain, eps=stack.eps)
        if name == "qkv":
            return functions.linear(cast(x), wide, gain=cast(layer.input_gain), eps=stack.eps)
        return functions.linear(cast(x), wide, residual=cast(residual))

    return (lambda: run(ops, lambda t: t)), (lambda: run(_plain(), Tensor.float))


def attend_slots(
    ops: Ops, stack: StackWeights, arena: Arena, slots: Tensor, cut: str
) -> tuple[Call, Call]:
    attend: Any = partial(ops.attend_slots, **ATTEND_CUTS[cut])
    width = (stack.heads + 2 * stack.kv_heads) * stack.head_dim
    qkv = _noise(arena.hidden, len(slots), width, 3)

    def run() -> Tensor:
        context: Tensor = attend(qkv, stack, 0, arena, slots)
        return context

    return run, lambda: plain.attend_slots(qkv, stack, 0, arena, slots)


def attend_frame(ops: Ops, stack: StackWeights, rows: int, like: Tensor) -> tuple[Call, Call]:
    """The last of sixteen positions."""
    width = (stack.heads + 2 * stack.kv_heads) * stack.head_dim
    qkv = _noise(like, rows, width, 4)
    cache = _noise(like, rows * 32, stack.kv_heads * stack.head_dim, 5)
    cache = cache.view(1, 2, rows, 16, stack.kv_heads, stack.head_dim)

    def run() -> Tensor:
        return ops.attend_frame(qkv, stack, 0, cache, 15, 1)

    return run, lambda: plain.attend_frame(qkv, stack, 0, cache, 15, 1)


def draw_talker(ops: Ops, arena: Arena, slots: Tensor, rules: SpeechRules) -> tuple[Call, Call]:
    """Codes as numbers: equal or not."""
    logits = 3 * _noise(arena.hidden, len(slots), arena.seen.shape[1], 6)

    def run(functions: Ops) -> Tensor:
        arena.seen.zero_()
        arena.tokens.zero_()
        return functions.draw_talker(logits, arena, slots, rules).float() + 1

    return (lambda: run(ops)), (lambda: run(_plain()))


def draw_code(ops: Ops, arena: Arena, slots: Tensor, vocabulary: int) -> tuple[Call, Call]:
    logits = 3 * _noise(arena.hidden, len(slots), vocabulary, 7)
    codes = torch.zeros(len(slots), 16, dtype=torch.int64, device=slots.device)

    def run(functions: Ops) -> Tensor:
        functions.draw_code(logits, arena, slots, codes, 7, None)
        return codes[:, 7].float() + 1

    return (lambda: run(ops)), (lambda: run(_plain()))


def _plain() -> Ops:
    return plain


def _noise(like: Tensor, rows: int, width: int, seed: int) -> Tensor:
    if like.device.type == "meta":
        return like.new_empty(rows, width)
    generator = torch.Generator(like.device).manual_seed(seed)
    return torch.randn(rows, width, generator=generator, device=like.device).to(like.dtype)
