"""What every stream has on the device, indexed by slot; the last slot is scratch for padding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_engine.config import SamplingConfig, TalkerConfig


@dataclass(frozen=True, slots=True)
class Draws:
    """How each slot's codes are drawn, [slots]: `temperature` 0 is greedy, `top_k` 0 and `top_p` 1
    are off."""

    temperature: Tensor
    top_k: Tensor
    top_p: Tensor
    penalty: Tensor

    @classmethod
    def empty(cls, slots: int, device: torch.device) -> Draws:
        one = torch.ones(slots, device=device)
        return cls(one * 0, torch.zeros(slots, dtype=torch.int32, device=device), one, one.clone())

    def write(self, slot: Tensor, settings: Tensor) -> None:
        """`settings` float [4], in the order of the fields, for `slot` int64 [1]."""
        for place, name in enumerate(self.__dataclass_fields__):
            kept: Tensor = getattr(self, name)
            kept.index_copy_(0, slot, settings[place : place + 1].to(kept.dtype))


@dataclass(frozen=True, slots=True)
class Arena:
    """`slots` streams and one scratch slot.

    `keys`, `values` [layers, slots + 1, kv, positions, D]; `position` the next KV position;
    `frames` the frame being made; `tokens` the code-0 tokens drawn; `text` [slots + 1, texts, H]
    the vectors that step after step adds, its last one repeated; `broken` is set where numbers
    stopped being finite.
    """

    keys: Tensor
    values: Tensor
    position: Tensor
    frames: Tensor
    tokens: Tensor
    seed: Tensor
    seen: Tensor
    code0: Tensor
    codes: Tensor
    hidden: Tensor
    next_input: Tensor
    text: Tensor
    texts: Tensor
    stopped: Tensor
    broken: Tensor
    talker: Draws
    predictor: Draws

    @property
    def scratch(self) -> int:
        return len(self.position) - 1

    def open(self, slot: int, seed: int, sampling: SamplingConfig) -> None:
        """Back to the start of a stream. `seed` is a 64-bit pattern."""
        numbers, settings = opening(slot, seed, sampling)
        device = self.position.device
        self.begin(numbers.to(device), settings.to(device))

    def begin(self, numbers: Tensor, settings: Tensor) -> None:
        """`open` of what `opening` made: tensors alone, so that a graph can hold it."""
        slot, seed = numbers[:1], numbers[1:]
        zeroed = (self.position, self.frames, self.tokens, self.code0, self.seen)
        for tensor in (*zeroed, self.stopped, self.broken):
            tensor.index_fill_(0, slot, 0)
        self.seed.index_copy_(0, slot, seed)
        self.talker.write(slot, settings[:4])
        self.predictor.write(slot, settings[4:])


def opening(slot: int, seed: int, sampling: SamplingConfig) -> tuple[Tensor, Tensor]:
    """A stream's slot and seed, int64 [2], and how its codes are drawn, float [8]: the Talker's
    `Draws` before the predictor's."""
    s = sampling
    settings = [
        *(s.temperature if s.do_sample else 0.0, s.top_k, s.top_p, s.repetition_penalty),
        *(s.subtalker_temperature if s.subtalker_dosample else 0.0,),
        *(s.subtalker_top_k, s.subtalker_top_p, 1.0),
    ]
    return torch.tensor([slot, (seed + 2**63) % 2**64 - 2**63]), torch.tensor(settings)


def arena_for(config: TalkerConfig, slots: int, positions: int, texts: int, like: Tensor) -> Arena:
    """Zeros for `slots` streams of up to `positions` KV positions and `texts` text vectors."""
    every, device, hidden = slots + 1, like.device, config.hidden_size
    heads = config.num_key_value_heads
    kv = config.num_hidden_layers, every, heads, positions, config.head_dim

    def counters(dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(every, dtype=dtype, device=device)

    return Arena(
        keys=like.new_zeros(kv),
        values=like.new_zeros(kv),
        position=counters(),
        frames=counters(),
        tokens=counters(),
        seed=counters(),
        seen=torch.zeros(every, config.vocab_size, dtype=torch.bool, device=device),
        code0=counters(),
        codes=torch.zeros(
            every, positions, config.num_code_groups, dtype=torch.int64, device=device
        ),
        hidden=like.new_zeros(every, hidden),
        next_input=like.new_zeros(every, hidden),
        text=like.new_zeros(every, texts, hidden),
        texts=counters() + 1,
        stopped=counters(torch.bool),
        broken=counters(torch.bool),
        talker=Draws.empty(every, device),
        predictor=Draws.empty(every, device),
    )
