"""Language names as clients and engines write them, as one short code."""

from __future__ import annotations

AUTO = "auto"

# The engine's names by two-letter code.
NAMES = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "pt": "portuguese",
    "ru": "russian",
    "zh": "chinese",
}
_CODES = {name: code for code, name in NAMES.items()}


def code(language: str) -> str:
    """`en` for english, en, EN-us and en_GB; `auto` for what is none of ours."""
    wanted = language.casefold()
    short = wanted.replace("_", "-").partition("-")[0]
    return _CODES.get(wanted, short if short in NAMES else AUTO)
