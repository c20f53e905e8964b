"""Numbers in the words an American reader says, and other numbers that are read the same way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = _ONES.split(), _TENS.split()
SCALES = ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))
IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def cardinal(number: int) -> str:
    """1250 -> 'one thousand two hundred fifty'; below a thousand million."""
    for size, name in SCALES:
        if number >= size:
            rest = f" {cardinal(number % size)}" if number % size else ""
            return f"{cardinal(number // size)} {name}{rest}"
    if number < 20:
        return ONES[number]
    return TENS[number // 10] + (f" {ONES[number % 10]}" if number % 10 else "")


def ordinal(number: int) -> str:
    """21 -> 'twenty first'."""
    *before, last = cardinal(number).split()
    plain = last[:-1] + "ie" if last.endswith("y") else last
    return " ".join([*before, IRREGULAR.get(last, f"{plain}th")])


def year(number: int) -> str:
    """1998 -> 'nineteen ninety eight', 2007 -> 'two thousand seven'; 1100 to 2099."""
    century, rest = divmod(number, 100)
    if number // 10 == 200:
        return cardinal(number)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def digits(written: str) -> str:
    """'0134' -> 'zero one three four'."""
    return " ".join(ONES[int(digit)] for digit in written if digit.isdigit())


def decimal(written: str) -> str:
    """'3.25' -> 'three point two five'."""
    whole, _, fraction = written.partition(".")
    return f"{cardinal(int(whole))} point {digits(fraction)}"


def money(written: str) -> str:
    """'$12.50' -> 'twelve dollars and fifty cents'."""
    whole, _, cents = written.strip("$").replace(",", "").partition(".")
    parts = [_count(int(whole), "dollar")] if int(whole) or not int(cents or 0) else []
    return " and ".join([*parts, _count(int(cents), "cent")] if int(cents or 0) else parts)


def _count(number: int, unit: str) -> str:
    return f"{cardinal(number)} {unit}{'' if number == 1 else 's'}"


def clock(written: str) -> str:
    """'9:05' -> 'nine oh five'."""
    hour, minute = map(int, written.split(":"))
    if not minute:
        return cardinal(hour)
    return f"{cardinal(hour)} {'oh ' if minute < 10 else ''}{cardinal(minute)}"


def _plain(written: str) -> int:
    return int(re.sub(r"\D", "", written))


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to write numbers, how they are said, and how another is drawn (from its number)."""

    pattern: re.Pattern[str]
    say: Callable[[str], str]
    write: Callable[[Random, int], str]


# How often a drawn number has one digit, two, …: those that are said most are short.
LENGTHS = (0.04, 0.4, 0.26, 0.14, 0.1, 0.06)
ROUND = 0.3  # of them end in zeros


def _drawn(rng: Random, number: int) -> int:
    """Another number, of any length: who only ever hears prices in hundreds says hundreds whatever
    is written. Hours stay hours."""
    if number <= 12:
        return rng.randint(1, 12)
    (length,) = rng.choices(range(1, len(LENGTHS) + 1), LENGTHS)
    drawn = rng.randrange(10 ** (length - 1), 10**length)
    tail: int = 10 ** (rng.randrange(length) if rng.random() < ROUND else 0)
    return drawn // tail * tail


def _suffixed(number: int) -> str:
    tail = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def _fraction(rng: Random, number: int) -> str:
    places = rng.choice((1, 1, 2))
    return f"{_drawn(rng, max(1, number // 10))}.{rng.randrange(10**places):0{places}}"


def _priced(rng: Random, number: int) -> str:
    cents = rng.choice((0, 5, 25, 49, 50, 75, 95, 99, rng.randrange(1, 100)))
    return f"${_drawn(rng, number):,}.{cents:02}"


READINGS = (
    Reading(re.compile(r"\$\d[\d,]*"), money, lambda rng, n: f"${_drawn(rng, n):,}"),
    Reading(re.compile(r"\$\d[\d,]*\.\d\d"), money, _priced),
    Reading(
        re.compile(r"\d+%"),
        lambda text: f"{cardinal(_plain(text))} percent",
        lambda rng, n: f"{rng.randint(1, 100)}%",
    ),
    Reading(
        re.compile(r"\d\d?:\d\d"),
        clock,
        lambda rng, n: f"{rng.randint(1, 12)}:{rng.randrange(60):02}",
    ),
    Reading(
        re.compile(r"1[1-9]\d\d|20\d\d"),
        lambda text: year(int(text)),
        lambda rng, n: str(rng.choice((rng.randint(1700, 2035), rng.randint(1950, 2035)))),
    ),
    Reading(
        re.compile(r"\d+(?:st|nd|rd|th)"),
        lambda text: ordinal(_plain(text)),
        lambda rng, n: _suffixed(rng.randint(1, 31)),
    ),
    Reading(re.compile(r"\d+\.\d+"), decimal, _fraction),
    Reading(
        re.compile(r"\d[\d,]*"),
        lambda text: cardinal(_plain(text)),
        lambda rng, n: f"{_drawn(rng, n):,}",
    ),
    Reading(
        re.compile(r"\d\d?"),
        lambda text: ordinal(int(text)),
        lambda rng, n: str(rng.randint(1, 28)),
    ),
    Reading(
        re.compile(r"\d{3}-\d{4}"),
        lambda text: f"{digits(text[:3])}, {digits(text[4:])}",
        lambda rng, n: f"555-{rng.randrange(10_000):04}",
    ),
    Reading(
        re.compile(r"\d{6}"),
        lambda text: f"{digits(text[:3])}, {digits(text[3:])}",
        lambda rng, n: f"{rng.randrange(1_000_000):06}",
    ),
)


def another(rng: Random, written: str, spoken: str) -> tuple[str, str]:
    """A fresh number in place of one that is written and spoken so, read in the same way; what no
    reading explains stays as it is."""
    for reading in READINGS:
        if reading.pattern.fullmatch(written) and reading.say(written) == spoken:
            fresh = reading.write(rng, _plain(written))
            return fresh, reading.say(fresh)
    return written, spoken


def read_out(written: str) -> str | None:
    """The words for a number, by the first reading that explains it; None for what is none."""
    for reading in READINGS:
        if reading.pattern.fullmatch(written):
            return reading.say(written)
    return None
