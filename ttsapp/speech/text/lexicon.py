"""A tenant's own pronunciations: words, and what is said in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ttsapp.speech.text.rules import Rule


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
    words = sorted({entry.word for entry in chosen}, key=len, reverse=True)
    pattern = re.compile("|".join(map(_whole_word, words)), re.IGNORECASE)
    return Lexicon(version, exact, folded, pattern)


def _whole_word(word: str) -> str:
    """Bounded where the word begins and ends with a letter; not in scripts without blanks."""
    before = r"(?<!\w)" if _is_bounded(word[0]) else ""
    after = r"(?!\w)" if _is_bounded(word[-1]) else ""
    return f"{before}{re.escape(word)}{after}"


def _is_bounded(char: str) -> bool:
    return char.isalnum() and not "\u2e80" <= char <= "\u9fff" and not "\u3040" <= char <= "\u30ff"
