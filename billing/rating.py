"""What is charged for a request; docs/billing.md has the rules and worked examples."""

from __future__ import annotations

import unicodedata
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


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a request ended. `total_ms`: the whole utterance's length where it is known."""

    outcome: Outcome
    characters: int
    expected_ms: int
    delivered_ms: int
    total_ms: int | None = None


def billed_characters(delivery: Delivery) -> int:
    """Completed: the text. Cancelled: the share of it that was spoken. Our failures: nothing."""
    if delivery.outcome is Outcome.COMPLETED:
        return delivery.characters
    if delivery.outcome is not Outcome.CANCELLED:
        return 0
    whole_ms = delivery.total_ms or delivery.expected_ms
    if whole_ms <= 0 or delivery.delivered_ms >= whole_ms:
        return delivery.characters if delivery.delivered_ms > 0 else 0
    return delivery.characters * delivery.delivered_ms // whole_ms


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
