from __future__ import annotations

import pytest
import torch

from gpu_engine.config import SamplingConfig
from gpu_engine.models.sampling import (
    RowSampling,
    SpeechRules,
    choose_seeded,
    philox,
    talker_scores,
    uniform_noise,
    warp,
)
from tests.models.conftest import TALKER

GREEDY = SamplingConfig(do_sample=False)
END, CODES, VOCABULARY = 41, 32, 64
RULES = SpeechRules.of(TALKER)


def scores_of(logits: torch.Tensor, seen: list[int], tokens: int = 5) -> torch.Tensor:
    marks = torch.zeros_like(logits, dtype=torch.bool)
    marks[:, seen] = True
    counts = torch.full((len(logits),), tokens)
    return talker_scores(logits, marks, counts, torch.full((len(logits),), 1.5), RULES)


def test_it_works() -> None:
    logits = torch.randn(3, VOCABULARY)
    rows = RowSampling.of([SamplingConfig()] * 3)
    ids = choose_seeded(scores_of(logits, []), rows, torch.rand(3))
    assert ids.shape == (3,)
    assert ((ids < CODES) | (ids == END)).all()


def test_repetition_penalty_weakens_either_sign() -> None:
    logits = torch.zeros(1, VOCABULARY)
    logits[0, :4] = torch.tensor([3.0, -3.0, 3.0, -3.0])
    scores = scores_of(logits, [0, 1])
    assert scores[0, :4].tolist() == [2.0, -4.5, 3.0, -3.0]


@pytest.mark.parametrize(("tokens", "allowed"), [(0, False), (1, False), (2, True)])
def test_speech_may_not_end_at_once(tokens: int, allowed: bool) -> None:
    scores = scores_of(torch.zeros(1, VOCABULARY), [], tokens)
    assert bool(scores[0, END].isfinite()) is allowed


def test_control_ids_are_never_drawn() -> None:
    logits = torch.full((1, VOCABULARY), 9.0)
    logits[0, CODES:] = 99.0
    blocked = scores_of(logits, []).isinf()[0]
    assert blocked.nonzero().flatten().tolist() == [i for i in range(CODES, VOCABULARY) if i != END]


def test_top_k_keeps_ties() -> None:
    rows = RowSampling.of([SamplingConfig(top_k=2, temperature=1.0)])
    kept = warp(torch.tensor([[3.0, 2.0, 2.0, 1.0]]), rows)
    assert kept.tolist() == [[3.0, 2.0, 2.0, -torch.inf]]


def test_top_p_keeps_at_least_the_best() -> None:
    rows = RowSampling.of([SamplingConfig(top_k=0, top_p=0.0, temperature=1.0)])
    assert warp(torch.tensor([[1.0, 2.0]]), rows).tolist() == [[-torch.inf, 2.0]]


def test_greedy_and_drawn_rows_share_a_batch() -> None:
    logits = torch.randn(1, VOCABULARY).expand(2, -1)
    rows = RowSampling.of([GREEDY, SamplingConfig(top_k=0, temperature=100.0)])
    ids = choose_seeded(logits, rows, torch.tensor([0.999, 0.999]))
    assert int(ids[0]) == int(logits[0].argmax())
    assert int(ids[1]) != int(ids[0])


def test_draws_follow_the_distribution() -> None:
    scores = torch.tensor([[1.0, 0.0, 2.0, -torch.inf]]).expand(20_000, -1)
    rows = RowSampling.of([SamplingConfig(top_k=0, temperature=1.0)] * 20_000)
    noise = uniform_noise(torch.arange(20_000), torch.zeros(20_000, dtype=torch.int64), 1)[:, 0]
    counts = choose_seeded(scores, rows, noise).bincount(minlength=4) / 20_000
    torch.testing.assert_close(counts, scores[0].softmax(-1), atol=0.015, rtol=0.0)


@pytest.mark.parametrize("noise", [0.0, 1.0 - 2.0**-23])
def test_the_edges_of_the_noise_draw_a_possible_id(noise: float) -> None:
    scores = torch.full((64, 3072), -torch.inf)
    scores[:, 100:150] = torch.randn(64, 50) * 4
    rows = RowSampling.of([SamplingConfig(top_k=0)] * 64)
    ids = choose_seeded(scores, rows, torch.full((64,), noise))
    assert ((ids >= 100) & (ids < 150)).all()


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    logits, noise = torch.randn(5, VOCABULARY), torch.rand(5)
    settings = [
        SamplingConfig(top_k=k, top_p=p)
        for k, p in ((5, 1.0), (0, 0.7), (50, 0.9), (1, 1.0), (9, 1.0))
    ]
    together = choose_seeded(logits, RowSampling.of(settings), noise)
    for row, config in enumerate(settings):
        alone = choose_seeded(logits[row : row + 1], RowSampling.of([config]), noise[row : row + 1])
        assert int(alone[0]) == int(together[row])


# Known answers published with the generator: counter words, key words, output words.
KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_gives_the_known_answers(
    counter: list[int], key: list[int], expected: list[int]
) -> None:
    a, b, c, d = (torch.tensor([word]) for word in counter)
    low, high = (torch.tensor([word]) for word in key)
    assert [int(word) for word in philox((a, b, c, d), (low, high))] == expected


def test_noise_is_a_function_of_seed_frame_and_group() -> None:
    seeds, frames = torch.tensor([7, 7, 8, -1]), torch.tensor([0, 1, 0, 0])
    noise = uniform_noise(seeds, frames, 16)
    assert torch.equal(
        noise, torch.cat([uniform_noise(seeds[i : i + 1], frames[i : i + 1], 16) for i in range(4)])
    )
    assert len(noise.flatten().unique()) == 64
    assert ((noise >= 0) & (noise < 1)).all()


def test_both_halves_of_a_seed_count() -> None:
    frames = torch.zeros(2, dtype=torch.int64)
    low, high = uniform_noise(torch.tensor([1, 1 + (1 << 40)]), frames, 4)
    assert not torch.equal(low, high)
