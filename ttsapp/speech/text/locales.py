"""What the rules of a language are made of: its words for numbers, money, units and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from num2words import num2words

_SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True, slots=True)
class Currency:
    one: str
    many: str
    small_one: str = ""
    small_many: str = ""


@dataclass(frozen=True, slots=True)
class Locale:
    """`group` and `decimal` are what a number is written with. `units` and `names` map what is
    written to its words; a unit has those for one and for many."""

    code: str
    group: str
    decimal: str
    point: str
    minus: str
    plus: str
    percent: str
    money_and: str
    months: tuple[str, ...]
    month_names: Mapping[str, int]
    date: Callable[[int, int, int | None], str]
    time: Callable[[int, int, str], str]
    year: Callable[[int], str]
    ordinal: Callable[[int], str]
    currencies: Mapping[str, Currency]
    units: Mapping[str, tuple[str, str]]
    scales: Mapping[str, tuple[str, str]]
    names: Mapping[str, str]
    symbols: Mapping[str, str]
    to: str
    web: Mapping[str, str]
    # Between the numbers of a ratio, of a product and of a version.
    ratio: str
    by: str
    dot: str
    less: str
    more: str
    powers: Mapping[str, str]
    per: Mapping[str, str]
    # Short words before a number.
    numbering: Mapping[str, str]
    day_first: bool = True
    # What a day may be written with in front of it, and behind it.
    before_day: str = ""
    after_day: str = ""
    fractions: Mapping[str, str] = field(default_factory=dict)
    # What may part day, month and a year of two digits.
    date_marks: str = "/"
    # A number in words, as it is before a noun.
    agree: Callable[[str, str], str] = lambda words, noun: words
    # "a ten dollar bill": what is measured has no plural before another noun.
    is_attributive: bool = False

    def number(self, value: int) -> str:
        return cardinal(value, self.code)

    def digits(self, text: str) -> str:
        """Digit by digit, whatever stands between them a short pause."""
        groups = "".join(char if char.isdigit() else " " for char in text).split()
        return ", ".join(" ".join(self.number(int(char)) for char in group) for group in groups)

    def written(self, text: str) -> str:
        """The words for a number as it is written in the language, sign and decimals included."""
        sign, text = ("-", text[1:]) if text[:1] == "-" else ("", text)
        whole, _, decimals = self.own(text).partition(self.decimal)
        whole = "".join(char for char in whole if char.isdigit())
        words = self.number(int(whole or "0"))
        if decimals:
            words += f" {self.point} " + " ".join(self.number(int(char)) for char in decimals)
        return f"{self.minus} {words}" if sign else words

    def counted(self, text: str, one: str, many: str) -> str:
        """A number and what it counts."""
        noun = one if text == "1" else many
        return f"{self.agree(self.written(text), noun)} {noun}"

    def own(self, text: str) -> str:
        """As written here, of a number whose comma and full stop have changed places."""
        foreign = "," if self.decimal == "." else "."
        is_swapped = -1 < text.find(self.decimal) < text.find(foreign)
        return text.translate(_SWAPPED) if is_swapped else text


@lru_cache(maxsize=4096)
def cardinal(value: int, code: str) -> str:
    words: str = num2words(value, lang=code).replace(",", "")
    if code == "es":
        # It leaves "veintiuno mil", which nobody says.
        words = re.sub(r"veintiuno (?=mil)", "veintiún ", words)
        words = re.sub(r"\buno (?=mil)", "un ", words)
    return words


@lru_cache(maxsize=1024)
def ordinal(value: int, code: str) -> str:
    words: str = num2words(value, lang=code, to="ordinal")
    return words.replace(",", "")
