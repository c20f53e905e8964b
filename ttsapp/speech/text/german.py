"""German: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re

from ttsapp.speech.text.locales import Currency, Locale, cardinal, ordinal
from ttsapp.speech.text.numbers import European
from ttsapp.speech.text.rules import Rule, rule

MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli"),
    *("August", "September", "Oktober", "November", "Dezember"),
)
_MONTH_NAMES = {name: place for place, name in enumerate(MONTHS, 1)}
_MONTH_NAMES |= {"Jan": 1, "Feb": 2, "Apr": 4, "Aug": 8, "Sep": 9, "Sept": 9, "Okt": 10, "Nov": 11}
_MONTH_NAMES |= {"Dez": 12}


def year(value: int) -> str:
    """1984: neunzehnhundertvierundachtzig; 2024: zweitausendvierundzwanzig."""
    century, rest = divmod(value, 100)
    if not 1100 <= value < 2000:
        return cardinal(value, "de")
    return f"{cardinal(century, 'de')}hundert{cardinal(rest, 'de') if rest else ''}"


def _date(day: int, month: int, value: int | None) -> str:
    said = f"{ordinal(day, 'de')}r {MONTHS[month - 1]}"
    return said if value is None else f"{said} {year(value)}"


def _time(hour: int, minute: int, half: str) -> str:
    said = f"{_hour(hour)} Uhr"
    return f"{said} {cardinal(minute, 'de')}" if minute else said


def _hour(hour: int) -> str:
    return "ein" if hour == 1 else cardinal(hour, "de")


_CENT = ("Cent", "Cent")
LOCALE = Locale(
    code="de",
    group=r".\u202f' ",
    decimal=",",
    point="Komma",
    minus="minus",
    plus="plus",
    percent="Prozent",
    money_and="und",
    months=MONTHS,
    month_names=_MONTH_NAMES,
    date=_date,
    time=_time,
    year=year,
    ordinal=lambda value: ordinal(value, "de"),
    one="ein",
    currencies={
        "€": Currency("Euro", "Euro", *_CENT),
        "EUR": Currency("Euro", "Euro", *_CENT),
        "Euro": Currency("Euro", "Euro", *_CENT),
        "$": Currency("Dollar", "Dollar", *_CENT),
        "USD": Currency("Dollar", "Dollar", *_CENT),
        "£": Currency("Pfund", "Pfund", "Penny", "Pence"),
        "CHF": Currency("Franken", "Franken", "Rappen", "Rappen"),
    },
    scales={
        "Tsd.": ("Tausend", "Tausend"),
        "Mio.": ("Million", "Millionen"),
        "Mrd.": ("Milliarde", "Milliarden"),
        "Millionen": ("Million", "Millionen"),
        "Milliarden": ("Milliarde", "Milliarden"),
    },
    units={
        "km": ("Kilometer", "Kilometer"),
        "m": ("Meter", "Meter"),
        "cm": ("Zentimeter", "Zentimeter"),
        "mm": ("Millimeter", "Millimeter"),
        "km/h": ("Stundenkilometer", "Stundenkilometer"),
        "kg": ("Kilogramm", "Kilogramm"),
        "g": ("Gramm", "Gramm"),
        "t": ("Tonne", "Tonnen"),
        "l": ("Liter", "Liter"),
        "ml": ("Milliliter", "Milliliter"),
        "m²": ("Quadratmeter", "Quadratmeter"),
        "km²": ("Quadratkilometer", "Quadratkilometer"),
        "°C": ("Grad Celsius", "Grad Celsius"),
        "°": ("Grad", "Grad"),
        "h": ("Stunde", "Stunden"),
        "Std.": ("Stunde", "Stunden"),
        "min": ("Minute", "Minuten"),
        "Min.": ("Minute", "Minuten"),
        "s": ("Sekunde", "Sekunden"),
        "Sek.": ("Sekunde", "Sekunden"),
        "ms": ("Millisekunde", "Millisekunden"),
        "MB": ("Megabyte", "Megabyte"),
        "GB": ("Gigabyte", "Gigabyte"),
        "TB": ("Terabyte", "Terabyte"),
        "GHz": ("Gigahertz", "Gigahertz"),
        "MHz": ("Megahertz", "Megahertz"),
        "W": ("Watt", "Watt"),
        "kW": ("Kilowatt", "Kilowatt"),
        "kWh": ("Kilowattstunde", "Kilowattstunden"),
    },
    names={
        "z. B.": "zum Beispiel",
        "z.B.": "zum Beispiel",
        "d. h.": "das heißt",
        "d.h.": "das heißt",
        "u. a.": "unter anderem",
        "u.a.": "unter anderem",
        "usw.": "und so weiter",
        "etc.": "et cetera",
        "bzw.": "beziehungsweise",
        "ca.": "circa",
        "Dr.": "Doktor",
        "Prof.": "Professor",
        "Hr.": "Herr",
        "Fr.": "Frau",
        "Nr.": "Nummer",
        "St.": "Sankt",
        "Str.": "Straße",
        "inkl.": "inklusive",
        "ggf.": "gegebenenfalls",
        "evtl.": "eventuell",
        "vgl.": "vergleiche",
        "Mio.": "Millionen",
        "Mrd.": "Milliarden",
    },
    symbols={"&": "und", "+": "plus", "=": "gleich", "×": "mal"},
    to="bis",
    web={
        ".": "Punkt",
        "@": "at",
        "/": "Schrägstrich",
        "-": "Bindestrich",
        "_": "Unterstrich",
        "+": "plus",
        ":": "Doppelpunkt",
        "?": "Fragezeichen",
        "=": "gleich",
        "&": "und",
        "#": "Raute",
        "%": "Prozent",
        "www": "w w w",
    },
    after_day=r"\.",
    fractions={"½": "ein halb", "¼": "ein Viertel", "¾": "drei Viertel"},
)


def _ordinal(match: re.Match[str]) -> str:
    """After `am`, `zum` and the like with -n, otherwise as after `der`."""
    ending = (
        "n" if match["before"] in ("am ", "vom ", "zum ", "im ", "dem ", "den ", "beim ") else ""
    )
    return f"{match['before']}{ordinal(int(match['v']), 'de')}{ending}"


def _date_in_sentence(match: re.Match[str]) -> str | None:
    """am dritten, der dritte, and dritter where nothing stands before it."""
    found = match.groupdict()
    day, before = int(found["d"]), found["before"] or ""
    month = _MONTH_NAMES[found["n"]] if "n" in found else int(found["m"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    ending = "" if before in ("der ", "Der ") else "n" if before else "r"
    tail = f" {year(int(found['y']))}" if found["y"] else ""
    return f"{before}{ordinal(day, 'de')}{ending} {MONTHS[month - 1]}{tail}"


_EUROPEAN = European(LOCALE)
_NAMES = "|".join(sorted(_MONTH_NAMES, key=len, reverse=True))
_ARTICLE = r"(?P<before>\b(?:am|vom|zum|im|dem|den|beim|der|die|das) )"
_BEFORE = r"(?P<before>\b(?:[Aa]m|[Vv]om|[Zz]um|[Dd]em|[Dd]en|[Dd]er) )?"

RULES: list[Rule] = [
    *_EUROPEAN.web(),
    *_EUROPEAN.phones(),
    rule(
        "date",
        rf"{_BEFORE}(?<![\w.])(?P<d>[0-3]?\d)\. ?(?P<n>{_NAMES})\b"
        r"(?: (?P<y>1\d{3}|20\d{2})\b)?",
        _date_in_sentence,
    ),
    rule(
        "date",
        rf"{_BEFORE}(?<![\w.])(?P<d>[0-3]?\d)\. ?(?P<m>[01]?\d)\. ?"
        r"(?P<y>1\d{3}|20\d{2})\b",
        _date_in_sentence,
    ),
    *_EUROPEAN.dates(),
    *_EUROPEAN.times(),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4]) Uhr\b",
        lambda m: _time(int(m["hour"]), 0, ""),
    ),
    *_EUROPEAN.money(),
    *_EUROPEAN.measures(),
    rule("ordinal", rf"{_ARTICLE}(?P<v>\d{{1,3}})\.(?= ?\w)", _ordinal),
    *_EUROPEAN.plain(),
    *_EUROPEAN.words(),
]
