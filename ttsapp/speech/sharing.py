"""Words that are said, shared out over the words that they are written as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ttsapp.speech.text.tokens import Token, weight


@dataclass(frozen=True, slots=True)
class Heard:
    """A word as the engine was given it, and when it is spoken."""

    text: str
    start_ms: float
    end_ms: float


Span = tuple[float, float]


def shared(heard: Sequence[Heard], written: Sequence[Token]) -> list[Span]:
    """For each token, in order, from when to when it is spoken. "March 3, 2024" is "March third,
    twenty twenty four": what is said as it is written has its own time, the rest by its length."""
    if len(written) == 1:
        return [(heard[0].start_ms, heard[-1].end_ms)]
    before = _alike(heard, written)
    after = _alike(heard[before:][::-1], written[before:][::-1])
    last = len(heard) - after
    return [
        *((each.start_ms, each.end_ms) for each in heard[:before]),
        *_by_length(heard[before:last], written[before : len(written) - after]),
        *((each.start_ms, each.end_ms) for each in heard[last:]),
    ]


def _alike(heard: Sequence[Heard], written: Sequence[Token]) -> int:
    """How many are said as they are written. Something is left of both, or of neither."""
    most = min(len(heard), len(written))
    count = 0
    while count < most and _letters(heard[count].text) == _letters(written[count].text):
        count += 1
    return count if len(heard) == len(written) == count else min(count, most - 1)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold() or text


def _by_length(heard: Sequence[Heard], written: Sequence[Token]) -> Iterator[Span]:
    if not written:
        return
    wanted = _marks([weight(token.text) for token in written])
    if len(heard) < len(written):
        start, length = heard[0].start_ms, heard[-1].end_ms - heard[0].start_ms
        for begin, end in pairwise(wanted):
            yield start + begin * length, start + end * length
        return
    there = _marks([weight(each.text) for each in heard])
    first = 0
    for place, mark in enumerate(wanted[1:], 1):
        most = len(heard) - (len(written) - place)
        ends = range(first + 1, most + 1)
        end = most if place == len(written) else min(ends, key=lambda at: abs(there[at] - mark))
        yield heard[first].start_ms, heard[end - 1].end_ms
        first = end


def _marks(weights: Sequence[int]) -> list[float]:
    """Where each begins, and the last one ends, as parts of the whole."""
    total = sum(weights)
    return [done / total for done in accumulate(weights, initial=0)]
