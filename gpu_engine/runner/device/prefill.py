"""Prompts into slots: one prompt a call, padded on the right to a length that has its graph."""

from __future__ import annotations

import torch
from torch import Tensor

from gpu_engine.runner.device.talker import TalkerStep

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)


class PrefillStep:
    """Reads up to `length` positions of `inputs` [length, H] into the slot `slot` [1], of which
    `count` [1] are a prompt's; what lies behind them is never looked at."""

    def __init__(self, talk: TalkerStep, length: int) -> None:
        hidden, device = talk.arena.hidden, talk.arena.hidden.device
        self._talk, self.length = talk, length
        self.inputs = hidden.new_zeros(length, hidden.shape[1])
        self.count = torch.ones(1, dtype=torch.int64, device=device)
        self.slot = torch.full((1,), talk.arena.scratch, dtype=torch.int64, device=device)

    def fill(self, inputs: Tensor, slot: int) -> None:
        self.inputs[: len(inputs)] = inputs
        self.count.fill_(len(inputs))
        self.slot.fill_(slot)

    def __call__(self) -> Tensor:
        """Draws the first code 0; bool [2, 1] as `TalkerStep`."""
        x = self._layers(self.inputs.clone())  # products may overwrite a residual
        arena, last = self._talk.arena, self.count - 1
        arena.position.index_copy_(0, self.slot, last)
        return self._talk.close(self.slot, x.index_select(0, last))

    def _layers(self, x: Tensor) -> Tensor:
        ops, stack, arena = self._talk.ops, self._talk.stack, self._talk.arena
        for index, layer in enumerate(stack.layers):
            qkv = ops.linear(x, layer.qkv, gain=layer.input_gain, eps=stack.eps)
            context = ops.attend_prompt(qkv, stack, index, arena, self.slot)
            x = ops.linear(context, layer.out, residual=x)
            h = ops.gated(x, layer.gate_up, gain=layer.post_gain, eps=stack.eps)
            x = ops.linear(h, layer.down, residual=x)
        return x
