"""Where a sentence that is too long is cut: as late as it may be, where it is heard least."""

from __future__ import annotations

import re
import unicodedata

_STRONG = re.compile(r"(?:[;:](?=\s)|[；：]|\s[–—-](?=\s)|—|\n)\s*")
_CLAUSE = re.compile(r"(?:[,;:)\]](?=\s)|[，、；：）」』]|\s[–—-](?=\s)|—|\n)\s*")
_SPACE = re.compile(r"\s+")

# A blank, a dash and a blank.
_LONGEST_MARK = 3
_JOINERS = "\u200c\u200d"
_TAGS = ("<break", "[pause")
_NEVER_FIRST = frozenset("。！？，、；：．,.;:!?…）」』】》〉)]}”’'\"%‰°")


def cut(text: str, first: int, origin: int, limit: int, content: int | None) -> int:
    """The end of a piece of at most `limit` characters from `origin`, behind `first` at least.

    `content`: where the sentence ends, None when that is far: its rest shall not be tiny."""
    high = origin + limit
    low = max(first, origin + limit // 4)
    if content is not None:
        high = max(low, min(high, content - limit // 4))
    half = max(low, origin + limit // 2)
    for pattern, begin in ((_STRONG, half), (_CLAUSE, low), (_SPACE, low)):
        if found := _last(pattern, text, begin, high):
            return _before_tag(text, found, low)
    return _between_characters(text, low, min(high, len(text)))


def _before_tag(text: str, place: int, low: int) -> int:
    """No piece ends inside of a tag for a pause."""
    opened = max(text.rfind(tag, low + 1, place) for tag in _TAGS)
    inside = opened >= 0 and not any(mark in text[opened:place] for mark in ">]")
    return opened if inside else place


def _last(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """The last end of a match within the bounds; 0 without one."""
    found = 0
    # Bounded, or a long text without such marks would be read once for each of its pieces.
    for near in pattern.finditer(text, max(0, low - 2), high + _LONGEST_MARK):
        match = pattern.match(text, near.start())
        # Blanks at a piece's end are not spoken, so they may reach over the limit.
        if match is not None and match.start() < high and match.end() > low:
            found = match.end()
    return found


def _between_characters(text: str, low: int, high: int) -> int:
    """Never inside what is seen as one character, and no closing mark begins a piece."""
    place = high
    while place > low and _belongs_to_previous(text, place):
        place -= 1
    return place if place > low else high


def _belongs_to_previous(text: str, place: int) -> bool:
    if place >= len(text):
        return False
    here = text[place]
    return (
        unicodedata.category(here)[0] == "M"
        or here in _JOINERS
        or here in _NEVER_FIRST
        or text[place - 1] in _JOINERS
        or (here.isdigit() and text[place - 1].isdigit())
    )
