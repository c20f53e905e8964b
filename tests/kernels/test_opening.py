"""What a GPU does before a stream's first job and between its lanes: prompts by graphs, and which
jobs a decode waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptPlan, embed_prompt
from gpu_engine.models.talker import Talker
from gpu_engine.runner.device.decoding import Framed
from gpu_engine.runner.device.frame import FrameWeights
from gpu_engine.runner.device.lanes import Lane, Pending
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.device.prompts import LENGTHS, PromptGraphs
from gpu_engine.runner.memory import nbytes, tensors_of
from gpu_engine.runner.protocol import Outcome
from tests.parity.conftest import checkpoint, checkpoint_folder

__all__ = ["checkpoint", "checkpoint_folder"]

CUSTOM = "tiny-1b7-custom_voice"


def plan_of(words: int) -> PromptPlan:
    """Text alone, a codec id beside some of it, and as much text to come."""
    ids = tuple(range(3, 3 + words))
    codec = tuple(-1 if at % 3 else at % 7 for at in range(words))
    return PromptPlan(
        ids, codec, ids[::-1], pad_id=2, text_tokens=words, prefix_length=2, vector_at=1
    )


@pytest.fixture
def graphs(checkpoint: Callable[[str], Checkpoint]) -> tuple[Talker, PromptGraphs]:
    talker = checkpoint(CUSTOM).talker
    return talker, PromptGraphs(talker, Lane(talker.device, 1, scratch=0))


@pytest.mark.parametrize("words", [5, 16, LENGTHS[-1]])
@torch.inference_mode()
def test_a_prompt_is_what_the_models_make_of_it(
    graphs: tuple[Talker, PromptGraphs], words: int
) -> None:
    talker, embed = graphs
    plan, vector = plan_of(words), torch.full((talker.codec_head.weight.shape[1],), 0.5)
    mine, theirs = embed(talker, plan, vector), embed_prompt(talker, plan, vector)
    torch.testing.assert_close(mine.inputs, theirs.inputs)
    torch.testing.assert_close(mine.trailing, theirs.trailing)
    torch.testing.assert_close(mine.tts_pad, theirs.tts_pad)
    assert (mine.text_tokens, mine.prefix_length) == (words, 2)


@torch.inference_mode()
def test_inputs_outlive_the_next_prompt(graphs: tuple[Talker, PromptGraphs]) -> None:
    talker, embed = graphs
    first = embed(talker, plan_of(5))
    embed(talker, plan_of(7))
    torch.testing.assert_close(first.inputs, embed_prompt(talker, plan_of(5)).inputs)


def ended(name: str) -> Pending:
    nothing = np.zeros(1, np.bool_)
    return Pending(lambda seconds: Outcome(seconds, nothing, nothing), end=name)


def test_a_decode_waits_for_the_frames_that_it_takes() -> None:
    """Slot 1 has made two frames and decodes one: the job of its first is what it waits for."""
    framed = Framed(3)
    framed.launch(np.array([0, 1]), ended("first"))
    framed.launch(np.array([1]), ended("second"))
    assert list(framed.decode(np.array([1]), 1)) == ["first"]
    assert list(framed.decode(np.array([1, 0]), 1)) == ["second", "first"]


def test_a_slot_s_next_stream_waits_for_its_own_frames() -> None:
    framed = Framed(2)
    framed.launch(np.array([0]), ended("before"))
    framed.decode(np.array([0]), 1)
    framed.open(0)
    framed.launch(np.array([0]), ended("after"))
    assert list(framed.decode(np.array([0]), 1)) == ["after"]


def test_which_frames_are_folded() -> None:
    plan = Plan()
    assert [rows for rows in plan.step_rows if plan.folds(rows)] == [8, 16, 32, 64, 128, 256]
    for other in (replace(plan, fp8=True), replace(plan, folded=False), Plan.plain(2, 64)):
        assert not any(other.folds(rows) for rows in other.step_rows)


def test_the_folded_copy_counts_as_weights(talker: Talker) -> None:
    weights = FrameWeights(talker)
    before = nbytes(tensors_of(weights))
    copies = [each for pair in weights.folded for each in pair]
    assert nbytes(tensors_of(weights)) == before + nbytes(copies)
