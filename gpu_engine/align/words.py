"""A text's words, each with the letters that an aligner can listen for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# A character of these scripts is a word by itself.
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+")
_APOSTROPHES = str.maketrans("\u2019\u02bc\u00b4`", "''''")
_MARKS = ".,;:!?\"'()[]\u201c\u201d\u2018\u2019\u2026\u2014-"
# Signs that a voice may say, or may pass over: whichever it does is heard, not known.
_SIGNS = frozenset("&%@#*+=/\\<>~^|§°$€£¥\u00d7÷±≈≠≤≥")
# A digit takes about as long to say as so many letters, a sign as a short word.
_DIGIT_LETTERS, _SIGN_LETTERS = 4, 3


@dataclass(frozen=True, slots=True)
class Written:
    """`text[first:end]`. `letters`: how it sounds, letter by letter; empty where its spelling does
    not tell, as of a number that nothing reads. `weight`: how long it takes, in letters."""

    first: int
    end: int
    letters: str
    weight: int


Reader = Callable[[str], str | None]


def as_spelled(word: str) -> None:
    """Knows no number and no initials."""


def written(text: str, alphabet: str, read: Reader = as_spelled) -> list[Written]:
    """The words in which something can be said, signs that stand alone among them; punctuation
    belongs to the word it touches. `read` says what does not sound as it is spelled."""
    return list(_written(text, alphabet, read))


def _written(text: str, alphabet: str, read: Reader) -> Iterator[Written]:
    for match in _WORD.finditer(text):
        said = read(match[0].strip(_MARKS))
        sounds = [each for each in _folded(said or match[0]) if each.isalnum() or each == "'"]
        if not any(each.isalnum() for each in sounds):
            if _SIGNS.intersection(match[0]):
                yield Written(match.start(), match.end(), "", _SIGN_LETTERS)
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
