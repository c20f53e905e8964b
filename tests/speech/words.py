"""Written English as the words that are heard, so that spelling does not count as an error."""

from __future__ import annotations

import json
import re
import sys

from num2words import num2words

# Other ways to write the same sound.
SAME = {
    "ok": "okay",
    "oh": "zero",
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "colour": "color",
    "favourite": "favorite",
    "theatre": "theater",
    "centre": "center",
    "grey": "gray",
}
SYMBOLS = {"%": " percent ", "&": " and ", "+": " plus ", "°": " degrees ", "\u2019": "'"}
_MONEY = re.compile(r"\$\s?(\d[\d,]*)(?:\.(\d\d))?")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\b")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_DECIMAL = re.compile(r"\b(\d+)\.(\d+)\b")
_WHOLE = re.compile(r"\d[\d,]*")


def words(text: str) -> str:
    """Lower-case words without digits or punctuation: both sides of an error rate go through it."""
    text = text.lower()
    for symbol, word in SYMBOLS.items():
        text = text.replace(symbol, word)
    text = _MONEY.sub(_money, text)
    text = _CLOCK.sub(_clock, text)
    text = _ORDINAL.sub(lambda match: f" {num2words(int(match[1]), to='ordinal')} ", text)
    text = _DECIMAL.sub(_decimal, text)
    text = _WHOLE.sub(_whole, text)
    kept = re.sub(r"[^a-z ]", " ", text.replace("'", "")).split()
    return " ".join(SAME.get(word, word) for word in kept)


def _number(written: str) -> str:
    spelled: str = num2words(int(written.replace(",", "")))
    return spelled.replace(" and ", " ").replace(",", "")


def _money(match: re.Match[str]) -> str:
    cents = f" and {_number(match[2])} cents" if match[2] else ""
    unit = "dollar" if match[1] == "1" else "dollars"
    return f" {_number(match[1])} {unit}{cents} "


def _clock(match: re.Match[str]) -> str:
    hour, minute = _number(match[1]), int(match[2])
    if minute == 0:
        return f" {hour} oclock "
    return f" {hour} {'zero ' if minute < 10 else ''}{_number(match[2])} "


def _decimal(match: re.Match[str]) -> str:
    return f" {_number(match[1])} point {' '.join(map(_number, match[2]))} "


def _whole(match: re.Match[str]) -> str:
    written = match[0].rstrip(",")
    if len(written) == 4 and "," not in written and 1100 <= int(written) < 2000:
        return f" {num2words(int(written), to='year')} "
    return f" {_number(written)} "


if __name__ == "__main__":
    print(json.dumps([words(text) for text in json.load(sys.stdin)]))
