"""Louder or quieter, as a client asks for it."""

from __future__ import annotations

import numpy as np

from ttsapp.speech.encoders.samples import NONE, Samples

_LOUDEST = np.float32(32767 / 32768)


class Volume:
    """Each sample times `volume`; what would be too loud is clipped, in every format alike."""

    def __init__(self, volume: float) -> None:
        self._volume = np.float32(volume)

    def push(self, samples: Samples) -> Samples:
        louder: Samples = np.clip(samples * self._volume, np.float32(-1), _LOUDEST)
        return louder

    def finish(self) -> Samples:
        return NONE
