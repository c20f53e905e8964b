"""Whether made audio is still its speaker's, as a loss."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import Tensor

from gpu_engine.assemble import PRESETS, assemble
from gpu_engine.train.codec import CodecTrainer
from gpu_engine.train.likeness import Likeness, listener
from tests.train.test_codec import HERE, RECIPE, humming, micro_codec, recording


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    assemble(folder)
    return folder


@pytest.fixture
def likeness(base: Path) -> Likeness:
    torch.set_num_threads(1)
    return listener(base)


def two_voices() -> Tensor:
    """[2, 96,000]: a hum, and one of half its pitch."""
    high = humming(4).audio[0]
    return torch.stack([high, high[::2].repeat(2)])


def test_audio_is_like_itself(likeness: Likeness) -> None:
    voices = two_voices()
    assert [float(each) for each in likeness(voices, voices)] == pytest.approx([0, 0], abs=1e-5)


def test_another_voice_is_not(likeness: Likeness) -> None:
    """Seen from the middle between two, they point apart."""
    voices = two_voices()
    unlike, apart = likeness(voices.flip(0), voices)
    assert float(unlike) == pytest.approx(2.0, abs=1e-3)
    assert float(apart) > 0.5


def test_its_vectors_are_those_that_clones_are_made_with(likeness: Likeness) -> None:
    """But for the edges, which are padded otherwise."""
    audio = humming(4).audio
    mine, real = likeness._listen(audio)[0][0], likeness.encoder.embed(audio[0])
    assert float(torch.cosine_similarity(mine, real, 0)) > 0.999


def test_the_mean_is_of_all_voices_so_far(likeness: Likeness) -> None:
    voices = two_voices()
    with torch.no_grad():
        likeness(voices[:1], voices[:1])
        likeness(voices[1:], voices[1:])
        mean = likeness._listen(voices)[0].mean(0)
        torch.testing.assert_close(likeness.mean, mean, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("heard", [0, 1])
def test_only_what_was_made_is_changed(likeness: Likeness, heard: int) -> None:
    voices = two_voices()
    made = voices.flip(0).clone().requires_grad_()
    likeness(made, voices)[heard].backward()
    assert made.grad is not None
    assert float(made.grad.abs().sum()) > 0
    assert all(p.grad is None for p in likeness.encoder.parameters())


def test_a_checkpoint_that_hears_nobody() -> None:
    with pytest.raises(ValueError, match="a Base checkpoint is needed"):
        listener(PRESETS)


def test_a_codec_learns_by_it(base: Path) -> None:
    """The same batch and weights: what the listener adds is all that differs."""
    found = []
    for weight in (0.0, 1.0):
        recipe = dataclasses.replace(RECIPE, listener=base, likeness=weight)
        trainer = CodecTrainer(micro_codec(), recipe, recording(), HERE)
        trainer._gradients(quantize=False, judged=False)
        found.append(trainer.grads.buffer.clone())
        assert float(trainer.losses["unlike"]) > 0
    assert not torch.equal(found[0], found[1])
