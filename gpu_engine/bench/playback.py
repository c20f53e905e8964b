"""What a listener lives through: a player without a buffer, fed by what arrived when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu_engine.audio.onset import first_audible_sample

RATE = 24_000


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
