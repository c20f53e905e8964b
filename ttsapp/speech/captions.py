"""Words as captions: SubRip and WebVTT."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ttsapp.speech.events import Word
from ttsapp.speech.text import languages
from ttsapp.speech.text.segments import sentences

CONTENT_TYPES = {"srt": "application/x-subrip", "vtt": "text/vtt"}
FORMATS = tuple(CONTENT_TYPES)

# What is read at a glance: two lines, for no more than so long, without a silence in it.
_LINE, _LINES = 42, 2
_LONGEST_MS, _SILENCE_MS = 7000, 800


@dataclass(frozen=True, slots=True)
class Cue:
    text: str
    start_ms: int
    end_ms: int


def captions(words: Sequence[Word], name: str, language: str = languages.AUTO) -> str:
    """`name`: srt or vtt. Times are the words'; `language`: what tells a sentence's end from an
    abbreviation's."""
    cues = list(cut(words, language))
    return _srt(cues) if name == "srt" else _vtt(cues)


def cut(words: Sequence[Word], language: str = languages.AUTO) -> Iterator[Cue]:
    """Cues end with sentences, before silences, and before they grow too long to read."""
    held: list[Word] = []
    has_ended = False
    for word, is_first in zip(words, _first_of_sentences(words, language), strict=True):
        has_ended = has_ended or is_first
        if held and not _belongs(word, held[-1]) and (has_ended or _is_full(held, word)):
            yield _cue(held)
            held = []
        has_ended = has_ended and bool(held)
        held.append(word)
    if held:
        yield _cue(held)


def _first_of_sentences(words: Sequence[Word], language: str) -> Iterator[bool]:
    """The rule by which the text is cut to be spoken."""
    ends = accumulate(len(sentence) for sentence in sentences(_joined(words), language))
    begin, end = 0, 0
    for word in words:
        yield begin >= end
        while begin >= end:
            end = next(ends, begin + 1)
        begin += len(word.text) + (not word.goes_on)


def _belongs(word: Word, last: Word) -> bool:
    """Nobody says it: it stays with what it follows."""
    return word.start_ms == word.end_ms == last.end_ms


def _is_full(held: Sequence[Word], word: Word) -> bool:
    return (
        word.start_ms - held[-1].end_ms >= _SILENCE_MS
        or word.end_ms - held[0].start_ms > _LONGEST_MS
        or len(_joined([*held, word])) > _LINE * _LINES
    )


def _cue(words: Sequence[Word]) -> Cue:
    return Cue(_lines(words), words[0].start_ms, max(words[-1].end_ms, words[0].start_ms + 1))


def _lines(words: Sequence[Word]) -> str:
    """One line, or two of about a length."""
    whole = _joined(words)
    if len(whole) <= _LINE or len(words) == 1:
        return whole
    halves = [(_joined(words[:at]), _joined(words[at:])) for at in range(1, len(words))]
    first, second = min(halves, key=lambda pair: abs(len(pair[0]) - len(pair[1])))
    return f"{first}\n{second}"


def _joined(words: Sequence[Word]) -> str:
    text = ""
    for word in words:
        text += word.text if word.goes_on else f"{word.text} "
    return text.rstrip()


def _srt(cues: Sequence[Cue]) -> str:
    blocks = [
        f"{number}\n{_clock(cue.start_ms, ',')} --> {_clock(cue.end_ms, ',')}\n{cue.text}\n"
        for number, cue in enumerate(cues, 1)
    ]
    return "\n".join(blocks)


def _vtt(cues: Sequence[Cue]) -> str:
    blocks = [
        f"{_clock(cue.start_ms, '.')} --> {_clock(cue.end_ms, '.')}\n"
        f"{html.escape(cue.text, quote=False)}\n"
        for cue in cues
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def _clock(milliseconds: int, point: str) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{point}{rest:03}"
