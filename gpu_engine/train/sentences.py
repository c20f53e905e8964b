"""Sentences as units that can be moved about: what is written beside what is said."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gpu_engine.train.holdout import key

EDGES = '.,?!;:"()'
# Words at which sentences can be cut and joined: they belong to no topic.
_JOINTS = """
a about after all and another any are as at be because been before but by can could did do does
down each every for from had has have he her his how i if in into is it its like many more most my
near no not of off on one only or our out over own she should since so some such than that the
their them then there these they this those through to under until up very was we were what when
where which while who will with without would you your
"""
_ENDINGS = """
ings ing edly ed ingly ly ies ness ments ment tions tion ions ion ers er ors or est ists ist isms
ism able ible ful less ous ive ic ical al ity ities es s y e
"""
JOINTS = frozenset(_JOINTS.split())
ENDINGS = tuple(_ENDINGS.split())
RUN = 5  # words in a row that no text shares with one to be avoided
LIKENESS = 0.6  # of the content words of a text to be avoided


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text and the words it is said with, both with their marks."""

    written: str
    spoken: str

    @property
    def core(self) -> str:
        return self.written.strip(EDGES)

    @property
    def joint(self) -> str:
        """The word itself if sentences can be joined here, else nothing."""
        word = self.written.lower()
        return word if word in JOINTS else ""

    @property
    def plain(self) -> bool:
        """Whether it is one word, said as it is written."""
        return self.written == self.spoken and self.core.replace("'", "").isalpha()

    def become(self, word: str) -> Unit:
        """Another word between the same marks."""
        changed = self.written.replace(self.core, word, 1)
        return Unit(changed, changed)


Sentence = tuple[Unit, ...]


def parse(written: str, spoken: str) -> Sentence:
    """Words that are the same on both sides are a unit each; what lies between two such words on
    one side is said for what lies between them on the other."""
    left, right = written.split(), spoken.split()
    if left == right:
        return tuple(Unit(word, word) for word in left)
    units, i, j = [], 0, 0
    for a, b, size in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        if a > i or b > j:
            units.append(Unit(" ".join(left[i:a]), " ".join(right[j:b])))
        units += [Unit(word, word) for word in left[a : a + size]]
        i, j = a + size, b + size
    return tuple(units)


def written(sentence: Sequence[Unit]) -> str:
    return " ".join(unit.written for unit in sentence)


def spoken(sentence: Sequence[Unit]) -> str:
    return " ".join(unit.spoken for unit in sentence)


def as_units(text: str) -> Iterator[Unit]:
    return (Unit(word, word) for word in text.split())


def spelled(letters: str) -> Iterator[Unit]:
    """'CAT' -> C, A, T. where a lone A is the letter, not the article."""
    for place, letter in enumerate(letters):
        mark = "." if place == len(letters) - 1 else ","
        yield Unit(letter + mark, _name(letter) + mark)


def initials(unit: Unit, letters: str) -> Unit:
    """'NGO' instead of the unit's word, between the same marks: N G O."""
    said = " ".join(map(_name, letters))
    before, after = unit.written.split(unit.core, 1)
    return Unit(f"{before}{letters}{after}", f"{before}{said}{after}")


def _name(letter: str) -> str:
    return "ay" if letter == "A" else letter


def with_articles(units: Iterable[Unit]) -> Sentence:
    """'a' before consonants and 'an' before vowels, as far as letters tell."""
    *before, last = units
    pairs = zip(before, [*before[1:], last], strict=True)
    return (*(_agreeing(unit, after.written) for unit, after in pairs), last)


def _agreeing(unit: Unit, after: str) -> Unit:
    if unit.written not in {"a", "an", "A", "An"}:
        return unit
    article = unit.written[0] + ("n" if after[:1].lower() in {*"aeio"} else "")
    return Unit(article, article)


def is_numeric(unit: Unit) -> bool:
    return any(character.isdigit() for character in unit.written)


def small(word: str) -> str:
    return word[:1].lower() + word[1:]


def shape(word: str) -> str:
    """Words of one shape can stand in for each other: same ending, same capital."""
    low = word.lower()
    long = [ending for ending in ENDINGS if low.endswith(ending) and len(low) > len(ending) + 2]
    return ("A" if word[0].isupper() else "a") + max(long, key=len, default="")


class Pool:
    """Words by shape, each of a shape drawn once before any is drawn again."""

    def __init__(self, words: Iterable[str]) -> None:
        by_shape: dict[str, list[str]] = defaultdict(list)
        for word in words:
            by_shape[shape(word)].append(word)
        self._by_shape = dict(by_shape)
        self._next: Counter[str] = Counter()

    def __contains__(self, kind: str) -> bool:
        return len(self._by_shape.get(kind, ())) > 1

    def draw(self, kind: str) -> str:
        words = self._by_shape[kind]
        word = words[self._next[kind] % len(words)]
        self._next[kind] += 1
        return word


class Avoid:
    """Texts that must not be trained on, nor anything near them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = {key(text) for text in texts}
        self._runs: set[tuple[str, ...]] = set()
        self._content: list[set[str]] = []
        self._with: dict[str, list[int]] = defaultdict(list)
        for words in (whole.split() for whole in sorted(self._whole)):
            self._runs |= set(_runs(words, RUN))
            content = _content(words)
            for word in content:
                self._with[word].append(len(self._content))
            self._content.append(content)

    def __contains__(self, text: str) -> bool:
        whole = key(text)
        words = whole.split()
        if whole in self._whole or any(run in self._runs for run in _runs(words, RUN)):
            return True
        shared = Counter(n for word in _content(words) for n in self._with.get(word, ()))
        return any(
            count > 1 and count >= LIKENESS * len(self._content[n]) for n, count in shared.items()
        )


def _runs(words: list[str], size: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(size)), strict=False)


def _content(words: list[str]) -> set[str]:
    return {word for word in words if word not in JOINTS and not re.fullmatch(r"\d+", word)}
