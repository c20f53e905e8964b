"""What every stream has on the device, indexed by slot; the last slot is scratch for padding."""

from __future__ import annotations

from collections.abc import Iterator
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

    def write(
        self, slot: int, temperature: float, top_k: int, top_p: float, penalty: float
    ) -> None:
        self.temperature[slot], self.top_k[slot] = temperature, top_k
        self.top_p[slot], self.penalty[slot] = top_p, penalty


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

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self._tensors())

    def _tensors(self) -> Iterator[Tensor]:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, Draws):
                yield from (value.temperature, value.top_k, value.top_p, value.penalty)
            else:
                yield value

    def open(self, slot: int, seed: int, sampling: SamplingConfig) -> None:
        """Back to the start of a stream. `seed` is a 64-bit pattern."""
        for tensor in (self.position, self.frames, self.tokens, self.code0):
            tensor[slot] = 0
        self.seen[slot] = 0
        self.stopped[slot] = self.broken[slot] = 0
        self.seed[slot] = (seed + 2**63) % 2**64 - 2**63
        s = sampling
        self.talker.write(
            slot,
            s.temperature if s.do_sample else 0.0,
            s.top_k,
            s.top_p,
            s.repetition_penalty,
        )
        self.predictor.write(
            slot,
            s.subtalker_temperature if s.subtalker_dosample else 0.0,
            s.subtalker_top_k,
            s.subtalker_top_p,
            1.0,
        )


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
