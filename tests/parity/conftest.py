"""Checkpoints are rebuilt once a session, each when a test first asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from tests.parity.tiny_checkpoints import build

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def checkpoint_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return lru_cache(maxsize=None)(lambda name: build(name, root / name))


@pytest.fixture(scope="session")
def checkpoint(checkpoint_folder: Callable[[str], Path]) -> Callable[[str], Checkpoint]:
    return lru_cache(maxsize=None)(lambda name: load_checkpoint(checkpoint_folder(name)))
