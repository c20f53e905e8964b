"""How loud audio is, and how it leaves the engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

PEAK = 32767.0


def window_rms(audio: Samples, window: int) -> Samples:
    """RMS of each whole window of `window` samples, mean removed; shape [len(audio) // window]."""
    windows = audio[: len(audio) // window * window].reshape(-1, window)
    level: Samples = windows.std(axis=1, dtype=np.float32)
    return level


def to_pcm16(audio: Samples) -> bytes:
    """Samples in [-1, 1] as signed 16-bit little-endian."""
    pcm: bytes = np.rint(np.clip(audio, -1.0, 1.0) * PEAK).astype("<i2").tobytes()
    return pcm
