"""What a job will take: measured at start-up, corrected by every job that runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_engine.scheduler.jobs import Kind

# Where nothing was measured, in seconds: a job, each row of it, each frame of each row.
GUESSES = {
    Kind.PREFILL: (0.003, 0.0005, 0.0),
    Kind.TALKER: (0.001, 0.0001, 0.0),
    Kind.PREDICTOR: (0.002, 0.0001, 0.0),
    Kind.CODEC: (0.002, 0.0, 0.0005),
    Kind.ENCODE: (0.005, 0.0, 0.0),
    Kind.ALIGN: (0.02, 0.0, 0.0),
}
FAST, SLOW = 0.1, 0.02
LARGEST_SURPRISE = math.log(2.0)
LEAST_SAFETY, MOST_SAFETY, SPREADS = 1.1, 2.0, 2.0
REFRESH = 16

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """One shape's time. `frames` is 0 for all but codec jobs."""

    kind: Kind
    rows: int
    frames: int
    seconds: float


class CostModel:
    """`seconds(kind)[rows, frames]`: a table a kind, times how much slower or faster the device is
    than it was. Observations move both, none by more than a factor of two."""

    def __init__(self, slots: int, longest_chunk: int, measured: Iterable[Measured] = ()) -> None:
        self.slots, self.longest_chunk = slots, longest_chunk
        points = list(measured)
        self._table = {kind: self._filled(kind, points) for kind in Kind}
        self._drift = dict.fromkeys(Kind, 0.0)
        self._spread = dict.fromkeys(Kind, 0.05)
        self._seen = self.version = 0
        self._now: dict[Kind, Table] = {}
        self._refresh()

    def seconds(self, kind: Kind) -> Table:
        """[rows, frames], as expected now; column 0 for all but codec jobs."""
        return self._now[kind]

    def expect(self, kind: Kind, rows: int, frames: int = 0) -> float:
        table = self._now[kind]
        row, column = min(rows, table.shape[0] - 1), min(frames, table.shape[1] - 1)
        return float(table[row, column])

    def safety(self) -> float:
        """By how much a prediction over several jobs is stretched before it is relied on."""
        spread = max(self._spread[kind] for kind in (Kind.TALKER, Kind.PREDICTOR, Kind.CODEC))
        return min(MOST_SAFETY, max(LEAST_SAFETY, math.exp(SPREADS * spread)))

    def observe(self, kind: Kind, rows: int, frames: int, seconds: float) -> None:
        table = self._table[kind]
        if seconds <= 0 or rows >= table.shape[0] or frames >= table.shape[1]:
            return
        expected = float(table[rows, frames])
        surprise = math.log(seconds / expected) - self._drift[kind]
        surprise = min(LARGEST_SURPRISE, max(-LARGEST_SURPRISE, surprise))
        self._drift[kind] += FAST * surprise
        self._spread[kind] += FAST * (abs(surprise) - self._spread[kind])
        table[rows, frames] = expected * math.exp(SLOW * surprise)
        self._seen += 1
        if self._seen % REFRESH == 0:
            self._refresh()

    def _refresh(self) -> None:
        self.version += 1
        self._now = {kind: self._table[kind] * math.exp(self._drift[kind]) for kind in Kind}

    def _filled(self, kind: Kind, points: list[Measured]) -> Table:
        """Bilinear between measured shapes, the edge's slope beyond them, the guess without any."""
        rows = np.arange(self.slots + 1.0)
        frames = np.arange(self.longest_chunk + 1.0 if kind is Kind.CODEC else 1.0)
        own = {(p.rows, p.frames): p.seconds for p in points if p.kind is kind}
        if not own:
            fixed, each, frame = GUESSES[kind]
            return fixed + each * rows[:, None] + frame * rows[:, None] * frames[None]
        at_rows, at_frames = (sorted(set(axis)) for axis in zip(*own, strict=True))
        grid = np.array([[_nearest(own, row, frame) for frame in at_frames] for row in at_rows])
        wide = np.stack([_stretch(frames, at_frames, line) for line in grid])
        full = np.stack([_stretch(rows, at_rows, line) for line in wide.T], axis=1)
        return np.maximum(full, 1e-6)


def _nearest(points: dict[tuple[int, int], float], rows: int, frames: int) -> float:
    """The measured shape itself, or the one with the nearest product of rows and frames."""
    if (rows, frames) in points:
        return points[rows, frames]
    size = rows * max(1, frames)
    return points[min(points, key=lambda at: (abs(at[0] * max(1, at[1]) - size), at))]


def _stretch(wanted: Table, at: list[int], values: Table) -> Table:
    """Linear interpolation; beyond the last point its last slope goes on."""
    inside = np.interp(wanted, at, values)
    if len(at) < 2:
        return inside
    slope = max(0.0, float((values[-1] - values[-2]) / (at[-1] - at[-2])))
    return np.asarray(inside + slope * np.maximum(0.0, wanted - at[-1]))
