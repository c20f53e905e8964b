"""One Talker step for a batch of slots, as a function that a graph can hold."""

from __future__ import annotations

from torch import Tensor

from gpu_engine.kernels.ops import Ops
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import Matrix, StackWeights, stack_weights
from gpu_engine.models.sampling import SpeechRules
from gpu_engine.models.talker import Talker


class TalkerStep:
    """Reads and writes the arena alone: between two calls the host says nothing but slots."""

    def __init__(
        self,
        talker: Talker,
        arena: Arena,
        ops: Ops,
        fp8: bool = False,
        stack: StackWeights | None = None,
    ) -> None:
        """`stack`: another step's weights, where they are the same."""
        model, config = talker.model, talker.config
        positions = arena.keys.shape[3]
        self.arena, self.ops = arena, ops
        self.stack = stack or stack_weights(
            model.layers, model.norm.weight, config.rope_theta, positions, fp8
        )
        self.head = Matrix(talker.codec_head.weight.detach())
        self.rules = SpeechRules.of(config, talker.device)

    def __call__(self, rows: Tensor) -> Tensor:
        """Slots int64 [B] one position on; bool [2, B]: who said stop, who is not finite."""
        return self.close(rows, self.layers(self.ops.talker_input(self.arena, rows), rows))

    def layers(self, x: Tensor, rows: Tensor) -> Tensor:
        """x [B, H] at each row's next position to hidden states before the final norm."""
        ops, stack = self.ops, self.stack
        for index, layer in enumerate(stack.layers):
            qkv = ops.linear(x, layer.qkv, gain=layer.input_gain, eps=stack.eps)
            context = ops.attend_slots(qkv, stack, index, self.arena, rows)
            x = ops.linear(context, layer.out, residual=x)
            h = ops.gated(x, layer.gate_up, gain=layer.post_gain, eps=stack.eps)
            x = ops.linear(h, layer.down, residual=x)
        return x

    def close(self, rows: Tensor, x: Tensor) -> Tensor:
        """Final norm, code 0 drawn, everything kept."""
        ops, arena = self.ops, self.arena
        hidden = ops.norm(x, self.stack.gain, self.stack.eps)
        logits = ops.linear(hidden, self.head)
        code0 = ops.draw_talker(logits, arena, rows, self.rules)
        return ops.close_talker(arena, rows, hidden, code0, self.rules.end)
