"""Initials in the names of their letters: nobody says "am" for a.m."""

from __future__ import annotations

import re

_NAMES = """
ay bee see dee ee ef gee aitch eye jay kay el em en oh pee cue are ess tee you vee doubleyou ex why
zee
"""
NAMES = dict(zip("abcdefghijklmnopqrstuvwxyz", _NAMES.split(), strict=True))
# Letters with dots between, or capitals among which no vowel makes a word of them.
_INITIALS = re.compile(r"[a-zA-Z](?:\.[a-zA-Z])+|[B-DF-HJ-NP-TV-XZ]{2,5}")


def named(word: str) -> str | None:
    """'a.m' -> 'ay em'; None for what is said as it is spelled."""
    if _INITIALS.fullmatch(word) is None:
        return None
    return " ".join(NAMES[letter.lower()] for letter in word if letter != ".")
