"""Without a GPU the kernels run in Triton's interpreter, which is asked for before import."""

from __future__ import annotations

import pytest
import torch

from gpu_engine.config import SamplingConfig
from gpu_engine.kernels import interpreter
from gpu_engine.kernels.slots import Arena, arena_for
from gpu_engine.kernels.weights import StackWeights, stack_weights
from gpu_engine.models.talker import Talker
from tests.kernels.shapes import TALKER, filled

if not torch.cuda.is_available() and interpreter.is_installed():
    interpreter.interpret()


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def fused() -> None:
    if not interpreter.is_installed():
        pytest.skip(interpreter.MISSING)


@pytest.fixture(scope="session")
def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture(scope="session")
def talker(device: torch.device) -> Talker:
    return filled(Talker(TALKER), seed=5).to(device)


@pytest.fixture(scope="session")
def talker_stack(talker: Talker) -> StackWeights:
    model = talker.model
    return stack_weights(model.layers, model.norm.weight, TALKER.rope_theta, 96)


@pytest.fixture(scope="session")
def predictor_stack(talker: Talker) -> StackWeights:
    model, config = talker.code_predictor.model, TALKER.code_predictor_config
    return stack_weights(model.layers, model.norm.weight, config.rope_theta, 16)


@pytest.fixture
def arena(talker: Talker) -> Arena:
    """Five slots of 96 positions, each with its own way to draw, and the scratch slot."""
    arena = arena_for(TALKER, 5, 96, 8, talker.codec_head.weight)
    arena.keys.normal_()
    arena.values.normal_()
    settings = [
        SamplingConfig(),
        SamplingConfig(top_k=0, top_p=0.8, temperature=1.3, subtalker_top_p=0.5),
        SamplingConfig(do_sample=False, subtalker_dosample=False),
        SamplingConfig(top_k=3, top_p=0.6, repetition_penalty=1.7),
        SamplingConfig(top_k=1, subtalker_top_k=0, temperature=0.1),
    ]
    for slot, sampling in enumerate(settings):
        arena.open(slot, 2**63 + 12345 * slot, sampling)
    return arena
