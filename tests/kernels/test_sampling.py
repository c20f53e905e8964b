"""Codes drawn in Triton are the codes that the CPU path draws, key by key."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch

from gpu_engine.kernels import plain
from gpu_engine.kernels.slots import Arena
from gpu_engine.models.sampling import SpeechRules
from tests.kernels.shapes import TALKER

pytestmark = pytest.mark.usefixtures("fused")
ROWS = [3, 0, 4, 1, 2]


def codes_of(
    module: ModuleType, logits: torch.Tensor, arena: Arena, rows: torch.Tensor, group: int
) -> list[int]:
    """Code `group` as `plain` or the kernels draw it."""
    codes = torch.full((len(rows), 16), -1, device=rows.device)
    module.draw_code(logits, arena, rows, codes, group, None)
    assert bool((codes[:, [g for g in range(16) if g != group]] == -1).all())
    drawn: list[int] = codes[:, group].tolist()
    return drawn


def copy(arena: Arena) -> tuple[torch.Tensor, torch.Tensor]:
    return arena.seen.clone(), arena.tokens.clone()


def test_code_0_of_eight_frames(arena: Arena) -> None:
    """Sampled, nucleus, greedy and penalised rows with their history, end of speech included."""
    from gpu_engine.kernels.fused.sampling import draw_talker

    rules = SpeechRules.of(TALKER, arena.seen.device)
    rows = torch.tensor(ROWS, device=arena.seen.device)
    generator, drawn = torch.Generator().manual_seed(1), []
    for frame in range(8):
        logits = 3 * torch.randn(5, TALKER.vocab_size, generator=generator).to(rows.device)
        logits[:, TALKER.codec_eos_token_id] += 8
        arena.frames[rows] = frame
        seen, tokens = copy(arena)
        mine, after = draw_talker(logits, arena, rows, rules), copy(arena)
        arena.seen.copy_(seen)
        arena.tokens.copy_(tokens)
        reference = plain.draw_talker(logits, arena, rows, rules)
        assert mine.tolist() == reference.tolist(), frame
        assert all(torch.equal(a, b) for a, b in zip(after, copy(arena), strict=True))
        drawn += mine.tolist()
        if frame < 2:
            assert TALKER.codec_eos_token_id not in mine.tolist()
    allowed = {*range(TALKER.code_predictor_config.vocab_size), TALKER.codec_eos_token_id}
    assert set(drawn) <= allowed
    assert TALKER.codec_eos_token_id in drawn


def test_all_codes_of_a_frame(arena: Arena) -> None:
    from gpu_engine.kernels.fused import sampling

    rows = torch.tensor(ROWS, device=arena.seen.device)
    generator = torch.Generator().manual_seed(2)
    for group in range(1, 16):
        logits = torch.randn(5, 64, generator=generator).to(rows.device)
        arena.frames[rows] = torch.tensor([0, 3, 700, 2**31, 5], device=rows.device)
        mine = codes_of(sampling, logits, arena, rows, group)
        assert mine == codes_of(plain, logits, arena, rows, group), group


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_real_vocabulary(arena: Arena, dtype: torch.dtype) -> None:
    from gpu_engine.kernels.fused import sampling

    rows = torch.tensor(ROWS, device=arena.seen.device)
    logits = 2 * torch.randn(5, 2048, generator=torch.Generator().manual_seed(3)).to(rows.device)
    logits = logits.to(dtype)
    mine = codes_of(sampling, logits, arena, rows, 7)
    assert mine == codes_of(plain, logits, arena, rows, 7)


def test_equal_scores_at_the_edge_are_all_kept(arena: Arena) -> None:
    """Top-k keeps every score equal to the k-th: bf16 logits often are."""
    from gpu_engine.kernels.fused import sampling

    slot = torch.tensor([3], device=arena.seen.device)
    arena.predictor.top_k[3], arena.predictor.temperature[3] = 3, 1.0
    logits = torch.full((1, 64), -5.0, device=slot.device)
    logits[0, [5, 9, 20, 33, 60]] = 1.0
    drawn = set()
    for frame in range(24):
        arena.frames[3] = frame
        mine = codes_of(sampling, logits, arena, slot, 1)
        assert mine == codes_of(plain, logits, arena, slot, 1)
        drawn |= set(mine)
    assert drawn == {5, 9, 20, 33, 60}


def test_the_batch_does_not_matter(arena: Arena) -> None:
    from gpu_engine.kernels.fused import sampling

    rows = torch.tensor([0, 1, 3, 5, 5, 5], device=arena.seen.device)
    logits = torch.randn(6, 64, generator=torch.Generator().manual_seed(4)).to(rows.device)
    whole = codes_of(sampling, logits, arena, rows, 2)
    for i in range(6):
        alone = codes_of(sampling, logits[i : i + 1].clone(), arena, rows[i : i + 1], 2)
        assert alone == [whole[i]]


def test_numbers_that_are_not_finite_still_give_an_id(arena: Arena) -> None:
    from gpu_engine.kernels.fused import sampling

    rows = torch.tensor(ROWS, device=arena.seen.device)
    for value in (float("nan"), float("inf"), float("-inf")):
        broken = torch.full((5, 64), value, device=rows.device)
        assert all(0 <= code < 64 for code in codes_of(sampling, broken, arena, rows, 1))


def test_the_next_input_comes_with_the_code(arena: Arena) -> None:
    from gpu_engine.kernels.fused.sampling import draw_code

    rows = torch.tensor(ROWS, device=arena.seen.device)
    generator = torch.Generator().manual_seed(6)
    logits = torch.randn(5, 64, generator=generator).to(rows.device)
    table = torch.randn(64, 48, generator=generator).to(rows.device)
    codes = torch.zeros(5, 16, dtype=torch.int64, device=rows.device)
    entry = draw_code(logits, arena, rows, codes, 3, table)
    assert torch.equal(entry, table[codes[:, 3]])
