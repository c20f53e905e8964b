"""The forced aligner against what the reference package made of the same weights and sounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr
import torch
from numpy.typing import NDArray
from torch import Tensor

from gpu_engine.align.forced import QwenAligner
from gpu_engine.align.repair import forward
from gpu_engine.align.units import units
from gpu_engine.models.forced_aligner import ForcedAligner, Steps
from gpu_engine.models.forced_aligner.mel import log_mel
from tests.align.cases import CASES, Case
from tests.align.tiny_aligner import sound

GOLDEN = Path(__file__).parent / "golden"
FLOATS = {"rtol": 2e-4, "atol": 2e-3}

Arrays = dict[str, NDArray[np.generic]]
each_case = pytest.mark.parametrize("name", CASES)


def golden(name: str) -> Arrays:
    with np.load(GOLDEN / f"{name}.npz") as arrays:
        return dict(arrays)


def heard(case: Case) -> Tensor:
    samples = sound(case.seconds, case.seed).astype(np.float32) / 32768
    return torch.from_numpy(soxr.resample(samples, 24_000, 16_000, "HQ"))


def finish(steps: Steps) -> Tensor:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Tensor = done.value
            return result


@torch.inference_mode()
def marks(aligner: QwenAligner, case: Case) -> list[float]:
    samples = sound(case.seconds, case.seed).astype(np.float32) / 32768
    found: list[float] = finish(aligner.marks(samples, units(case.text))).tolist()
    return found


@each_case
def test_words_are_those_of_the_reference(name: str) -> None:
    assert [unit.read for unit in units(CASES[name].text)] == golden(name)["words"].tolist()


@each_case
def test_prompt_is_that_of_the_reference(name: str, aligner: QwenAligner) -> None:
    ids: Any = golden(name)["ids"].tolist()
    net = aligner.net
    words = [aligner._ids(unit) for unit in units(CASES[name].text)]
    assert net.prompt(ids.count(net.config.audio_pad), words) == ids


@each_case
def test_mel_is_that_of_the_reference(name: str) -> None:
    found = log_mel(heard(CASES[name]), 128)
    np.testing.assert_allclose(found[::8, ::7], golden(name)["mel"], rtol=0, atol=2e-5)


@each_case
@torch.inference_mode()
def test_tower_is_that_of_the_reference(name: str, aligner: QwenAligner) -> None:
    """Attention within windows, as the reference has it where it uses FlashAttention."""
    found = finish(aligner.net.audio_tower.steps(log_mel(heard(CASES[name]), 128)))
    np.testing.assert_allclose(found[::3], golden(name)["windowed_heard"], **FLOATS)


@each_case
@torch.inference_mode()
def test_logits_are_those_of_the_reference(name: str, aligner: QwenAligner) -> None:
    words = [aligner._ids(unit) for unit in units(CASES[name].text)]
    found = finish(aligner.net.logits(heard(CASES[name]), words))
    stored = golden(name)
    np.testing.assert_allclose(found[:, ::25], stored["windowed_logits"], **FLOATS)
    assert found.argmax(-1).tolist() == stored["windowed_best"].tolist()


@each_case
def test_times_are_those_of_the_reference(name: str, aligner: QwenAligner) -> None:
    found = np.array(forward(marks(aligner, CASES[name]))) / 1000
    stored = golden(name)["windowed_times"]
    assert found.reshape(-1, 2).round(3).tolist() == stored.tolist()


def test_up_to_eight_seconds_windows_change_nothing() -> None:
    """So the package gives the same without FlashAttention, until a recording is longer."""
    same = {name: windows_change_nothing(name) for name in CASES}
    assert same == {name: CASES[name].seconds <= 8 for name in CASES}


def windows_change_nothing(name: str) -> bool:
    stored = golden(name)
    return np.allclose(stored["whole_heard"], stored["windowed_heard"], atol=1e-5)


def test_the_released_size_is_the_published_one(aligner: QwenAligner) -> None:
    """917.7 million parameters."""
    tiny = aligner.net.config
    tower = replace(
        tiny.tower,
        encoder_layers=24,
        encoder_attention_heads=16,
        encoder_ffn_dim=4096,
        d_model=1024,
        output_dim=1024,
        downsample_hidden_size=480,
    )
    thinker = replace(
        tiny.thinker,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
    )
    with torch.device("meta"):
        net = ForcedAligner(replace(tiny, tower=tower, thinker=thinker))
    assert round(sum(each.numel() for each in net.parameters()) / 1e6, 1) == 917.7
