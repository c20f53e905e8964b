"""How a step opens and closes: slots to rows before it, rows to slots after it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_engine.kernels.slots import Arena


def talker_input(arena: Arena, rows: Tensor) -> Tensor:
    """[B, H]: what each row's newest frame and its text add up to. A row without a frame yet gets
    its last prompt position as it is."""
    frames = arena.frames[rows]
    place = (frames - 1).minimum(arena.texts[rows] - 1).clamp(min=0)
    text = arena.text[rows, place]
    return arena.next_input[rows] + text.masked_fill((frames == 0)[:, None], 0.0)


def close_talker(arena: Arena, rows: Tensor, hidden: Tensor, code0: Tensor, end: int) -> Tensor:
    """Keeps hidden [B, H] and code0 [B], moves positions on and tells bool [2, B]: who said stop,
    whose numbers are not finite. The scratch slot stays where it is; a slot that is full spoils
    its own last position and nobody else's."""
    arena.hidden[rows], arena.code0[rows] = hidden, code0
    moved = arena.position[rows] + (rows != arena.scratch).to(arena.position)
    arena.position[rows] = moved.clamp(max=arena.keys.shape[3] - 1)
    return torch.stack([code0 == end, ~hidden.isfinite().all(-1)])


def frame_input(arena: Arena, rows: Tensor, embedding: Tensor, codes: Tensor) -> Tensor:
    """[2 B, H]: hidden state and embedding of code 0, row by row; writes code 0 to codes[:, 0]."""
    codes[:, 0] = arena.code0[rows]
    first = F.embedding(codes[:, 0], embedding)
    return torch.stack([arena.hidden[rows], first], 1).flatten(0, 1)


def close_frame(
    arena: Arena, rows: Tensor, embedding: Tensor, tables: Tensor, codes: Tensor
) -> None:
    """Keeps codes [B, groups], makes the next Talker input of them (embedding [V, H], tables
    [groups - 1, V, H]) and moves frames on."""
    arena.codes[rows, arena.frames[rows]] = codes
    total = F.embedding(codes[:, 1], tables[0])
    for group in range(1, len(tables)):
        total = total + F.embedding(codes[:, group + 1], tables[group])
    arena.next_input[rows] = F.embedding(codes[:, 0], embedding) + total
    moved = arena.frames[rows] + (rows != arena.scratch).to(arena.frames)
    arena.frames[rows] = moved.clamp(max=arena.codes.shape[1] - 1)
