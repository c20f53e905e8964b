"""A predictor's weights in the order in which each block of `frame.cu` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gpu_engine.kernels.weights import LayerWeights

if TYPE_CHECKING:
    from gpu_engine.runner.device.frame import FrameWeights

TILE = 16
SLICES = 2  # along the depth of the products back to the residual


@dataclass(frozen=True, slots=True)
class Shape:
    """The compile-time numbers of `frame.cu`. `columns`: 8, 16 or 32, room for two a row in pass 0;
    `chunk`: the depth of one copy of 16 outputs; `stages` of them wait in shared memory."""

    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    groups: int
    vocab: int
    columns: int
    chunk: int
    stages: int
    blocks: int

    def defines(self) -> list[str]:
        names = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return [f"-D{name.upper()}={value}" for name, value in names.items()]

    @property
    def rows(self) -> int:
        """The most rows of a batch."""
        return self.columns // 2


@dataclass(frozen=True, slots=True)
class Packed:
    """Numbers in read order, bf16; `gains`: input, post, q, k of each layer, then the last."""

    body: Tensor
    heads: Tensor
    gains: Tensor
    turns: Tensor


def pack(weights: FrameWeights, shape: Shape) -> Packed:
    stack, blocks = weights.stack, shape.blocks
    layers = [_layer(layer, shape) for layer in stack.layers]
    body = torch.stack([torch.cat(parts, 1) for parts in layers], 1)
    heads = torch.stack([_owned(tiles(head.weight), blocks) for head in weights.heads])
    gains = [
        gain
        for layer in stack.layers
        for gain in (layer.input_gain, layer.post_gain, layer.q_gain, layer.k_gain)
    ]
    return Packed(
        body.flatten().contiguous(),
        heads.flatten().contiguous(),
        torch.cat([*gains, stack.gain]).bfloat16(),
        torch.stack([stack.cos, stack.sin]).float().contiguous(),
    )


def _layer(layer: LayerWeights, shape: Shape) -> list[Tensor]:
    """Each [blocks, numbers]: the products of a layer in order."""
    gate, up = layer.gate_up.weight.chunk(2)
    # Eight gates and the eight values they open share a tile: one lane sees both.
    pairs = torch.stack([part.view(-1, 8, part.shape[1]) for part in (gate, up)], 1)
    return [
        _owned(tiles(layer.qkv.weight), shape.blocks),
        _owned(_sliced(layer.out.weight), shape.blocks),
        _owned(tiles(pairs.flatten(0, 2)), shape.blocks),
        _owned(_sliced(layer.down.weight), shape.blocks),
    ]


def tiles(weight: Tensor) -> Tensor:
    """[N, K] to [N / 16, K / 16, 32, 8]: of each 16x16 square, what each lane feeds to the tensor
    core (m16n8k16, A): row g and g + 8, columns 2 t, 2 t + 1 and those 8 on, of lane 4 g + t."""
    outputs, depth = weight.shape
    squares = weight.bfloat16().view(outputs // TILE, 2, 8, depth // TILE, 2, 4, 2)
    # [tile, row half, g, square, column half, t, column] to [tile, square, g, t, column half, ...]
    return squares.permute(0, 3, 2, 5, 4, 1, 6).reshape(outputs // TILE, depth // TILE, 32, 8)


def _sliced(weight: Tensor) -> Tensor:
    """The tiles of the first half of the depth, then those of the second."""
    return torch.cat([tiles(part.contiguous()) for part in weight.chunk(SLICES, 1)])


def _owned(units: Tensor, blocks: int) -> Tensor:
    """Units in order, as many to each block: [blocks, numbers]."""
    return units.reshape(blocks, -1)
