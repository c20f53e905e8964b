"""Encoding a clip in pieces gives what encoding it whole gives."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
import pytest
import torch
from torch import Tensor

from gpu_engine.audio import with_closing_silence
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.pieces import code_pieces, embed_pieces
from tests.engine.conftest import BASE


def run(pieces: Generator[None, None, Tensor]) -> tuple[Tensor, int]:
    """The result, and how many pieces it took."""
    count = 0
    while True:
        try:
            with torch.inference_mode():
                next(pieces)
        except StopIteration as end:
            return end.value, count + 1
        count += 1


@pytest.fixture(scope="module")
def base(checkpoint: Callable[[str], Checkpoint]) -> Checkpoint:
    return checkpoint(BASE)


@pytest.fixture(scope="module")
def clip() -> Tensor:
    """2.3 s that never repeat, and no whole number of frames."""
    noise = torch.randn(55_001, generator=torch.Generator().manual_seed(3))
    return noise * torch.linspace(0.05, 0.4, 55_001)


@pytest.mark.parametrize("seconds", [0.1, 0.32, 10.0])
def test_the_embedding_is_the_whole_clip_s(base: Checkpoint, clip: Tensor, seconds: float) -> None:
    assert base.speaker_encoder is not None
    made, count = run(embed_pieces(base.speaker_encoder, clip, seconds))
    torch.testing.assert_close(made, base.speaker_encoder.embed(clip), atol=1e-5, rtol=1e-5)
    assert count > 10


@pytest.mark.parametrize("seconds", [0.1, 0.32, 10.0])
def test_the_codes_are_the_whole_clip_s(base: Checkpoint, clip: Tensor, seconds: float) -> None:
    assert base.codec_encoder is not None
    made, _ = run(code_pieces(base.codec_encoder, clip, seconds))
    whole = base.codec_encoder.encode(clip[None])[0]
    assert made.shape == whole.shape == (16, 29)
    assert torch.equal(made, whole)


def test_half_a_second_of_silence_closes_a_clip() -> None:
    tone = np.sin(np.arange(24_000, dtype=np.float32) / 20)
    assert len(with_closing_silence(tone)) == 36_000
    assert len(with_closing_silence(np.pad(tone, (0, 4_800)))) == 36_000
    assert len(with_closing_silence(np.zeros(30_000, np.float32))) == 30_000
    assert not with_closing_silence(tone)[24_000:].any()
