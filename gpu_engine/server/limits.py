"""How long a text may take to speak, and what can be spoken at all."""

from __future__ import annotations

import math
import unicodedata

FRAMES_PER_SECOND = 12.5
# The cap on a stream's speech, in seconds: a base, and so much a character. Measured speech takes
# 0.065 s a letter and 0.25 s a wide (Chinese, Japanese, Korean) one; digits are read as words.
BASE_S, LETTER_S, WIDE_S, DIGIT_S = 2.0, 0.2, 0.6, 0.8
SPEAKABLE = ("L", "N", "Sc")


def frame_cap(text: str) -> int:
    """The most frames a text may become: about three times what it usually does, plus 2 s."""
    return math.ceil((BASE_S + sum(map(_seconds, text))) * FRAMES_PER_SECOND)


def is_speakable(text: str) -> bool:
    """True when there is a letter, a number or a currency sign: emoji alone can't be read out."""
    return any(unicodedata.category(character).startswith(SPEAKABLE) for character in text)


def _seconds(character: str) -> float:
    if character.isdigit():
        return DIGIT_S
    return WIDE_S if unicodedata.east_asian_width(character) in "WF" else LETTER_S
