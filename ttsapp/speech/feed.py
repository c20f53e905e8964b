"""From text as it is written to the pieces that the engine is given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ttsapp.speech.order import is_speakable
from ttsapp.speech.text import languages
from ttsapp.speech.text.segments import Segmenter
from ttsapp.speech.text.sentences import leads_on


class TextMode(StrEnum):
    """How live text is spoken: a sentence once it is whole, or each word as it comes."""

    SENTENCE = "sentence"
    TOKEN = "token"


@dataclass(frozen=True, slots=True)
class Piece:
    """Text for the engine stream that is open, or for a new one; `is_last`: then it ends."""

    text: str
    is_last: bool


class Feed(Protocol):
    """Pieces joined are the text. One without anything to say begins no stream."""

    def push(self, text: str) -> list[Piece]: ...

    def flush(self) -> list[Piece]:
        """What is left of this turn of the text, which ends its engine stream."""


class SentenceFeed:
    """A stream for each part of whole sentences: while text is awaited, no engine slot is held."""

    def __init__(self, limit: int, language: str) -> None:
        self._segmenter = Segmenter(limit, language)

    def push(self, text: str) -> list[Piece]:
        return [Piece(part, True) for part in self._segmenter.push(text)]

    def flush(self) -> list[Piece]:
        return [Piece(part, True) for part in self._segmenter.flush()]


# As many characters as a sentence's marks, and the word before them, have.
_MARKS = 48


class TokenFeed:
    """Text goes to the open stream at once. The stream ends behind a sentence once it holds half
    of `limit` characters, at a blank once it holds all of them, and anywhere at half as many more.
    """

    _SENTENCE = re.compile(r"(?:[.!?…][\"'”’)\]]*\s+|[。！？][”’」』）]*)")  # noqa: RUF001

    def __init__(self, limit: int, language: str) -> None:
        self._limit = limit
        self._language = languages.code(language)
        self._length = 0
        self._held = ""
        # The end of what has been given, where the marks of a sentence may have been.
        self._given = ""

    def push(self, text: str) -> list[Piece]:
        self._held += text
        pieces = []
        while self._held and (self._length or is_speakable(self._held)):
            end = self._end()
            taken, self._held = self._held[: end or None], self._held[end:] if end else ""
            self._length = 0 if end else self._length + len(taken)
            self._given = "" if end else (self._given + taken)[-_MARKS:]
            pieces.append(Piece(taken, end > 0))
        return pieces

    def flush(self) -> list[Piece]:
        held, is_streaming = self._held, self._length > 0
        self._length, self._held, self._given = 0, "", ""
        return [Piece(held, True)] if held or is_streaming else []

    def _end(self) -> int:
        """Where in the held text the stream ends; 0: not there."""
        given, most = len(self._given), max(1, self._limit * 3 // 2 - self._length)
        near = self._given + self._held
        for match in self._SENTENCE.finditer(near):
            end = match.end() - given
            is_there = 0 < end <= most and self._length + end >= self._limit // 2
            if is_there and not leads_on(near, match.start(), self._language):
                return end
        room = max(0, self._limit - self._length)
        if blank := self._held.find(" ", room, most) + 1:
            return blank
        return most if len(self._held) > most else 0


def feed(mode: TextMode, limit: int, language: str) -> Feed:
    return TokenFeed(limit, language) if mode is TextMode.TOKEN else SentenceFeed(limit, language)
