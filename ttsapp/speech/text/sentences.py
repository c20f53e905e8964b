"""Where a sentence ends, decided from what is there of the text so far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ttsapp.speech.text.abbreviations import LEADING, NUMBERING, STARTERS, TRAILING

# A letter or a digit of any script: what can be spoken.
SPEAKABLE = re.compile(r"[^\W_]")

_CLOSERS = "\"'”’»›)]}」』）】》〉］｝"
_END = re.compile(
    rf"(?P<stop>[。！？｡︒]+[…⋯.!?。！？]*[{re.escape(_CLOSERS)}]*)\s*"
    rf"|(?P<spaced>[.!?…؟۔।॥‼⁇⁈⁉]+[{re.escape(_CLOSERS)}]*)(?:\s+|\Z)"
    r"|(?P<blank>\n[^\S\n]*\n\s*)"
)
_WORD_BEFORE = re.compile(r"[^\s\"'“”‘’«»()\[\]{}<>/]*\Z")
_NEXT_WORD = re.compile(r"[^\W_][\w’']*")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
_LIST_NUMBER = re.compile(r"\n\s*\(?(?:\d{1,3}|[a-zA-Z])\Z")

# A first word this long is taken as it stands: none of the words that matter is longer.
_LONGEST_STARTER = 24
_LONGEST_ABBREVIATION = 40
_LONGEST_LIST_NUMBER = 8


@dataclass(frozen=True, slots=True)
class End:
    """`content` is behind the last mark, `next` where the next sentence begins."""

    content: int
    next: int


class Undecided(Exception):
    """What has come so far does not prove where the sentence ends."""


class _Kind(Enum):
    """What the word before a full stop makes of it."""

    PLAIN = "ends the sentence"
    LEADING = "never ends one"
    TRAILING = "ends one if another begins"


@dataclass(frozen=True, slots=True)
class View:
    """The text so far, read from `start`; `is_final`: nothing will follow. `language`: a code."""

    text: str
    start: int
    language: str
    is_final: bool


def ends(view: View, limit: int) -> Iterator[End]:
    """The sentence ends with a content end in front of `limit`, none at the text's own end.

    Raises Undecided at the first one that later text could still change."""
    for match in _marks(view, limit):
        kind = match.lastgroup or ""
        content = match.start() if kind == "blank" else match.end(kind)
        speech = SPEAKABLE.search(view.text, match.end())
        if speech is None:
            if view.is_final:
                return
            raise Undecided
        if kind != "spaced" or _ends_here(view, match, speech.start()):
            yield End(content, match.end())


def leads_on(text: str, stop: int, language: str) -> bool:
    """Whether the mark there belongs to a word that never ends a sentence, as in "Dr. ": what can
    be told before anything follows."""
    word = _WORD_BEFORE.search(text, max(0, stop - _LONGEST_ABBREVIATION), stop)
    return text[stop] == "." and word is not None and word[0].casefold() in LEADING[language]


def _marks(view: View, limit: int) -> Iterator[re.Match[str]]:
    # Bounded, or a long text without full stops would be read once for each of its pieces.
    for near in _END.finditer(view.text, view.start, limit):
        if match := _END.match(view.text, near.start()):
            yield match


def _ends_here(view: View, match: re.Match[str], speech: int) -> bool:
    marks = match["spaced"]
    stop = marks.rstrip(_CLOSERS)
    goes_small = view.text[speech].islower() and speech == match.end()
    if stop != ".":
        # '"Really?" she said' and 'well... perhaps' go on.
        return not (goes_small and (stop != marks or "." in stop or "…" in stop))
    if stop != marks and goes_small:
        return False
    word = _word_before(view, match.start())
    kind = _kind(view, match.start(), word, speech)
    if kind is not _Kind.TRAILING:
        return kind is _Kind.PLAIN
    return not goes_small and _starts_sentence(view, speech)


def _word_before(view: View, stop: int) -> str:
    found = _WORD_BEFORE.search(view.text, max(view.start, stop - _LONGEST_ABBREVIATION), stop)
    return found[0] if found else ""


def _kind(view: View, stop: int, word: str, speech: int) -> _Kind:
    small, language = word.casefold(), view.language
    if _LIST_NUMBER.search(_line_before(view, stop)):
        return _Kind.LEADING
    if small in LEADING[language]:
        return _Kind.LEADING
    if small in NUMBERING[language] and view.text[speech].isdigit():
        return _Kind.LEADING
    if small in TRAILING[language] or _DOTTED.match(small):
        return _Kind.TRAILING
    if len(word) == 1 and word.isalpha():
        return _Kind.PLAIN if language == "en" and small == "i" else _Kind.TRAILING
    is_ordinal = language == "de" and word.isdigit() and len(word) <= 2
    return _Kind.TRAILING if is_ordinal else _Kind.PLAIN


def _line_before(view: View, stop: int) -> str:
    """The last few characters, with a line break where the sentence begins."""
    begin = stop - _LONGEST_LIST_NUMBER
    return "\n" + view.text[view.start : stop] if begin <= view.start else view.text[begin:stop]


def _starts_sentence(view: View, speech: int) -> bool:
    found = _NEXT_WORD.match(view.text, speech, speech + _LONGEST_STARTER)
    if found is None:
        return False
    if found.end() == len(view.text) and not view.is_final:
        raise Undecided
    return found[0].casefold() in STARTERS[view.language]
