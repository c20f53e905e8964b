"""The engine's samples: 24 kHz mono, signed 16-bit little-endian; in here float32 in [-1, 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 24_000
BYTES_PER_SAMPLE = 2
BYTES_PER_MS = SAMPLE_RATE * BYTES_PER_SAMPLE // 1000

Samples = NDArray[np.float32]
NONE: Samples = np.zeros(0, np.float32)

_FULL_SCALE = 32768.0


class Aligner:
    """Chunks of bytes, cut anywhere, as chunks of whole samples."""

    def __init__(self) -> None:
        self._odd = b""

    def push(self, pcm: bytes) -> bytes:
        if not self._odd and len(pcm) % BYTES_PER_SAMPLE == 0:
            return pcm
        pcm = self._odd + pcm
        whole = len(pcm) - len(pcm) % BYTES_PER_SAMPLE
        self._odd = pcm[whole:]
        return pcm[:whole]


def from_pcm(pcm: bytes) -> Samples:
    """Exactly: every 16-bit value has a float of its own."""
    return np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_FULL_SCALE)


def to_int16(samples: Samples) -> NDArray[np.int16]:
    """The nearest 16-bit values; what is too loud is clipped."""
    values: NDArray[np.int16] = np.clip(np.rint(samples * _FULL_SCALE), -32768, 32767).astype("<i2")
    return values
