"""The engine's words as those of the text that the client wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gpu_engine.proto import engine_pb2
from ttsapp.speech.encoders.samples import SAMPLE_RATE
from ttsapp.speech.text.mapped import Written

_MS = 1000 / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as written, and when it is spoken: milliseconds of its segment's audio, not rounded
    before they lie on a clock that somebody is told."""

    text: str
    start_ms: float
    end_ms: float


# From a range of the engine's text to what it was written as.
Original = Callable[[int, int], Written]


@dataclass(frozen=True, slots=True)
class _Part:
    """Engine words, `first` to `end` of its text, that are one word of the original so far."""

    first: int
    end: int
    written: Written
    start_ms: float
    end_ms: float

    @property
    def is_whole(self) -> bool:
        """Whether the next word cannot belong to it: said as it is written, and a blank follows."""
        return not (self.written.goes_on or self.written.is_reworded)

    def takes(self, later: _Part) -> bool:
        """ "$45" is said in several words, and so is "R&D"; "你好" is two without blanks."""
        place = later.written.start
        return place < self.written.end or (place == self.written.end and later.first > self.end)

    @property
    def word(self) -> SpokenWord:
        return SpokenWord(self.written.text, self.start_ms, self.end_ms)


class Telling:
    """For one segment. Each of its words is told once, in order, when all of it is known."""

    def __init__(self, original: Original) -> None:
        self._original = original
        self._open: _Part | None = None

    def tell(self, words: Sequence[engine_pb2.Word]) -> list[SpokenWord]:
        """The words that are known now; the rest with the next ones, or in the end."""
        return [part.word for word in words for part in self._take(word)]

    def finish(self) -> list[SpokenWord]:
        part, self._open = self._open, None
        return [] if part is None else [part.word]

    def _take(self, word: engine_pb2.Word) -> Iterator[_Part]:
        part = self._part(word.first_character, word.end_character, word.first_sample * _MS, word)
        if not part.written.text:
            return
        if (before := self._open) is not None:
            if before.takes(part):
                part = self._part(before.first, part.end, before.start_ms, word)
            else:
                yield before
        self._open = None if part.is_whole else part
        if part.is_whole:
            yield part

    def _part(self, first: int, end: int, start_ms: float, last: engine_pb2.Word) -> _Part:
        return _Part(first, end, self._original(first, end), start_ms, last.end_sample * _MS)


def as_written(text: Callable[[], str]) -> Original:
    """Of a text that is spoken as it stands."""
    return lambda start, end: Written.of(text(), start, end)
