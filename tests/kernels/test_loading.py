"""What a core makes of its settings on a GPU, and what proves a device before it serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpu_engine.errors import CheckpointError
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.device.runner import GraphDevice
from gpu_engine.server.calibrate import measure
from gpu_engine.server.loading import graph_plan, prove, warm_up_session
from gpu_engine.server.settings import EngineSettings
from tests.parity.conftest import checkpoint, checkpoint_folder

__all__ = ["checkpoint", "checkpoint_folder"]

CUSTOM = "tiny-1b7-custom_voice"


def test_batches_reach_the_streams_that_there_may_be() -> None:
    settings = EngineSettings("folder", max_streams=20, max_positions=512, weights="fp8")
    plan = graph_plan(settings)
    assert plan.step_rows == (1, 2, 8, 16, 32)
    assert plan.codec_rows == (1, 2, 4, 8, 16, 32)
    assert (plan.slots, plan.positions, plan.texts, plan.fp8) == (20, 512, 136, True)


def test_more_streams_than_the_largest_batch() -> None:
    plan = graph_plan(EngineSettings("folder", max_streams=400))
    assert plan.step_rows[-1] == 256
    assert plan.codec_rows[-1] == 64


def test_a_device_proves_itself(checkpoint: Callable[[str], Checkpoint]) -> None:
    device = GraphDevice(checkpoint(CUSTOM), Plan.plain(2, 64))
    prove(device, checkpoint(CUSTOM))


def test_damaged_weights_are_refused(
    checkpoint: Callable[[str], Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = checkpoint(CUSTOM)
    broken = torch.full_like(loaded.talker.model.norm.weight, float("nan"))
    monkeypatch.setattr(loaded.talker.model.norm.weight, "data", broken)
    device = GraphDevice(loaded, Plan.plain(2, 64))
    with pytest.raises(CheckpointError, match="numbers that are not finite"):
        prove(device, loaded)


def test_every_captured_shape_is_measured(checkpoint: Callable[[str], Checkpoint]) -> None:
    """As a core does before it serves; a voice that is known needs no prefill and may have one."""
    loaded = checkpoint(CUSTOM)
    plan = replace(Plan.plain(2, 64), step_rows=(1, 2), codec_rows=(1, 2), codec_frames=(1, 2, 4))
    device = GraphDevice(loaded, plan)
    measured = measure(device, lambda: warm_up_session(loaded))
    assert len(measured) > 4
    assert not device.talk(np.array([0])).wait().broken.any()
