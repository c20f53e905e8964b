"""Takes to figures: nearest-rank percentiles, underruns, rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gpu_engine.bench.client import Take
from gpu_engine.bench.playback import RATE, play

PERCENTILES = (50, 95, 99)


def percentile(values: Sequence[float], wanted: float) -> float:
    """Nearest rank: always one of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(wanted / 100 * len(ordered)) - 1)]


def percentiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{wanted}": percentile(values, wanted) for wanted in PERCENTILES} if values else {}


def summarize(takes: Sequence[Take], window: float) -> dict[str, Any]:
    """All that a table or a plot may want; times in ms unless named otherwise."""
    good = [take for take in takes if not take.failure and take.arrivals]
    plays = [play(take.arrivals, bytes(take.pcm)) for take in good]
    audible = [_ms(played.first_audible) for played in plays if played.first_audible is not None]
    audio = sum(take.samples for take in good) / RATE
    return {
        "requests": len(takes),
        "failed": len(takes) - len(good),
        "failures": sorted({take.failure for take in takes if take.failure}),
        "silent": len(good) - len(audible),
        "first_byte_ms": percentiles([_ms(played.first_byte) for played in plays]),
        "first_audible_ms": percentiles(audible),
        "end_to_end_ms": percentiles([_ms(take.total) for take in good]),
        "underruns": sum(bool(played.gaps) for played in plays),
        "worst_gap_ms": _ms(max((played.worst_gap for played in plays), default=0.0)),
        "characters_per_s": round(sum(len(take.text) for take in good) / window, 1),
        "audio_s_per_s": round(audio / window, 2),
        "raw_first_audible_ms": audible,
        "raw_real_time_factor": [real_time_factor(take) for take in good],
    }


def real_time_factor(take: Take) -> float:
    """Seconds of work a second of speech: below one, it is faster than it plays."""
    return round(take.total / (take.samples / RATE), 4)


def lead(take: Take) -> list[tuple[float, float]]:
    """(seconds since sent, seconds of audio ahead of the playback clock): just before and just
    after each arrival, so that a stream that runs dry is seen below zero."""
    start, had = take.arrivals[0][0], 0.0
    points = []
    for at, received in take.arrivals:
        played = at - start
        points += [(at, had - played), (at, received / RATE - played)]
        had = received / RATE
    return points


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 2)
