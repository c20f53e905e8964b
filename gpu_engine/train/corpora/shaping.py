"""Another throat, another voice effort, an older speaker: speech changed on its device, in batches.

Read faster than it was recorded, speech has a higher pitch and the resonances of a smaller body,
which is what tells a child or a young voice from a grown one. Effort is a level and a tilt of the
spectrum: who speaks up is louder and brighter. Age is a tremor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.train.alignment import PHONE_SECONDS, Phones, Words

TREMOR_HZ = 5.0
TREMOR_DEPTH = 0.025  # of the pitch
PIVOT_HZ, TILT_OCTAVES = 1000.0, 2.0  # the tilt grows from here on, over so many octaves
PEAK = 0.98
UNIT = round(PHONE_SECONDS * SAMPLE_RATE)  # samples that one phone's label stands for


@dataclass(frozen=True, slots=True)
class Shape:
    """`size`: how many times faster it is read; `gain` and `tilt` in dB, the tilt at the highest
    frequencies; `tremor`: whether the pitch trembles."""

    size: float = 1.0
    gain: float = 0.0
    tilt: float = 0.0
    tremor: bool = False

    def audio(self, audio: Tensor) -> Tensor:
        """float32 [rows, samples] to [rows, samples / size], at most PEAK loud. Whole UNITs."""
        if self == Shape():
            return audio
        if self.tremor:
            audio = _trembling(audio)
        samples = audio.shape[1]
        wanted = self._units(samples // UNIT) * UNIT
        spectrum = torch.fft.rfft(audio)
        hertz = torch.arange(spectrum.shape[1], device=audio.device) * (SAMPLE_RATE / samples)
        above = (hertz.clamp(min=1.0) / PIVOT_HZ).log2().clamp(0, TILT_OCTAVES) / TILT_OCTAVES
        spectrum = spectrum * 10 ** ((self.gain + self.tilt * above) / 20)
        changed = torch.fft.irfft(spectrum[:, : wanted // 2 + 1], wanted) * (wanted / samples)
        loudest = changed.abs().amax(1, keepdim=True)
        shaped: Tensor = changed * (PEAK / loudest.clamp(min=PEAK))
        return shaped

    def words(self, words: Words | None) -> Words | None:
        """The times of words, as they are then."""
        if words is None:
            return None
        moved = words.copy()
        moved[:, 2:] /= np.float32(self.size)
        return moved

    def phones(self, phones: Phones | None) -> Phones | None:
        """One label every 25 ms, as they are then."""
        if phones is None:
            return None
        count = self._units(len(phones))
        places = ((np.arange(count) + 0.5) * self.size).astype(np.int64)
        return phones[np.minimum(places, len(phones) - 1)]

    def _units(self, count: int) -> int:
        return max(1, round(count / self.size))


def _trembling(audio: Tensor) -> Tensor:
    """Each sample is read a little early or late, by a wave of TREMOR_HZ."""
    swing = 2 * torch.pi * TREMOR_HZ / SAMPLE_RATE
    at = torch.arange(audio.shape[1], device=audio.device, dtype=torch.float64)
    at = (at + torch.sin(at * swing) * (TREMOR_DEPTH / swing)).clamp(0, audio.shape[1] - 1)
    first = at.long().clamp(max=audio.shape[1] - 2)
    share = (at - first).to(audio.dtype)
    trembled: Tensor = audio[:, first] * (1 - share) + audio[:, first + 1] * share
    return trembled
