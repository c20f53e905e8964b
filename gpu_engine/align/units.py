"""A text's words as the forced aligner was taught to mark them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Each of these is marked by itself.
_IDEOGRAPH = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf"
)
_UNIT = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]+")
# Written without blanks between words, or with endings that are words: dividing them takes a
# dictionary of the language.
_UNDIVIDED = re.compile("[\u3040-\u30ff\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
UNDIVIDED_LANGUAGES = frozenset({"japanese", "korean"})


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[first:end]`, and what the model reads of it: letters, digits and apostrophes."""

    first: int
    end: int
    read: str

    @property
    def is_said(self) -> bool:
        return any(each.isalnum() for each in self.read)


def units(text: str) -> list[Unit]:
    """Punctuation belongs to the word it touches."""
    found = (
        Unit(match.start(), match.end(), "".join(filter(_is_read, match[0])))
        for match in _UNIT.finditer(text)
    )
    return [unit for unit in found if unit.read]


def _is_read(character: str) -> bool:
    return character == "'" or unicodedata.category(character)[0] in "LN"


def is_divided(text: str) -> bool:
    """Whether most of its letters are of scripts whose words can be told apart here."""
    letters = [each for each in text if each.isalpha()]
    return 2 * sum(_UNDIVIDED.match(each) is not None for each in letters) <= len(letters)
