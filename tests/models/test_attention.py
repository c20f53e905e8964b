from __future__ import annotations

import torch

from gpu_engine.models.attention import (
    CausalAttend,
    GrowingAttend,
    causal_mask,
    left_padded_positions,
)
from gpu_engine.models.talker import Talker


def test_it_works(talker: Talker) -> None:
    inputs, positions = torch.randn(2, 7, 32), torch.arange(7)[None]
    whole = talker(inputs, positions, CausalAttend())
    attend = GrowingAttend()
    pieces = [
        talker(inputs[:, i:j], positions[:, i:j], attend)
        for i, j in ((0, 4), (4, 5), (5, 6), (6, 7))
    ]
    torch.testing.assert_close(torch.cat(pieces, 1), whole)


def test_left_padding_changes_nothing(talker: Talker) -> None:
    lengths = torch.tensor([7, 4])
    inputs = torch.randn(2, 7, 32)
    inputs[1, :3] = 0
    positions = left_padded_positions(lengths, 7)
    for attend in (CausalAttend(lengths), GrowingAttend(lengths)):
        padded = talker(inputs, positions, attend)
        alone = talker(inputs[1:, 3:], torch.arange(4)[None], CausalAttend())
        torch.testing.assert_close(padded[1:, 3:], alone)
        assert padded.isfinite().all()


def test_the_future_is_invisible(talker: Talker) -> None:
    inputs, positions = torch.randn(1, 6, 32), torch.arange(6)[None]
    before = talker(inputs, positions, CausalAttend())
    inputs[0, 5] += 1.0
    after = talker(inputs, positions, CausalAttend())
    torch.testing.assert_close(after[:, :5], before[:, :5])
    assert not torch.allclose(after[:, 5], before[:, 5])


def test_positions_are_counted_without_padding() -> None:
    assert left_padded_positions(torch.tensor([3, 1]), 3).tolist() == [[0, 1, 2], [0, 0, 0]]


def test_a_mask_row_is_never_empty() -> None:
    mask = causal_mask(3, 3, torch.tensor([1]))
    assert mask[0, 0].int().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_the_last_query_sees_all_real_keys() -> None:
    mask = causal_mask(1, 4, torch.tensor([4, 2]))
    assert mask[:, 0, 0].int().tolist() == [[1, 1, 1, 1], [0, 0, 1, 1]]
