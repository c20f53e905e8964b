from __future__ import annotations

import pytest
import torch

from gpu_engine.models.attention import CausalAttend
from gpu_engine.models.layers import RMSNorm, fuse_layers, rope_tables, rotate
from gpu_engine.models.talker import Talker

INPUTS, POSITIONS = (2, 5, 32), torch.arange(5)[None]


def test_it_works(talker: Talker) -> None:
    hidden = talker(torch.randn(INPUTS), POSITIONS, CausalAttend())
    assert hidden.shape == INPUTS
    assert talker.logits(hidden).shape == (2, 5, 64)


def test_every_parameter_has_a_gradient(talker: Talker) -> None:
    codes = torch.randint(32, (2, 5, 16))
    inputs = talker.embed_frame(codes) + talker.embed_text(torch.randint(100, (2, 5)))
    hidden = talker(inputs, POSITIONS, CausalAttend())
    predictor, heads = talker.code_predictor, talker.code_predictor.lm_head
    seen = torch.stack([hidden[:, 0], talker.codec_embedding(codes[:, 1, 0])], 1)
    deep = predictor(seen, torch.arange(2)[None], CausalAttend())
    scores = torch.stack([head(deep[:, 1]) for head in heads])
    (talker.logits(hidden).square().mean() + scores.square().mean()).backward()
    assert [name for name, p in talker.named_parameters() if p.grad is None] == []


def test_a_frame_is_the_sum_of_its_sixteen_embeddings(talker: Talker) -> None:
    codes = torch.randint(32, (3, 16))
    tables = [talker.codec_embedding, *talker.code_predictor.codec_embedding]
    by_hand = sum(table.weight[codes[:, j]] for j, table in enumerate(tables))
    torch.testing.assert_close(talker.embed_frame(codes), by_hand)


@torch.inference_mode()
def test_fused_layers_give_the_same_with_the_same_names(talker: Talker) -> None:
    inputs, names = torch.randn(INPUTS), list(talker.state_dict())
    before = talker(inputs, POSITIONS, CausalAttend())
    fuse_layers(talker)
    torch.testing.assert_close(talker(inputs, POSITIONS, CausalAttend()), before)
    assert list(talker.state_dict()) == names


def test_fused_layers_follow_training_in_place(talker: Talker) -> None:
    inputs = torch.randn(INPUTS)
    fuse_layers(talker)
    with torch.no_grad():
        for parameter in talker.parameters():
            parameter.mul_(0.9)
        fused = talker(inputs, POSITIONS, CausalAttend())
    torch.testing.assert_close(talker(inputs, POSITIONS, CausalAttend()), fused)


@torch.inference_mode()
def test_fused_layers_follow_a_cast(talker: Talker) -> None:
    fuse_layers(talker)
    talker.double()
    assert talker(torch.randn(INPUTS).double(), POSITIONS, CausalAttend()).dtype == torch.float64


def test_the_norm_casts_back_before_its_weight() -> None:
    norm = RMSNorm(4, 0.0).to(torch.bfloat16)
    with torch.no_grad():
        norm.weight.fill_(1.0078125)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.bfloat16)
    normal = (x.float() / x.float().square().mean().sqrt()).to(torch.bfloat16)
    assert torch.equal(norm(x), normal * norm.weight)


def test_rotation_pairs_the_halves() -> None:
    rope = rope_tables(torch.tensor([[1]]), 4, 100.0, torch.float32)
    turned = rotate(torch.tensor([1.0, 0.0, 0.0, 0.0]).view(1, 1, 1, 4), rope).flatten()
    expected = torch.tensor([torch.cos(torch.tensor(1.0)), 0.0, torch.sin(torch.tensor(1.0)), 0.0])
    torch.testing.assert_close(turned, expected)


def test_tables_are_computed_in_float32() -> None:
    far = torch.tensor([[4097]])
    rounded = rope_tables(far, 8, 10_000.0, torch.bfloat16).cos
    exact = rope_tables(far, 8, 10_000.0, torch.float32).cos
    assert torch.equal(rounded, exact.to(torch.bfloat16))


@pytest.mark.parametrize("rows", [1, 3])
@torch.inference_mode()
def test_folded_frame_equals_plain(rows: int, talker: Talker) -> None:
    hidden, code0 = torch.randn(rows, 32), torch.randn(rows, 32)
    kept: dict[str, list[torch.Tensor]] = {"frame": [], "plain_frame": []}
    codes = {}
    for way, logits in kept.items():

        def greedy(group: int, scores: torch.Tensor) -> torch.Tensor:
            assert group == len(logits) + 1  # noqa: B023
            logits.append(scores)  # noqa: B023
            return scores.argmax(-1)

        codes[way] = getattr(talker.code_predictor, way)(hidden, code0, greedy)
    assert codes["frame"].shape == (rows, 15)
    assert torch.equal(codes["frame"], codes["plain_frame"])
    torch.testing.assert_close(torch.stack(kept["frame"]), torch.stack(kept["plain_frame"]))


@torch.no_grad()
def test_folded_frame_follows_new_weights(talker: Talker) -> None:
    hidden, code0 = torch.randn(1, 32), torch.randn(1, 32)

    def greedy(group: int, scores: torch.Tensor) -> torch.Tensor:
        return scores.argmax(-1)

    before = talker.code_predictor.frame(hidden, code0, greedy)
    talker.load_state_dict({name: -value for name, value in talker.state_dict().items()})
    after = talker.code_predictor.frame(hidden, code0, greedy)
    assert torch.equal(after, talker.code_predictor.plain_frame(hidden, code0, greedy))
    assert not torch.equal(after, before)
