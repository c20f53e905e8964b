"""Clips as files and as samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from gpu_engine.train.corpus import write_wav
from tests.speech.listening import Recording


def save(file: Path, audio: torch.Tensor) -> None:
    """float32 at 24 kHz: all of it or nothing."""
    write_wav(file.with_suffix(".part"), audio)
    file.with_suffix(".part").replace(file)


def audio_of(recording: Recording) -> torch.Tensor:
    return torch.from_numpy(recording.samples().astype(np.float32) / 32768)
