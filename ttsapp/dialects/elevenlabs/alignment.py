"""When characters are spoken: a word's time, spread evenly over its letters.

A blank parts two words and takes no time. On the sockets it follows every word, as the texts sent
there end in one: clients that join messages would else glue two words together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ttsapp.speech.events import Word

Timed = tuple[str, float, float]


class AnswerClock:
    """HTTP's shape, from the start of the answer's audio. Joined, the characters of an answer's
    lines are its text: the blank between two lines begins the second."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._last: Word | None = None

    def alignment(self, words: Iterable[Word]) -> dict[str, Any] | None:
        """None where no times are known."""
        found: list[Timed] = []
        for word in words:
            if self._last is not None and not self._last.goes_on:
                found.append(_blank(self._last, self._speed))
            found += _letters(word, self._speed)
            self._last = word
        if not found:
            return None
        return {
            "characters": [character for character, _, _ in found],
            "character_start_times_seconds": [round(start / 1000, 3) for _, start, _ in found],
            "character_end_times_seconds": [round(end / 1000, 3) for _, _, end in found],
        }


class MessageClock:
    """The sockets' shape, whose times begin anew with each message: where the last one's ended."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._zero = 0

    def alignment(self, words: Iterable[Word]) -> dict[str, Any] | None:
        found: list[Timed] = []
        for word in words:
            found += _letters(word, self._speed)
            if not word.goes_on:
                found.append(_blank(word, self._speed))
        if not found:
            return None
        starts = [round(start) - self._zero for _, start, _ in found]
        ends = [round(end) - self._zero for _, _, end in found]
        self._zero += ends[-1]
        return {
            "chars": [character for character, _, _ in found],
            "charStartTimesMs": starts,
            "charDurationsMs": [end - start for start, end in zip(starts, ends, strict=True)],
        }


def _blank(behind: Word, speed: float) -> Timed:
    return " ", behind.end_ms / speed, behind.end_ms / speed


def _letters(word: Word, speed: float) -> Iterator[Timed]:
    """Characters with start and end in milliseconds of what is heard."""
    start, end = word.start_ms / speed, word.end_ms / speed
    step = (end - start) / max(1, len(word.text))
    for place, character in enumerate(word.text):
        yield character, start + place * step, start + (place + 1) * step
