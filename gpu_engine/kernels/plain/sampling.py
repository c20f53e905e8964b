"""Codes drawn for slots with settings, seeds and histories of their own."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels.slots import Arena, Draws
from gpu_engine.models.sampling import (
    RowSampling,
    SpeechRules,
    choose_seeded,
    talker_scores,
    uniform_noise,
)


def draw_talker(logits: Tensor, arena: Arena, rows: Tensor, rules: SpeechRules) -> Tensor:
    """Code 0 of each row, int64 [B], from logits [B, V], by the slot's settings, seed, frame and
    history; marks it as seen and counts it."""
    draws = arena.talker
    settings = _settings(draws, rows)
    scores = talker_scores(
        logits, arena.seen[rows], arena.tokens[rows], settings.repetition_penalty, rules
    )
    chosen = choose_seeded(scores, settings, _noise(arena, rows, 0))
    arena.seen[rows, chosen] = True
    arena.tokens[rows] += 1
    return chosen


def draw_code(
    logits: Tensor, arena: Arena, rows: Tensor, codes: Tensor, group: int, table: Tensor | None
) -> Tensor:
    """Code `group` (1..15) of each row into codes [B, groups]; returns its row of `table` [V, K],
    the next position's input [B, K]."""
    settings = _settings(arena.predictor, rows)
    codes[:, group] = choose_seeded(logits.float(), settings, _noise(arena, rows, group))
    return logits if table is None else F.embedding(codes[:, group], table)


def _noise(arena: Arena, rows: Tensor, group: int) -> Tensor:
    return uniform_noise(arena.seed[rows], arena.frames[rows], group + 1)[:, group]


def _settings(draws: Draws, rows: Tensor) -> RowSampling:
    return RowSampling(
        draws.temperature[rows],
        draws.top_k[rows].long(),
        draws.top_p[rows],
        draws.penalty[rows],
        int(draws.top_k[rows].max()),
        bool((draws.top_p[rows] < 1).any()),
    )
