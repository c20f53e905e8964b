"""Rules that say how something written is spoken, applied once and in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ttsapp.speech.text.mapped import Mapped


@dataclass(frozen=True, slots=True)
class Rule:
    """`say` gives the words for a match, or None to leave it as it is. `kind` names the rule in
    the coverage tables."""

    kind: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str | None]


def rule(kind: str, pattern: str, say: Callable[[re.Match[str]], str | None]) -> Rule:
    return Rule(kind, re.compile(pattern), say)


def applied(text: Mapped, rules: Sequence[Rule]) -> Mapped:
    """What one rule has put into words, no later one touches."""
    edits: list[tuple[int, int, str]] = []
    taken = bytearray(len(text.text))
    for each in rules:
        for match in each.pattern.finditer(text.text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            words = each.say(match)
            if words is not None and words != match[0]:
                edits.append((start, end, words))
                taken[start:end] = b"\1" * (end - start)
    return text.edited(sorted(edits))
