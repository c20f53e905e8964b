"""What is charged for a request; docs/billing.md has the rules and worked examples."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# How long a character takes to say, to judge how much of a text an unfinished stream spoke.
ALPHABETIC_MS = 65
IDEOGRAPHIC_MS = 220


class Outcome(StrEnum):
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    LOST = "lost"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a request's text and its audio. `total_ms`: all of that, where it is known."""

    characters: int
    expected_ms: int
    delivered_ms: int
    total_ms: int | None = None


def billed_characters(outcome: Outcome, characters: int, parts: Iterable[Part]) -> int:
    """Completed: the text. Cancelled: the share of it that was spoken. Our failures: nothing."""
    if outcome is Outcome.COMPLETED:
        return characters
    if outcome is not Outcome.CANCELLED:
        return 0
    # Never more than the text, whatever its parts come to.
    return min(characters, sum(map(spoken_characters, parts)))


def spoken_characters(part: Part) -> int:
    """The share of a piece's text that was spoken, by audio delivered, rounded down."""
    whole_ms = part.total_ms or part.expected_ms
    if whole_ms <= 0 or part.delivered_ms >= whole_ms:
        return part.characters if part.delivered_ms > 0 else 0
    return part.characters * part.delivered_ms // whole_ms


def expected_ms(text: str) -> int:
    """A text's speaking time by the yardstick of the charge rules."""
    ideographs = sum(_is_ideograph(character) for character in text)
    return ideographs * IDEOGRAPHIC_MS + (len(text) - ideographs) * ALPHABETIC_MS


def _is_ideograph(character: str) -> bool:
    if character < "\u1100":
        return False
    return unicodedata.name(character, "").startswith(
        ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL")
    )
