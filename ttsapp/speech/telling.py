"""The engine's words as those of the text that the client wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpu_engine.proto import engine_pb2
from ttsapp.speech.encoders.samples import SAMPLE_RATE
from ttsapp.speech.events import Word, Words
from ttsapp.speech.sharing import Heard, shared
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.tokens import Token, tokens

_MS = 1000 / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as written, and when it is spoken: milliseconds of its segment's audio, not rounded
    before they lie on a clock that somebody is told. `goes_on`: the next one is written onto it."""

    text: str
    start_ms: float
    end_ms: float
    goes_on: bool = False


# What the engine was given so far, and what is written of it: both say for what of the original.
Texts = Callable[[], tuple[Mapped, Sequence[Token]]]


class Telling:
    """For one segment. Every word that is written is told once, in order, when all of it is known:
    what is heard of it may be several words, or words that stand for several ("R&D", "5 %").

    What is not heard at all (a dash, an emoji) has no length. It stands where the word before it
    ends, or, at the beginning of a line, where the next one begins."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._heard: list[Heard] = []
        # Of what is written: all before `_first` has been told, up to `_last` it is being said.
        self._first = self._last = 0
        self._end_ms: float | None = None

    def tell(self, words: Sequence[engine_pb2.Word]) -> list[SpokenWord]:
        """The words that are known now; the rest with the next ones, or in the end."""
        if not words:
            return []
        spoken, written = self._texts()
        return [each for word in words for each in self._take(word, spoken, written)]

    def finish(self) -> list[SpokenWord]:
        """What is written behind the last word that was heard is told up to the next that could be:
        of a speech that was cut no more has been spoken."""
        _, written = self._texts()
        told = [*self._close(written)]
        if self._end_ms is not None:
            end = self._first
            while end < len(written) and not written[end].is_speakable:
                end += 1
            told += self._silent(written[self._first : end], self._end_ms, self._end_ms)
            self._first = self._last = end
        return told

    def _take(
        self, word: engine_pb2.Word, spoken: Mapped, written: Sequence[Token]
    ) -> Iterator[SpokenWord]:
        first, end = word.first_character, word.end_character
        start, stop = spoken.range(first, end)
        heard = Heard(spoken.text[first:end], word.first_sample * _MS, word.end_sample * _MS)
        low = self._first
        while low < len(written) and written[low].end <= start:
            low += 1
        if low == len(written) or written[low].start >= stop:
            return
        if self._heard and low >= self._last:
            yield from self._close(written)
        if not self._heard:
            before, self._first = written[self._first : low], low
            yield from self._silent(before, self._end_ms, heard.start_ms)
        self._heard.append(heard)
        while self._last < len(written) and written[self._last].start < stop:
            self._last += 1
        # Said as it is written, to its end: the next word cannot belong to it.
        is_itself = spoken.starts[first:end] == tuple(range(start, stop))
        if is_itself and written[self._last - 1].end <= stop:
            yield from self._close(written)

    def _close(self, written: Sequence[Token]) -> Iterator[SpokenWord]:
        if self._heard:
            told = written[self._first : self._last]
            for token, span in zip(told, shared(self._heard, told), strict=True):
                yield SpokenWord(token.text, *span, token.goes_on)
            self._end_ms = self._heard[-1].end_ms
            self._heard, self._first = [], self._last

    def _silent(
        self, written: Sequence[Token], before_ms: float | None, after_ms: float
    ) -> Iterator[SpokenWord]:
        at = after_ms if before_ms is None else before_ms
        for token in written:
            at = after_ms if token.begins_line else at
            yield SpokenWord(token.text, at, at, token.goes_on)


def as_written(text: Callable[[], str]) -> Texts:
    """Of a text that is spoken as it stands, and may still grow."""

    # Words are told several times a second, mostly with no more text than the last time.
    @lru_cache(maxsize=1)
    def read(so_far: str) -> tuple[Mapped, list[Token]]:
        itself = Mapped.of(so_far)
        return itself, tokens(itself)

    return lambda: read(text())


def placed(spoken: list[SpokenWord], begins_ms: float) -> Words:
    """On the context's clock, on which their segment begins so late."""
    return Words(
        tuple(
            Word(
                word.text,
                round(begins_ms + word.start_ms),
                round(begins_ms + word.end_ms),
                word.goes_on,
            )
            for word in spoken
        )
    )


def unsaid(text: str, at_ms: int) -> tuple[Word, ...]:
    """Signs that nobody says."""
    found = tokens(Mapped.of(text))
    return tuple(Word(each.text, at_ms, at_ms, each.goes_on) for each in found)
