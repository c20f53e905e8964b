"""What a listener lives through: a player without a buffer, fed by what arrived when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RATE = 24_000
WINDOW, HOP = RATE // 50, RATE // 100
AUDIBLE = 10 ** (-45 / 20)


@dataclass(frozen=True, slots=True)
class Playback:
    """Seconds since the request was sent; `gaps` are the times the player ran dry, and how long."""

    first_byte: float
    first_audible: float | None
    gaps: tuple[tuple[float, float], ...]

    @property
    def worst_gap(self) -> float:
        return max((length for _, length in self.gaps), default=0.0)


def play(arrivals: Sequence[tuple[float, int]], pcm: bytes) -> Playback:
    """`arrivals`: (seconds, samples received by then), in order, at least one."""
    onset = first_audible_sample(np.frombuffer(pcm, "<i2"))
    runs_dry, played = arrivals[0][0], 0
    audible: float | None = None
    gaps: list[tuple[float, float]] = []
    for at, received in arrivals:
        if at > runs_dry:
            gaps.append((at, at - runs_dry))
        starts = max(at, runs_dry)
        if audible is None and onset is not None and onset < received:
            audible = starts + (onset - played) / RATE
        runs_dry, played = starts + (received - played) / RATE, received
    return Playback(arrivals[0][0], audible, tuple(gaps))


def first_audible_sample(samples: NDArray[np.int16]) -> int | None:
    """Start of the first of two neighboring 20 ms windows at -45 dBFS or above, mean removed."""
    if len(samples) < WINDOW + HOP:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(samples / 32768.0, WINDOW)[::HOP]
    loud = windows.std(axis=1) >= AUDIBLE
    both = np.flatnonzero(loud[:-1] & loud[1:])
    return int(both[0]) * HOP if len(both) else None
