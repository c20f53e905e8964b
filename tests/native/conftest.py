"""The shipped checkpoint, run by PyTorch's operators and by the C files."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CDLL
from pathlib import Path

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.native import NativeRunner, library
from gpu_engine.runner import Runner
from gpu_engine.server.settings import default_checkpoint

SLOTS, POSITIONS = 4, 512


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def compiled() -> CDLL:
    found = library()
    if found is None:
        pytest.skip("no C compiler")
    return found


@pytest.fixture(scope="session")
def shipped() -> Checkpoint:
    return load_checkpoint(Path(default_checkpoint()))


@pytest.fixture
def native(shipped: Checkpoint, compiled: CDLL) -> NativeRunner:
    return NativeRunner(shipped, SLOTS, POSITIONS, compiled)


@pytest.fixture
def plain(shipped: Checkpoint) -> Runner:
    return Runner(shipped, SLOTS, POSITIONS)
