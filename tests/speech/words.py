"""Written English as the words that are heard, so that spelling does not count as an error."""

from __future__ import annotations

import json
import re
import sys
from itertools import product

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
MONTHS = "january february march april may june july august september october november december"
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
    " hundred thousand million"
)
MOST_READINGS = 256
_MONEY = re.compile(r"\$\s?(\d[\d,]*)(?:\.(\d+))?(?: (million|billion|thousand)\b)?")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\b( [ap] m\b)?")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_DECIMAL = re.compile(r"\b(\d+)\.(\d+)\b")
_PIECE = re.compile(r"(\b\d+\.\d+\b|(?:\b[a-z]+ )?(?<![\w.])\d[\d,]*+(?!\.\d))")
_CODE = re.compile(r"(?<=[A-Z])(?=\d)|(?<=\d)(?=[A-Z])")  # XT49
_ABBREVIATION = re.compile(r"\b(?!OK\b)(?:[A-Z]{2,5}|P[Hh]D)\b")
_HALF_DAY = re.compile(r"(?<=\d) ?([ap])\.? ?m\b|\b(p)m\b")


def words(text: str) -> str:
    """Lower-case words without digits or punctuation: both sides of an error rate go through it."""
    return readings(text)[0]


def readings(text: str) -> list[str]:
    """What may have been said where digits are written; the likeliest first. A recogniser writes
    905 for the time, the number and the room, and its listener cannot know which it heard."""
    text = _CODE.sub(" ", text)
    text = _ABBREVIATION.sub(lambda match: " ".join(match[0]), text).lower()
    text = _HALF_DAY.sub(lambda match: f" {match[1] or match[2]} m", text)
    for symbol, word in SYMBOLS.items():
        text = text.replace(symbol, word)
    text = _MONEY.sub(_money, text)
    text = _CLOCK.sub(_clock, text)
    text = _ORDINAL.sub(lambda match: f" {_spelled(int(match[1]), 'ordinal')} ", text)
    pieces = [_spoken(piece) for piece in _PIECE.split(text)]
    whole = [
        "".join(choice) for choice, _ in zip(product(*pieces), range(MOST_READINGS), strict=False)
    ]
    return list(dict.fromkeys(map(_plain, whole)))


def _spoken(piece: str) -> list[str]:
    if match := _DECIMAL.fullmatch(piece):
        return _decimal(match)
    if match := re.fullmatch(r"([a-z]+ )?(\d[\d,]*)", piece):
        return [f"{match[1] or ''} {each} " for each in _whole(match[2], (match[1] or "").strip())]
    return [piece]


def _plain(text: str) -> str:
    kept = re.sub(r"[^a-z ]", " ", text.replace("'", "")).split()
    return " ".join(
        SAME.get(word, word)
        for place, word in enumerate(kept)
        if not (word == "and" and _is_within_a_number(kept, place))
    )


def _is_within_a_number(kept: list[str], place: int) -> bool:
    before, after = kept[place - 1 : place], kept[place + 1 : place + 2]
    return bool({"hundred", "thousand"} & set(before)) and bool(set(NUMBERS.split()) & set(after))


def _number(written: str) -> str:
    return _spelled(int(written.replace(",", "")))


def _spelled(number: int, kind: str = "cardinal") -> str:
    spelled: str = num2words(number, to=kind)
    return spelled.replace(" and ", " ").replace(",", "").replace("-", " ")


def _digits(written: str) -> str:
    return " ".join(map(_number, written))


def _money(match: re.Match[str]) -> str:
    if match[3]:
        part = f" point {_digits(match[2])}" if match[2] else ""
        return f" {_number(match[1])}{part} {match[3]} dollars "
    cents = f" and {_number(match[2])} cents" if match[2] else ""
    unit = "dollar" if match[1] == "1" else "dollars"
    return f" {_number(match[1])} {unit}{cents} "


def _clock(match: re.Match[str]) -> str:
    hour, minute, half = _number(match[1]), int(match[2]), match[3] or ""
    if minute == 0:
        return f" {hour} {half or 'oclock'} "
    return f" {hour} {'zero ' if minute < 10 else ''}{_number(match[2])} {half} "


def _decimal(match: re.Match[str]) -> list[str]:
    read = [f" {_number(match[1])} point {_digits(match[2])} "]
    if len(match[2]) == 2:
        read.append(f" {_number(match[1])} {_pair(match[2])} ")
    return read


def _pair(two: str) -> str:
    """The second half of a time or a year."""
    return (
        "hundred" if two == "00" else f"zero {_number(two[1])}" if two[0] == "0" else _number(two)
    )


def _whole(written: str, before: str) -> list[str]:
    bare = written.rstrip(",")
    read = [_number(bare)]
    if "," not in bare and len(bare) in (3, 4):
        read.append(f"{_number(bare[:-2])} {_pair(bare[-2:])}")
        if len(bare) == 4 and 1100 <= int(bare) < 2000:
            read.reverse()
    if "," not in bare and len(bare) > 1:
        read.append(_digits(bare))
    if before in MONTHS.split() and int(bare.replace(",", "")) <= 31:
        read.append(_spelled(int(bare), "ordinal"))
    return read


if __name__ == "__main__":
    print(json.dumps([words(text) for text in json.load(sys.stdin)]))
