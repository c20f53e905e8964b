"""What a reader takes for the words of a text: whatever stands between its blanks."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ttsapp.speech.text.mapped import Mapped

# Scripts that are written without blanks: each character is a word. What opens belongs to the
# character behind it, other marks to the one before.
_WIDE = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OPENING = r"(\[{«‘“‹„‚「『（《〈【〔〖［｛｟"
_TOKEN = re.compile(
    rf"[^\s{_WIDE}]+(?!\S)"
    rf"|[{_OPENING}]*[{_WIDE}][^\s\w{_OPENING}]*"
    rf"|[^\s{_WIDE}]*[^\s{_WIDE}{_OPENING}]"
    rf"|\S"
)
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
# A digit, or a character of a script without blanks, takes about as long as so many letters; a sign
# such as & as long as a short word.
_LONG, _SIGN = 4, 3


@dataclass(frozen=True, slots=True)
class Token:
    """`text` stands in the original from `start` to `end`, with markup in between at most.

    `begins_line`: it is the first behind the end of a line; `goes_on`: no blank follows it."""

    text: str
    start: int
    end: int
    begins_line: bool
    goes_on: bool

    @property
    def is_speakable(self) -> bool:
        return any(each.isalnum() for each in self.text)


def tokens(shown: Mapped, low: int = 0, high: int | None = None) -> list[Token]:
    """All that can be seen of `shown.text[low:high]`, in order: joined, with blanks where none
    `goes_on`, it is that text again."""
    text, found, place = shown.text, [], low
    for match in _TOKEN.finditer(text, low, len(text) if high is None else high):
        if any(map(_is_visible, match[0])):
            begins_line = _LINE_ENDS.search(text, place, match.start()) is not None
            place = match.end()
            goes_on = text[place : place + 1].strip() != ""
            found.append(Token(match[0], *shown.range(*match.span()), begins_line, goes_on))
    return found


def _is_visible(character: str) -> bool:
    """Private characters are, where a font has them."""
    category = unicodedata.category(character)
    return category[0] in "LNPS" or category == "Co"


def weight(text: str) -> int:
    """About how long it takes to say, in letters."""
    said = sum(_LONG if _is_long(each) else each.isalpha() for each in text)
    return said or _SIGN


def _is_long(character: str) -> bool:
    return character.isdigit() or unicodedata.east_asian_width(character) in ("W", "F")
