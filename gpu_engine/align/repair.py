"""Times that are told one by one, and out of order at times, made to go forward."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A run of so few outliers takes the times beside it; a longer one is spread between them.
_FEW = 2


def forward(times: Sequence[float]) -> list[int]:
    """The longest part that goes forward stays; the others take its times or what lies between."""
    kept = _longest(np.asarray(times, np.float64))
    if not kept:
        return []
    repaired = [float(time) for time in times]
    for before, after in zip([-1, *kept], [*kept, len(times)], strict=True):
        low = times[before] if before >= 0 else None
        high = times[after] if after < len(times) else None
        repaired[before + 1 : after] = _between(low, high, after - before - 1)
    return [int(time) for time in repaired]


def _between(low: float | None, high: float | None, count: int) -> list[float]:
    if low is None or high is None:
        beside = high if low is None else low
        assert beside is not None, "something always goes forward"
        return [beside] * count
    if count <= _FEW:
        return [low if place < count / 2 else high for place in range(count)]
    step = (high - low) / (count + 1)
    return [low + step * (place + 1) for place in range(count)]


def _longest(times: NDArray[np.float64]) -> list[int]:
    """The first of the longest subsequences that never go back: its places."""
    count = len(times)
    lengths, parents = np.ones(count, np.int64), np.full(count, -1)
    for place in range(1, count):
        reach = np.where(times[:place] <= times[place], lengths[:place], 0)
        best = int(reach.argmax())
        if reach[best]:
            lengths[place], parents[place] = reach[best] + 1, best
    place = int(lengths.argmax()) if count else -1
    kept: list[int] = []
    while place >= 0:
        kept.append(place)
        place = int(parents[place])
    return kept[::-1]
