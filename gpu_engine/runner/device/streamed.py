"""The predictor's frame by the kernel that streams its weights: for few rows."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from gpu_engine.kernels.ops import Ops
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.stream import build, launch
from gpu_engine.kernels.stream.pack import Packed, Shape, pack
from gpu_engine.runner.device.frame import FrameWeights

# One block a multiprocessor; every product of the official shape gives each of 128 whole tiles.
BLOCKS, CHUNK = 128, 256
# As many chunks as shared memory holds beside the activations, for 8, 16 and 32 columns.
STAGES = {8: 22, 16: 18, 32: 12}


def shape_of(weights: FrameWeights, rows: int) -> Shape:
    """The kernel for up to `rows` rows (1 to 16) of an official predictor."""
    columns = next(size for size in STAGES if size >= 2 * rows)
    stack, config = weights.stack, weights.config
    return Shape(
        hidden=config.hidden_size,
        inner=config.intermediate_size,
        heads=stack.heads,
        kv_heads=stack.kv_heads,
        head_dim=stack.head_dim,
        layers=len(stack.layers),
        groups=config.num_code_groups,
        vocab=config.vocab_size,
        columns=columns,
        chunk=CHUNK,
        stages=STAGES[columns],
        blocks=BLOCKS,
    )


class StreamedFrame:
    """As `FrameStep`. Works in bf16."""

    def __init__(
        self,
        weights: FrameWeights,
        arena: Arena,
        ops: Ops,
        shape: Shape,
        packed: Packed | None = None,
    ) -> None:
        """Raises CannotBuild. `packed` may be shared between kernels of one predictor."""
        device = arena.hidden.device
        on_gpu = device.type == "cuda"
        compiled = (build.build_for_gpu if on_gpu else build.build_for_host)(shape)
        self.weights, self.arena, self.ops, self.shape = weights, arena, ops, shape
        self.packed = packed or pack(weights, shape)
        self._launch = (launch.on_gpu if on_gpu else launch.on_host)(compiled)
        self._tables = weights.projected.bfloat16().contiguous()
        self.room = _room(shape, device)
        self._counter = torch.zeros(1, dtype=torch.int32, device=device)
        self._codes = torch.zeros(shape.rows, shape.groups, dtype=torch.int64, device=device)

    def __call__(self, rows: Tensor) -> None:
        """Slots int64 [B]: codes 1..15 and the next Talker input into the arena."""
        ops, weights, arena = self.ops, self.weights, self.arena
        codes = self._codes[: len(rows)]
        x = ops.frame_input(arena, rows, weights.embedding, codes)
        if weights.projection is not None:
            matrix, bias = weights.projection
            x = ops.linear(x, matrix, bias=bias)
        self.room["input"][: len(x)] = x
        self._counter.zero_()
        self._launch(self._arguments(rows, codes))
        ops.close_frame(arena, rows, weights.embedding, weights.tables, codes)

    def _arguments(self, rows: Tensor, codes: Tensor) -> launch.Arguments:
        packed, arena, draws = self.packed, self.arena, self.arena.predictor
        tensors = {
            "body": packed.body,
            "heads": packed.heads,
            "gains": packed.gains,
            "turns": packed.turns,
            "tables": self._tables,
            "codes": codes,
            "slots": rows,
            "heat": draws.temperature,
            "top_k": draws.top_k,
            "top_p": draws.top_p,
            "seed": arena.seed,
            "frames": arena.frames,
            "counter": self._counter,
            **self.room,
        }
        stack = self.weights.stack
        return launch.Arguments(
            **{name: tensor.data_ptr() for name, tensor in tensors.items()},
            eps=stack.eps,
            scaling=stack.head_dim**-0.5,
            rows=len(rows),
        )


def _room(shape: Shape, device: torch.device) -> dict[str, Tensor]:
    """What blocks hand to one another, by the kernel's names."""
    floats = partial(torch.zeros, device=device)
    halves = partial(torch.zeros, device=device, dtype=torch.bfloat16)
    wide, columns = shape.heads * shape.head_dim, shape.columns
    qkv = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
    cache = shape.layers, 2, shape.rows, shape.groups, shape.kv_heads, shape.head_dim
    return {
        "input": halves(columns, shape.hidden),
        "residual": floats(2, columns, shape.hidden),
        "slices": floats(4, columns, shape.hidden),
        "qkv": floats(columns, qkv),
        "context": halves(columns, wide),
        "inner": halves(columns, shape.inner),
        "logits": floats(columns, shape.vocab),
        "cache": halves(cache),
    }
