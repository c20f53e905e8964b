"""A prompt cut into parts, so that a long one that is new never holds others up for long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Reading(StrEnum):
    """What a part does: the codec hears frames of the reference, or the Talker reads positions,
    those that can be kept for the next prompt or those that are this text's own."""

    HEAR = "hear"
    BEGIN = "begin"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Part:
    """From `start` to before `end`; `last` of its kind. `cost` 1 is as much as one job may do."""

    reading: Reading
    start: int
    end: int
    last: bool
    cost: float


def cut(reading: Reading, start: int, end: int, size: int) -> Iterator[Part]:
    """Parts of at most `size`. Nothing where there is nothing to do."""
    for at in range(start, end, size):
        stop = min(at + size, end)
        yield Part(reading, at, stop, stop == end, (stop - at) / size)


def packed(parts: Iterable[Part]) -> Iterator[tuple[Part, ...]]:
    """Jobs: neighbours go together where one job may do both."""
    job: list[Part] = []
    for part in parts:
        if job and sum(each.cost for each in job) + part.cost > 1:
            yield tuple(job)
            job.clear()
        job.append(part)
    if job:
        yield tuple(job)
