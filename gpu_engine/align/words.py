"""A text's words, each with the letters that an aligner can listen for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# A character of these scripts is a word by itself.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+")
_APOSTROPHES = str.maketrans("\u2019\u02bc\u00b4`", "''''")
# A digit takes about as long to say as so many letters.
_DIGIT_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Written:
    """`text[first:end]`. `letters`: how it sounds, letter by letter; empty where its spelling does
    not tell, as of numbers. `weight`: how long it takes, in letters."""

    first: int
    end: int
    letters: str
    weight: int


def written(text: str, alphabet: str) -> list[Written]:
    """The words in which something can be said; punctuation belongs to the word it touches."""
    return list(_written(text, alphabet))


def _written(text: str, alphabet: str) -> Iterator[Written]:
    for match in _WORD.finditer(text):
        sounds = [each for each in _folded(match[0]) if each.isalnum() or each == "'"]
        if not any(each.isalnum() for each in sounds):
            continue
        known = all(each in alphabet for each in sounds)
        letters = "".join(sounds).strip("'") if known else ""
        weight = sum(_DIGIT_LETTERS if each.isdigit() else 1 for each in sounds)
        yield Written(match.start(), match.end(), letters, weight)


def _folded(word: str) -> str:
    """Lower case, without accents."""
    apart = unicodedata.normalize("NFKD", word.translate(_APOSTROPHES)).casefold()
    return "".join(each for each in apart if not unicodedata.combining(each))


def is_heard(text: str, alphabet: str) -> bool:
    """Whether most letters of the text are in the aligner's alphabet: the words between them are
    then found by what they lie between. Numbers are read out, so they are in any."""
    letters = [each for each in _folded(text) if each.isalpha()]
    return 2 * sum(each in alphabet for each in letters) >= len(letters)
