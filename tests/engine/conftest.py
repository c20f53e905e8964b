"""Tiny random checkpoints, built once a session, and an engine in this process over each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from tests.engine.bench import Bench
from tests.parity.tiny_checkpoints import build

torch.set_num_threads(1)

CUSTOM, BASE, DESIGN = "tiny-1b7-custom_voice", "tiny-1b7-base", "tiny-1b7-voice_design"


@pytest.fixture(scope="session")
def checkpoint_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return lru_cache(maxsize=None)(lambda name: build(name, root / name))


@pytest.fixture(scope="session")
def checkpoint(checkpoint_folder: Callable[[str], Path]) -> Callable[[str], Checkpoint]:
    return lru_cache(maxsize=None)(lambda name: load_checkpoint(checkpoint_folder(name)))


@pytest.fixture
def bench(checkpoint: Callable[[str], Checkpoint]) -> Bench:
    return Bench(checkpoint(CUSTOM))


@pytest.fixture
def clone_bench(checkpoint: Callable[[str], Checkpoint]) -> Bench:
    return Bench(checkpoint(BASE))
