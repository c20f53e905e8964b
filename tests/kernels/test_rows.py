"""Opening and closing a step in Triton against plain PyTorch, to the last bit."""

from __future__ import annotations

import pytest
import torch

from gpu_engine.kernels import plain
from gpu_engine.kernels.slots import Arena
from gpu_engine.models.talker import Talker
from tests.kernels.shapes import TALKER

pytestmark = pytest.mark.usefixtures("fused")


@pytest.fixture
def rows(arena: Arena) -> torch.Tensor:
    """Three streams, one that has no frame yet, one beyond its text, and scratch twice."""
    for tensor in (arena.next_input, arena.text, arena.hidden):
        tensor.normal_()
    arena.texts[:5] = torch.tensor([3, 1, 8, 2, 5])
    arena.frames[:5] = torch.tensor([0, 9, 8, 2, 1])
    arena.code0[:5] = torch.tensor([3, TALKER.codec_eos_token_id, 0, 63, 17])
    return torch.tensor([4, 0, 1, 2, 5, 5], device=arena.position.device)


def test_the_input_of_a_talker_step(arena: Arena, rows: torch.Tensor) -> None:
    from gpu_engine.kernels.fused import talker_input

    mine = talker_input(arena, rows)
    assert torch.equal(mine, plain.talker_input(arena, rows))
    assert torch.equal(mine[0], arena.next_input[4] + arena.text[4, 0])
    assert torch.equal(mine[1], arena.next_input[0])
    assert torch.equal(mine[2], arena.next_input[1] + arena.text[1, 0])
    assert torch.equal(mine[3], arena.next_input[2] + arena.text[2, 7])


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf")])
def test_the_end_of_a_talker_step(arena: Arena, rows: torch.Tensor, broken: float) -> None:
    from gpu_engine.kernels.fused import close_talker

    end = TALKER.codec_eos_token_id
    hidden = torch.randn(6, TALKER.hidden_size, device=rows.device)
    hidden[2, 100] = broken
    code0 = torch.tensor([1, end, 2, 3, 4, end], device=rows.device)
    arena.position[rows] = torch.tensor([7, 0, 40, 2, 0, 0], device=rows.device)
    told = close_talker(arena, rows, hidden, code0, end)
    assert told.tolist() == [
        [False, True, False, False, False, True],
        [False, False, True, False, False, False],
    ]
    assert arena.position.tolist() == [1, 41, 3, 0, 8, 0]
    assert arena.code0[rows[:4]].tolist() == [1, end, 2, 3]
    torch.testing.assert_close(arena.hidden[rows[:4]], hidden[:4], rtol=0, atol=0, equal_nan=True)
    arena.position[rows] -= (rows != arena.scratch).long()
    assert torch.equal(told, plain.close_talker(arena, rows, hidden, code0, end))
    assert arena.position.tolist() == [1, 41, 3, 0, 8, 0]


def test_the_input_of_a_frame(arena: Arena, rows: torch.Tensor, talker: Talker) -> None:
    from gpu_engine.kernels.fused import frame_input

    embedding = talker.codec_embedding.weight
    mine, reference = (torch.zeros(6, 16, dtype=torch.int64, device=rows.device) for _ in "ab")
    x = frame_input(arena, rows, embedding, mine)
    assert torch.equal(x, plain.frame_input(arena, rows, embedding, reference))
    assert torch.equal(mine, reference)
    assert mine[:, 0].tolist() == arena.code0[rows].tolist()


def test_the_end_of_a_frame(arena: Arena, rows: torch.Tensor, talker: Talker) -> None:
    from gpu_engine.kernels.fused import close_frame

    embedding = talker.codec_embedding.weight
    tables = torch.stack([table.weight for table in talker.code_predictor.codec_embedding])
    codes = torch.randint(0, 64, (6, 16), generator=torch.Generator().manual_seed(1))
    codes = codes.to(rows.device)
    codes[4:] = 7  # scratch
    frames = arena.frames.clone()
    close_frame(arena, rows, embedding, tables, codes)
    mine = arena.codes.clone(), arena.next_input.clone(), arena.frames.clone()
    arena.frames.copy_(frames)
    plain.close_frame(arena, rows, embedding, tables, codes)
    assert torch.equal(mine[0], arena.codes)
    torch.testing.assert_close(mine[1], arena.next_input, rtol=1e-5, atol=1e-6)
    assert torch.equal(mine[2], arena.frames)
    assert arena.frames.tolist() == [1, 10, 9, 2, 2, 0]
    assert torch.equal(arena.codes[1, 9], codes[2])


def test_a_norm(device: torch.device) -> None:
    from gpu_engine.kernels.fused import norm

    x, gain = torch.randn(3, 96, device=device), torch.randn(96, device=device)
    torch.testing.assert_close(norm(x, gain, 1e-6), plain.norm(x, gain, 1e-6))


def test_a_full_slot_harms_nobody(arena: Arena, rows: torch.Tensor, talker: Talker) -> None:
    """At its last position and frame a slot stays: the kernels and the references alike."""
    from gpu_engine.kernels import fused

    embedding = talker.codec_embedding.weight
    tables = torch.stack([table.weight for table in talker.code_predictor.codec_embedding])
    for functions in (fused, plain):
        arena.position[1], arena.frames[1] = 95, 95
        hidden = torch.zeros(6, TALKER.hidden_size, device=rows.device)
        codes = torch.zeros(6, 16, dtype=torch.int64, device=rows.device)
        functions.close_talker(arena, rows, hidden, codes[:, 0], 71)
        functions.close_frame(arena, rows, embedding, tables, codes)
        assert (int(arena.position[1]), int(arena.frames[1])) == (95, 95)
