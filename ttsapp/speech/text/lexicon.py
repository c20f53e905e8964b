"""A tenant's own pronunciations: words, and what is said in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.rules import Rule

Tree = dict[str, "Tree"]
_END = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """`language`: a code, or empty for every language."""

    word: str
    alias: str
    language: str = ""
    is_case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Entries of one language, ready to be used; `version` changes when any of them does."""

    version: int
    exact: dict[str, str] = field(default_factory=dict)
    folded: dict[str, str] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Whole words, the longest first. They come before any other rule, and none follows."""
        return (Rule("lexicon", self.pattern, self._said),) if self.pattern else ()

    def aliases(self, text: Mapped) -> list[Mapped]:
        """What the rules say in the text, each for the range of the original it stands for."""
        found = self.pattern.finditer(text.text) if self.pattern else ()
        said = ((match, self._said(match)) for match in found)
        return [
            Mapped.instead(alias, *text.range(*match.span()))
            for match, alias in said
            if alias != match[0]
        ]

    def _said(self, match: re.Match[str]) -> str:
        word = match[0]
        return self.exact.get(word) or self.folded.get(word.casefold()) or word


EMPTY = Lexicon(0)


def compiled(entries: Iterable[Entry], language: str, version: int) -> Lexicon:
    """What of a tenant's entries holds in that language; its own come before those for all."""
    chosen = [entry for entry in entries if entry.language in ("", language)]
    chosen.sort(key=lambda entry: entry.language != "")
    exact = {entry.word: entry.alias for entry in chosen if entry.is_case_sensitive}
    folded = {entry.word.casefold(): entry.alias for entry in chosen if not entry.is_case_sensitive}
    if not chosen:
        return Lexicon(version)
    return Lexicon(version, exact, folded, _pattern({entry.word for entry in chosen}))


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Matches the longest of the words at each place, whatever their number: they are laid out as
    a tree of their characters, so that a place costs no more than the longest word."""
    bounded: Tree = {}
    unbounded: Tree = {}
    for word in words:
        tree = bounded if _is_bounded(word[0]) else unbounded
        for character in word:
            tree = tree.setdefault(character, {})
        tree[_END] = {}
    sides = ((r"(?<!\w)", bounded), ("", unbounded))
    return re.compile("|".join(b + _branches(tree, "") for b, tree in sides if tree), re.IGNORECASE)


def _branches(tree: Tree, last: str) -> str:
    """Longer words come before the one that ends here, which is bounded where it ends with a
    letter; not in scripts without blanks."""
    found = [
        re.escape(character) + _branches(inner, character)
        for character, inner in sorted(tree.items())
        if character != _END
    ]
    if _END in tree:
        found.append(r"(?!\w)" if _is_bounded(last) else "")
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _is_bounded(char: str) -> bool:
    return char.isalnum() and not "\u2e80" <= char <= "\u9fff" and not "\u3040" <= char <= "\u30ff"
