"""Whole steps: the plain set gives the CPU runner's codes, the kernels give the plain set's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from gpu_engine.bench import cuts
from gpu_engine.config import SamplingConfig
from gpu_engine.kernels.ops import make_ops
from gpu_engine.kernels.slots import Arena, arena_for
from gpu_engine.models.attention import GrowingAttend
from gpu_engine.models.sampling import RowSampling, choose_seeded, talker_scores, uniform_noise
from gpu_engine.models.talker import Talker
from gpu_engine.runner.device.frame import FrameStep, FrameWeights
from gpu_engine.runner.device.talker import TalkerStep
from tests.kernels.shapes import TALKER, filled

FRAMES = 4
SETTINGS = [SamplingConfig(top_k=9), SamplingConfig(do_sample=False), SamplingConfig(top_p=0.7)]


def spoken(talker: Talker, variant: str, rows: list[int], frames: int = FRAMES) -> Arena:
    """A few frames from one made-up prompt vector a slot."""
    form, variant = form_of(variant)
    ops = make_ops(variant, None if variant == "plain" else replace(cuts.coarse(), few=2))  # type: ignore[arg-type]
    arena = arena_for(talker.config, 3, 16, 4, talker.codec_head.weight)
    generator = torch.Generator().manual_seed(8)
    start = torch.randn(3, TALKER.hidden_size, generator=generator)
    arena.text[:3] = torch.randn(3, 4, TALKER.hidden_size, generator=generator)
    arena.next_input[:3] = start
    arena.texts[:3] = torch.tensor([1, 2, 4])
    for slot, sampling in enumerate(SETTINGS):
        arena.open(slot, 77 + slot, sampling)
    slots = torch.tensor(rows, device=arena.position.device)
    talk = TalkerStep(talker, arena, ops)
    predict = form(FrameWeights(talker), arena, ops, len(rows))
    for _ in range(frames):
        told = talk(slots)
        assert not bool(told[1].any())
        predict(slots)
    return arena


def form_of(variant: str) -> tuple[type[FrameStep], str]:
    if variant != "folded":
        return FrameStep, variant
    from gpu_engine.runner.device.folded import FoldedFrame

    return FoldedFrame, "library"


def by_the_model(talker: Talker, slot: int) -> list[list[int]]:
    """The same frames of one slot by the modules and sampler of the CPU path."""
    generator = torch.Generator().manual_seed(8)
    start = torch.randn(3, TALKER.hidden_size, generator=generator)
    text = torch.randn(3, 4, TALKER.hidden_size, generator=generator)[slot]
    count, attend = [1, 2, 4][slot], GrowingAttend()
    sampling, predictor = SETTINGS[slot : slot + 1], talker.code_predictor
    rows, theirs = RowSampling.of(sampling), RowSampling.of_predictor(sampling)
    seen = torch.zeros(1, TALKER.vocab_size, dtype=torch.bool)
    x, frames = start[slot : slot + 1], []
    rules = TalkerStep(talker, arena_for(TALKER, 1, 1, 1, talker.codec_head.weight), None).rules  # type: ignore[arg-type]
    for frame in range(FRAMES):
        noise = uniform_noise(torch.tensor([77 + slot]), torch.tensor([frame]), 16)
        hidden = talker(x[:, None], torch.tensor([[frame]]), attend)[:, 0]
        tokens = torch.tensor([frame])
        scores = talker_scores(talker.logits(hidden), seen, tokens, rows.repetition_penalty, rules)
        code0 = choose_seeded(scores, rows, noise[:, 0])
        seen[0, code0] = True
        choose = chooser(theirs, noise)
        rest = predictor.plain_frame(hidden, talker.codec_embedding(code0), choose)
        codes = torch.cat([code0[:, None], rest], 1)
        frames.append(codes[0].tolist())
        x = talker.embed_frame(codes) + text[min(frame, count - 1)]
    return frames


def chooser(rows: RowSampling, noise: Tensor) -> Callable[[int, Tensor], Tensor]:
    return lambda group, logits: choose_seeded(logits, rows, noise[:, group])


@pytest.mark.parametrize("slot", [0, 1, 2])
def test_the_plain_set_speaks_as_the_model_does(talker: Talker, slot: int) -> None:
    """By slot numbers alone: positions, frames, seeds, texts and histories are the arena's."""
    arena = spoken(talker, "plain", [2, 0, 1])
    assert arena.codes[slot, :FRAMES].tolist() == by_the_model(talker, slot)


@pytest.fixture(scope="module")
def brief(device: torch.device) -> Talker:
    """Four codes a frame: an interpreter takes seconds for each."""
    config = replace(TALKER.code_predictor_config, num_code_groups=4)
    small = replace(TALKER, num_code_groups=4, code_predictor_config=config)
    return filled(Talker(small), seed=6).to(device)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("variant", ["fused", "library", "folded"])
def test_the_kernels_speak_as_the_plain_set_does(brief: Talker, variant: str) -> None:
    """Padding rows, which all are the scratch slot, change nothing."""
    mine = spoken(brief, variant, [2, 0, 3, 1, 3], 1)
    reference = spoken(brief, "plain", [2, 0, 1], 1)
    assert torch.equal(mine.codes[:3, :1], reference.codes[:3, :1])
    assert mine.position[:3].tolist() == [1] * 3
    assert (int(mine.position[3]), int(mine.frames[3])) == (0, 0)
    torch.testing.assert_close(mine.next_input[:3], reference.next_input[:3], rtol=1e-4, atol=1e-5)
    cut = slice(None), slice(3), slice(None), slice(1)
    torch.testing.assert_close(mine.keys[cut], reference.keys[cut], rtol=1e-4, atol=1e-5)
