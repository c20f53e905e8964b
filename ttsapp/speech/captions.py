"""Words as captions: SubRip and WebVTT."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ttsapp.speech.events import Word

CONTENT_TYPES = {"srt": "application/x-subrip", "vtt": "text/vtt"}
FORMATS = tuple(CONTENT_TYPES)

# What is read at a glance: two lines, for no more than so long, without a silence in it.
_LINE, _LINES = 42, 2
_LONGEST_MS, _SILENCE_MS = 7000, 800
_ENDS = (".", "!", "?", "…", "。", "！", "？")  # noqa: RUF001
_CLOSING = "\"'”’)]»』」"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Cue:
    text: str
    start_ms: int
    end_ms: int


def captions(words: Sequence[Word], name: str) -> str:
    """`name`: srt or vtt. Times are the words'."""
    cues = list(cut(words))
    return _srt(cues) if name == "srt" else _vtt(cues)


def cut(words: Iterable[Word]) -> Iterator[Cue]:
    """Cues end with sentences, before silences, and before they grow too long to read."""
    held: list[Word] = []
    for word in words:
        if held and _begins(held, word):
            yield _cue(held)
            held = []
        held.append(word)
    if held:
        yield _cue(held)


def _begins(held: Sequence[Word], word: Word) -> bool:
    last = held[-1]
    return (
        last.text.rstrip(_CLOSING).endswith(_ENDS)
        or word.start_ms - last.end_ms >= _SILENCE_MS
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
        blank = "" if not text or (_is_wide(text[-1]) and _is_wide(word.text[0])) else " "
        text += blank + word.text
    return text


def _is_wide(character: str) -> bool:
    """Whether its script is written without blanks."""
    return unicodedata.east_asian_width(character) in ("W", "F")


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
