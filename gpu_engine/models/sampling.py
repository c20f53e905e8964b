"""From logits to codes, for rows with different settings: processors, warpers, seeded draws.

The order is the reference's: repetition penalty, early end-of-speech block, suppression of control
ids, temperature, top-k (ties kept), top-p, draw. Greedy rows take the argmax after the first three.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_engine.config import SamplingConfig, TalkerConfig

# Speech may not end before this many code-0 tokens.
MIN_TOKENS = 2
_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RowSampling:
    """Settings of every row, all [B]; the last two describe the batch for the host.

    `temperature` 0 is greedy, `top_k` 0 and `top_p` 1 are off. `widest_top_k` is the largest top_k
    of any row and `nucleus` tells whether any row's top_p is below 1: work nobody asks for is
    skipped without looking at the tensors.
    """

    temperature: Tensor
    top_k: Tensor
    top_p: Tensor
    repetition_penalty: Tensor
    widest_top_k: int
    nucleus: bool

    @classmethod
    def of(cls, rows: list[SamplingConfig], device: torch.device | str = "cpu") -> RowSampling:
        """The Talker's settings."""
        return cls._of(
            [row.temperature if row.do_sample else 0.0 for row in rows],
            [row.top_k for row in rows],
            [row.top_p for row in rows],
            [row.repetition_penalty for row in rows],
            device,
        )

    @classmethod
    def of_predictor(
        cls, rows: list[SamplingConfig], device: torch.device | str = "cpu"
    ) -> RowSampling:
        """The Code Predictor's settings: it knows no repetition penalty."""
        return cls._of(
            [row.subtalker_temperature if row.subtalker_dosample else 0.0 for row in rows],
            [row.subtalker_top_k for row in rows],
            [row.subtalker_top_p for row in rows],
            [1.0] * len(rows),
            device,
        )

    @classmethod
    def _of(
        cls,
        temperature: list[float],
        top_k: list[int],
        top_p: list[float],
        penalty: list[float],
        device: torch.device | str,
    ) -> RowSampling:
        def floats(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)

        return cls(
            floats(temperature),
            torch.tensor(top_k, dtype=torch.int64, device=device),
            floats(top_p),
            floats(penalty),
            max(top_k),
            min(top_p) < 1.0,
        )


@dataclass(frozen=True, slots=True)
class SpeechRules:
    """Which code-0 ids may ever be drawn: the codes themselves and the end of speech."""

    end: int
    blocked: Tensor
    """bool [vocabulary]: control, language and speaker ids."""

    @classmethod
    def of(cls, config: TalkerConfig, device: torch.device | str = "cpu") -> SpeechRules:
        blocked = torch.zeros(config.vocab_size, dtype=torch.bool, device=device)
        blocked[config.code_predictor_config.vocab_size :] = True
        blocked[config.codec_eos_token_id] = False
        return cls(config.codec_eos_token_id, blocked)


def talker_scores(
    logits: Tensor, seen: Tensor, tokens: Tensor, penalty: Tensor, rules: SpeechRules
) -> Tensor:
    """Float32 scores [B, V] after penalty, early-end block and suppression.

    `seen` bool [B, V] marks this utterance's earlier code-0 ids (never the prompt's), `tokens`
    [B] counts them.
    """
    scores = logits.float()
    rate = penalty[:, None]
    penalised = torch.where(scores < 0, scores * rate, scores / rate)
    scores = torch.where(seen, penalised, scores)
    blocked = rules.blocked.expand_as(scores).clone()
    blocked[:, rules.end] |= tokens < MIN_TOKENS
    return scores.masked_fill(blocked, -torch.inf)


def warp(scores: Tensor, rows: RowSampling) -> Tensor:
    """Temperature, then top-k, then top-p. Greedy rows come out with the temperature left at 1."""
    heat = torch.where(rows.temperature > 0, rows.temperature, 1.0)
    scores = scores.float() / heat[:, None]
    if rows.widest_top_k > 0:
        scores = _keep_top_k(scores, rows.top_k, rows.widest_top_k)
    if rows.nucleus:
        scores = _keep_top_p(scores, rows.top_p)
    return scores


def _keep_top_k(scores: Tensor, top_k: Tensor, widest: int) -> Tensor:
    best = scores.topk(min(widest, scores.shape[-1])).values
    last = (top_k - 1).clamp(0, best.shape[-1] - 1)
    floor = best.gather(-1, last[:, None])
    dropped = (scores < floor) & (top_k > 0)[:, None]
    return scores.masked_fill(dropped, -torch.inf)


def _keep_top_p(scores: Tensor, top_p: Tensor) -> Tensor:
    ascending, order = scores.sort(-1)
    mass = ascending.softmax(-1).cumsum(-1)
    tail = (mass <= 1.0 - top_p[:, None]) & (top_p < 1.0)[:, None]
    tail[:, -1] = False
    dropped = torch.zeros_like(tail).scatter(-1, order, tail)
    return scores.masked_fill(dropped, -torch.inf)


def choose_seeded(scores: Tensor, rows: RowSampling, noise: Tensor) -> Tensor:
    """Ids [B] by inverse distribution from one uniform number a row; greedy rows by argmax.

    A row's id depends on its own scores, settings and noise only, never on its neighbours.
    """
    mass = warp(scores, rows).softmax(-1).cumsum(-1)
    drawn = (mass <= noise[:, None] * mass[:, -1:]).sum(-1)
    return torch.where(rows.temperature > 0, drawn, scores.argmax(-1))


def choose_multinomial(scores: Tensor, rows: RowSampling) -> Tensor:
    """Ids [B] by torch's global generator, drawn as the reference draws: for parity checks."""
    drawn = torch.multinomial(warp(scores, rows).softmax(-1), 1)[:, 0]
    return torch.where(rows.temperature > 0, drawn, scores.argmax(-1))


def uniform_noise(seeds: Tensor, frames: Tensor, groups: int) -> Tensor:
    """Uniform numbers in [0, 1), float32 [B, groups], a pure function of (seed, frame, group).

    `seeds` int64 [B] are 64-bit patterns, `frames` int64 [B]. Philox 4x32-10 with the seed as key
    and (frame, group, 0, 0) as counter; integer arithmetic, so CPU and GPU agree to the last bit.
    """
    group = torch.arange(groups, device=seeds.device).expand(len(seeds), groups)
    frame = frames[:, None].expand_as(group)
    key = (seeds & _WORD)[:, None], ((seeds >> 32) & _WORD)[:, None]
    zero = torch.zeros_like(group)
    word = philox((frame & _WORD, group, zero, zero), key)[0]
    # 23 bits: the largest value times any total stays below that total in float32.
    return (word >> 9).to(torch.float32) * 2.0**-23


def philox(
    counter: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ten rounds of Philox 4x32 on int64 tensors that hold 32-bit words."""
    a, b, c, d = counter
    low, high = key
    for _ in range(10):
        # The products wrap in int64; their bits are those of the unsigned 64-bit products.
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = ((right >> 32) & _WORD) ^ b ^ low, right & _WORD
        c, d = ((left >> 32) & _WORD) ^ d ^ high, left & _WORD
        low, high = (low + 0x9E3779B9) & _WORD, (high + 0xBB67AE85) & _WORD
    return a, b, c, d
