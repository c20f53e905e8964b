"""The small forced aligner is rebuilt once a session."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gpu_engine.align.forced import QwenAligner
from gpu_engine.align.load import load_aligner
from tests.align.tiny_aligner import build

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("forced") / "aligner")


@pytest.fixture(scope="session")
def aligner(folder: Path) -> QwenAligner:
    found = load_aligner(folder)
    assert isinstance(found, QwenAligner)
    return found
