"""Attention in Triton against plain PyTorch: ragged lengths, block edges, an empty context."""

from __future__ import annotations

import pytest
import torch

from gpu_engine.kernels import plain
from gpu_engine.kernels.slots import Arena
from gpu_engine.kernels.weights import StackWeights

pytestmark = pytest.mark.usefixtures("fused")


def qkv(rows: int, stack: StackWeights) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rows)
    width = (stack.heads + 2 * stack.kv_heads) * stack.head_dim
    return torch.randn(rows, width, generator=generator).to(stack.gain.device)


@pytest.mark.parametrize(
    "positions", [[0, 0, 0], [1, 15, 16], [17, 95, 2], [5, 5, 94], [70], [0, 93, 33, 64, 1, 0]]
)
def test_rows_attend_to_their_own_slots(
    positions: list[int], talker_stack: StackWeights, arena: Arena
) -> None:
    """One block to five, dealt out to four programs, block edges, and the scratch slot twice."""
    from gpu_engine.kernels.fused.slot_attention import attend_slots

    rows = torch.tensor([3, 0, 4, 1, 2, 5][: len(positions)], device=arena.position.device)
    arena.position[rows] = torch.tensor(positions, device=rows.device)
    x, before = qkv(len(rows), talker_stack), arena.keys.clone()
    mine = attend_slots(x, talker_stack, 1, arena, rows, block=16)
    keys, values = arena.keys.clone(), arena.values.clone()
    arena.keys.copy_(before)
    reference = plain.attend_slots(x, talker_stack, 1, arena, rows)
    torch.testing.assert_close(mine, reference, rtol=1e-5, atol=2e-6)
    torch.testing.assert_close(keys, arena.keys, rtol=1e-5, atol=2e-6)
    assert torch.equal(values, arena.values)
    assert torch.equal(keys[0], before[0])  # the other layer


def test_a_slot_beyond_its_position_is_never_read(talker_stack: StackWeights, arena: Arena) -> None:
    from gpu_engine.kernels.fused.slot_attention import attend_slots

    rows = torch.tensor([2, 4], device=arena.position.device)
    arena.position[rows] = torch.tensor([7, 64], device=rows.device)
    arena.keys[:, 2, :, 7:], arena.values[:, 2, :, 7:] = float("nan"), float("nan")
    arena.keys[:, 4, :, 64:], arena.values[:, 4, :, 64:] = float("nan"), float("nan")
    mine = attend_slots(qkv(2, talker_stack), talker_stack, 0, arena, rows)
    assert mine.isfinite().all()


def test_one_program_or_four_sum_up_to_the_same_bits(
    talker_stack: StackWeights, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_engine.kernels.fused import slot_attention

    rows = torch.tensor([0, 1, 2], device=arena.position.device)
    arena.position[rows] = torch.tensor([16, 95, 40], device=rows.device)
    x = qkv(3, talker_stack)
    parted = slot_attention.attend_slots(x, talker_stack, 0, arena, rows, block=16)
    monkeypatch.setattr(slot_attention, "SPLIT_ROWS", 0)
    whole = slot_attention.attend_slots(x, talker_stack, 0, arena, rows, block=16)
    assert torch.equal(parted, whole)


@pytest.mark.parametrize("length", [16, 48, 96])
def test_a_prompt_begins_its_slot(length: int, talker_stack: StackWeights, arena: Arena) -> None:
    """One block of positions to six, one block of keys and a ragged second one."""
    from gpu_engine.kernels.fused.prompt_attention import attend_prompt

    slot = torch.tensor([3], device=arena.position.device)
    x, before = qkv(length, talker_stack), (arena.keys.clone(), arena.values.clone())
    mine = attend_prompt(x, talker_stack, 1, arena, slot)
    keys, values = arena.keys.clone(), arena.values.clone()
    arena.keys.copy_(before[0]), arena.values.copy_(before[1])
    reference = plain.attend_prompt(x, talker_stack, 1, arena, slot)
    torch.testing.assert_close(mine, reference, rtol=1e-5, atol=2e-6)
    torch.testing.assert_close(keys, arena.keys, rtol=1e-5, atol=2e-6)
    assert torch.equal(values, arena.values)
    assert torch.equal(keys[:, :3], before[0][:, :3])
    assert torch.equal(keys[0], before[0][0])  # the other layer


def test_a_frame_position_by_position(predictor_stack: StackWeights) -> None:
    """Two positions first, then fourteen single ones, as the Code Predictor goes."""
    from gpu_engine.kernels.fused.attention import attend_frame

    stack, rows = predictor_stack, 3
    shape = len(stack.layers), 2, rows, 16, stack.kv_heads, stack.head_dim
    mine = torch.full(shape, float("nan"), device=stack.gain.device)
    reference = mine.clone()
    for start, count in [(0, 2), *((at, 1) for at in range(2, 16))]:
        x = qkv(rows * count, stack) + start
        got = attend_frame(x, stack, 1, mine, start, count)
        want = plain.attend_frame(x, stack, 1, reference, start, count)
        torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-6)
    assert mine[0].isnan().all()
    torch.testing.assert_close(mine[1], reference[1], rtol=1e-5, atol=2e-6)


def test_large_scores_do_not_overflow(talker_stack: StackWeights, arena: Arena) -> None:
    from gpu_engine.kernels.fused.slot_attention import attend_slots

    rows = torch.tensor([1], device=arena.position.device)
    arena.position[rows] = 80
    arena.keys.mul_(1e3)
    x = qkv(1, talker_stack)
    mine = attend_slots(x, talker_stack, 0, arena, rows)
    reference = plain.attend_slots(x, talker_stack, 0, arena, rows)
    torch.testing.assert_close(mine, reference, rtol=1e-2, atol=1e-3)
