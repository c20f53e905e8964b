"""When a listener first hears something: the moment that every figure of latency is about."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RATE = 24_000
WINDOW, HOP = RATE // 50, RATE // 100
AUDIBLE = 10 ** (-45 / 20)

Pcm = NDArray[np.int16]


def first_audible_sample(samples: Pcm) -> int | None:
    """Start of the first of two neighboring 20 ms windows at -45 dBFS or above, mean removed."""
    if len(samples) < WINDOW + HOP:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(samples / 32768.0, WINDOW)[::HOP]
    loud = windows.std(axis=1) >= AUDIBLE
    both = np.flatnonzero(loud[:-1] & loud[1:])
    return int(both[0]) * HOP if len(both) else None


@dataclass(slots=True)
class Listener:
    """A player without a buffer that takes chunks as they leave; instants are seconds on one clock.

    `first_audible` is the time from `began` to the first audible sample, once it is known.
    """

    began: float
    first_audible: float | None = None
    _runs_dry: float = 0.0
    _received: int = 0
    _starts: list[tuple[int, float]] = field(default_factory=list)
    _held: Pcm = field(default_factory=lambda: np.zeros(0, np.int16))

    def take(self, pcm: bytes, now: float) -> None:
        """Signed 16-bit little-endian samples that left at `now`."""
        if self.first_audible is not None or not pcm:
            return
        starts, count = max(now, self._runs_dry), len(pcm) // 2
        self._starts.append((self._received, starts))
        self._received += count
        self._runs_dry = starts + count / RATE
        self._held = np.concatenate([self._held, np.frombuffer(pcm, "<i2")])
        onset = first_audible_sample(self._held)
        if onset is None:
            self._forget()
        else:
            self.first_audible = self._played_at(self._received - len(self._held) + onset)

    def _forget(self) -> None:
        """Keeps what the next windows need: from the last whole one on."""
        windows = (len(self._held) - WINDOW) // HOP
        self._held = self._held[max(0, windows) * HOP :]

    def _played_at(self, sample: int) -> float:
        first, starts = next(start for start in reversed(self._starts) if start[0] <= sample)
        return starts + (sample - first) / RATE - self.began
