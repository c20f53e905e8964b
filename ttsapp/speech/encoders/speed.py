"""Faster or slower speech at its own pitch: overlap-add of the pieces that fit together best.

WSOLA: every 15 ms of output is cross-faded from what would have come next to a piece taken near
the place that the speed asks for, where the waveform looks the same."""

from __future__ import annotations

import math

import numpy as np

from ttsapp.speech.encoders.samples import NONE, SAMPLE_RATE, Samples

SLOWEST, FASTEST = 0.25, 4.0

_HOP = SAMPLE_RATE * 15 // 1000
# Far enough to reach the same point of the next period of a voice as low as 60 Hz.
_SEARCH = SAMPLE_RATE * 9 // 1000
_FADE_IN = (np.sin(np.linspace(0, np.pi / 2, _HOP, endpoint=False)) ** 2).astype(np.float32)
_FADE_OUT = 1 - _FADE_IN
# Below -80 dB there is no waveform to be alike.
_FAINT = np.float32(1e-8 * _HOP)


class Speed:
    """n samples become n / speed, rounded. The result does not depend on how they are cut."""

    def __init__(self, speed: float) -> None:
        """Raises ValueError outside 0.25 to 4."""
        if not SLOWEST <= speed <= FASTEST:
            raise ValueError(f"the speed may be {SLOWEST} to {FASTEST}, not {speed}")
        self._speed = speed
        # The input from sample number `_base` on; what lies before is used up.
        self._input = NONE
        self._base = 0
        self._taken = 0
        self._blocks = 0
        self._continued = 0

    def push(self, samples: Samples) -> Samples:
        self._input = np.concatenate((self._input, samples))
        self._taken += len(samples)
        blocks = []
        while self._needed() <= self._taken:
            blocks.append(self._next_block())
        self._forget()
        return np.concatenate(blocks) if blocks else NONE

    def finish(self) -> Samples:
        """The rest, as if silence followed, to the exact length."""
        wanted = round(self._taken / self._speed) - self._blocks * _HOP
        blocks = [NONE]
        while len(blocks) * _HOP < wanted + _HOP:
            missing = self._needed() - self._base - len(self._input)
            if missing > 0:
                self._input = np.concatenate((self._input, np.zeros(missing, np.float32)))
            blocks.append(self._next_block())
        return np.concatenate(blocks)[: max(0, wanted)]

    def _place(self) -> int:
        """Where the next block would begin without a search."""
        return round(self._blocks * _HOP * self._speed)

    def _needed(self) -> int:
        """How much input the next block needs, from the beginning."""
        # Never more comes out than the input so far may become.
        least = math.ceil((self._blocks + 1) * _HOP * self._speed)
        if self._blocks == 0:
            return max(_HOP, least)
        return max(self._place() + _SEARCH + _HOP, self._continued + _HOP, least)

    def _next_block(self) -> Samples:
        if self._blocks == 0:
            block = self._input[:_HOP]
            self._continued = _HOP
        else:
            after = self._at(self._continued, _HOP)
            start = self._best_start(after)
            block = after * _FADE_OUT + self._at(start, _HOP) * _FADE_IN
            self._continued = start + _HOP
        self._blocks += 1
        return block

    def _best_start(self, after: Samples) -> int:
        first = max(self._place() - _SEARCH, self._base)
        region = self._at(first, self._place() + _SEARCH + _HOP - first)
        likeness = np.correlate(region, after, "valid")
        energy = np.cumsum(np.concatenate((NONE, [0.0], region.astype(np.float64) ** 2)))
        loudness = np.sqrt(np.maximum(energy[_HOP:] - energy[:-_HOP], _FAINT))
        if loudness.max() ** 2 <= _FAINT:
            return self._place()
        return first + int(np.argmax(likeness / loudness))

    def _at(self, place: int, count: int) -> Samples:
        return self._input[place - self._base : place - self._base + count]

    def _forget(self) -> None:
        keep = min(self._continued, max(0, self._place() - _SEARCH), self._taken)
        if keep > self._base:
            self._input = self._input[keep - self._base :]
            self._base = keep
