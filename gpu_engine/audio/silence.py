"""Silence: removed on the fly where it leads, noticed where it does not end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.audio.level import Samples, window_rms

WINDOW = 240  # 10 ms
AUDIBLE = 10 ** (-50 / 20)  # full scale is 1; speech onsets rise through -50 dBFS
KEPT_WINDOWS = 2  # 20 ms before the onset: a soft consonant starts below the threshold
CLOSING = 12_000  # half a second
LONGEST = 24_000  # a second of silence is removed at most; more may be meant


@dataclass(slots=True)
class QuietRun:
    """How long a stream has been silent by now: a model that lost its way drones on in room tone,
    and the probability that it stops by itself is gone."""

    samples: int = 0

    def push(self, audio: Samples) -> int:
        """Samples of silence up to the end of `audio`, a whole number of windows."""
        loud = np.flatnonzero(window_rms(audio, WINDOW) >= AUDIBLE)
        if loud.size:
            self.samples = len(audio) - (int(loud[-1]) + 1) * WINDOW
        else:
            self.samples += len(audio)
        return self.samples


def with_closing_silence(audio: Samples) -> Samples:
    """The audio with half a second of silence behind its last sound, whatever it has of its own."""
    quiet = QuietRun().push(audio[: len(audio) // WINDOW * WINDOW])
    missing = max(0, CLOSING - quiet)
    return np.concatenate([audio, np.zeros(missing, np.float32)])


@dataclass(slots=True)
class LeadingSilence:
    """Holds back audio until it becomes audible; `trimmed` counts the samples it removed."""

    trimmed: int = 0
    open: bool = False
    _kept: Samples | None = None

    def push(self, audio: Samples) -> Samples:
        """What of this and earlier audio may leave now: nothing, or all from just before the onset.
        `audio` is a whole number of windows."""
        if self.open:
            return audio
        if self._kept is not None:
            audio = np.concatenate([self._kept, audio])
        loud = np.flatnonzero(window_rms(audio, WINDOW) >= AUDIBLE)
        self.open = loud.size > 0 or self.trimmed + len(audio) >= LONGEST
        start = self._start(audio, int(loud[0]) if loud.size else None)
        self.trimmed += start
        if self.open:
            return audio[start:]
        self._kept = audio[start:]
        return audio[:0]

    def _start(self, audio: Samples, onset: int | None) -> int:
        if onset is None:
            onset = len(audio) // WINDOW
        return min(max(0, onset - KEPT_WINDOWS) * WINDOW, LONGEST - self.trimmed)
