"""The Code Predictor's frame for a batch of slots: fifteen passes and their draws in one go."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor, nn

from gpu_engine.kernels.ops import Ops
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import Matrix, joined, quantised, stack_weights
from gpu_engine.models.talker import Talker


class FrameWeights:
    """What every form of the frame reads. `tables` [groups - 1, V, H] are the embeddings at the
    Talker's width, `projected` the same at the predictor's: they pass the projection once, here."""

    @torch.no_grad()
    def __init__(self, talker: Talker, fp8: bool = False) -> None:
        predictor = talker.code_predictor
        model, config = predictor.model, predictor.config
        self.config = config
        self.stack = stack_weights(
            model.layers, model.norm.weight, config.rope_theta, config.num_code_groups, fp8
        )
        heads = [Matrix(_weight(head)) for head in predictor.lm_head]
        self.heads = [quantised(head) for head in heads] if fp8 else heads
        self.embedding = _weight(talker.codec_embedding)
        tables = [_weight(table) for table in predictor.codec_embedding]
        self.tables = joined(tables).view(len(tables), *tables[0].shape)
        self.projection: tuple[Matrix, Tensor] | None = None
        self.projected = self.tables
        if self.embedding.shape[1] != config.hidden_size:
            part = predictor.small_to_mtp_projection
            self.projection = Matrix(_weight(part)), part.bias.detach()
            self.projected = torch.stack([predictor.project(table) for table in self.tables])

    @cached_property
    @torch.no_grad()
    def folded(self) -> list[tuple[Tensor, Tensor]]:
        """Each layer's `qkv` and `gate_up` with the gain of the norm before them; a copy."""
        dtype = self.embedding.dtype
        return [
            (
                _folded(layer.qkv.dense(dtype), layer.input_gain),
                _folded(layer.gate_up.dense(dtype), layer.post_gain),
            )
            for layer in self.stack.layers
        ]


def _folded(weight: Tensor, gain: Tensor) -> Tensor:
    return (weight.float() * gain.float()).to(weight.dtype)


def _weight(module: nn.Module) -> Tensor:
    weight = module.weight
    assert isinstance(weight, Tensor)
    return weight.detach()


class FrameStep:
    """The frame as a chain of kernels; `rows` is the most slots of a batch."""

    def __init__(self, weights: FrameWeights, arena: Arena, ops: Ops, rows: int) -> None:
        stack, config = weights.stack, weights.config
        self.weights, self.arena, self.ops = weights, arena, ops
        self.groups = config.num_code_groups
        shape = len(stack.layers), 2, rows, self.groups, stack.kv_heads, stack.head_dim
        self._cache = arena.hidden.new_empty(shape)

    def __call__(self, rows: Tensor) -> None:
        """Slots int64 [B]: codes 1..15 and the next Talker input into the arena."""
        ops, weights, arena = self.ops, self.weights, self.arena
        codes = torch.empty(len(rows), self.groups, dtype=torch.int64, device=rows.device)
        x = ops.frame_input(arena, rows, weights.embedding, codes)
        if weights.projection is not None:
            matrix, bias = weights.projection
            x = ops.linear(x, matrix, bias=bias)
        x = self._layers(x, 0, 2)[1::2].contiguous()
        for group in range(1, self.groups):
            gain, eps = weights.stack.gain, weights.stack.eps
            logits = ops.linear(x, weights.heads[group - 1], gain=gain, eps=eps)
            table = weights.projected[group - 1] if group + 1 < self.groups else None
            x = ops.draw_code(logits, arena, rows, codes, group, table)
            if table is not None:
                x = self._layers(x, group + 1, 1)
        ops.close_frame(arena, rows, weights.embedding, weights.tables, codes)

    def _layers(self, x: Tensor, start: int, count: int) -> Tensor:
        ops, stack, cache = self.ops, self.weights.stack, self._cache
        cache = cache[:, :, : len(x) // count]
        for index, layer in enumerate(stack.layers):
            context = self._attend(x, index, cache, start, count)
            x = ops.linear(context, layer.out, residual=x)
            x = ops.linear(self._gated(x, index), layer.down, residual=x)
        return x

    def _attend(self, x: Tensor, index: int, cache: Tensor, start: int, count: int) -> Tensor:
        stack = self.weights.stack
        layer = stack.layers[index]
        qkv = self.ops.linear(x, layer.qkv, gain=layer.input_gain, eps=stack.eps)
        return self.ops.attend_frame(qkv, stack, index, cache, start, count)

    def _gated(self, x: Tensor, index: int) -> Tensor:
        stack = self.weights.stack
        layer = stack.layers[index]
        return self.ops.gated(x, layer.gate_up, gain=layer.post_gain, eps=stack.eps)
