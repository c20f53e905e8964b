"""English: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re

from ttsapp.speech.text.locales import Currency, Locale, cardinal, ordinal
from ttsapp.speech.text.numbers import European
from ttsapp.speech.text.rules import Rule, rule

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MONTH_NAMES = {name: place for place, name in enumerate(MONTHS, 1)}
_MONTH_NAMES |= {name[:3]: place for name, place in _MONTH_NAMES.items()} | {"Sept": 9}


def year(value: int) -> str:
    """1984: nineteen eighty-four; 1900: nineteen hundred; 2005: two thousand five."""
    century, rest = divmod(value, 100)
    if 2000 <= value < 2010 or value % 1000 == 0:
        return cardinal(value, "en").replace(" and ", " ")
    if rest == 0:
        return f"{cardinal(century, 'en')} hundred"
    tail = f"oh {cardinal(rest, 'en')}" if rest < 10 else cardinal(rest, "en")
    return f"{cardinal(century, 'en')} {tail}"


def _date(day: int, month: int, value: int | None) -> str:
    said = f"{MONTHS[month - 1]} {ordinal(day, 'en')}"
    return said if value is None else f"{said}, {year(value)}"


def _time(hour: int, minute: int, half: str) -> str:
    said = cardinal(hour, "en")
    if minute:
        said += f" oh {cardinal(minute, 'en')}" if minute < 10 else f" {cardinal(minute, 'en')}"
    if half:
        return f"{said} {half} m"
    if minute == 0:
        return f"{said} o'clock" if hour <= 12 else f"{said} hundred"
    return said


_DOLLAR = Currency("dollar", "dollars", "cent", "cents")
_EURO = Currency("euro", "euros", "cent", "cents")
_POUND = Currency("pound", "pounds", "penny", "pence")
LOCALE = Locale(
    code="en",
    group=",",
    decimal=".",
    point="point",
    minus="minus",
    plus="plus",
    percent="percent",
    money_and="and",
    months=MONTHS,
    month_names=_MONTH_NAMES,
    date=_date,
    time=_time,
    year=year,
    ordinal=lambda value: ordinal(value, "en"),
    currencies={
        "$": _DOLLAR,
        "US$": _DOLLAR,
        "USD": _DOLLAR,
        "€": _EURO,
        "EUR": _EURO,
        "£": _POUND,
        "GBP": _POUND,
        "¥": Currency("yen", "yen"),
        "JPY": Currency("yen", "yen"),
        "₹": Currency("rupee", "rupees"),
        "CHF": Currency("Swiss franc", "Swiss francs"),
        "¢": Currency("cent", "cents"),
    },
    scales={
        "k": ("thousand", "thousand"),
        "K": ("thousand", "thousand"),
        "M": ("million", "million"),
        "m": ("million", "million"),
        "B": ("billion", "billion"),
        "bn": ("billion", "billion"),
        "thousand": ("thousand", "thousand"),
        "million": ("million", "million"),
        "billion": ("billion", "billion"),
        "trillion": ("trillion", "trillion"),
    },
    units={
        "km": ("kilometer", "kilometers"),
        "m": ("meter", "meters"),
        "cm": ("centimeter", "centimeters"),
        "mm": ("millimeter", "millimeters"),
        "km/h": ("kilometer per hour", "kilometers per hour"),
        "mph": ("mile per hour", "miles per hour"),
        "m/s": ("meter per second", "meters per second"),
        "mi": ("mile", "miles"),
        "ft": ("foot", "feet"),
        "yd": ("yard", "yards"),
        "kg": ("kilogram", "kilograms"),
        "g": ("gram", "grams"),
        "mg": ("milligram", "milligrams"),
        "lb": ("pound", "pounds"),
        "lbs": ("pound", "pounds"),
        "oz": ("ounce", "ounces"),
        "l": ("liter", "liters"),
        "L": ("liter", "liters"),
        "ml": ("milliliter", "milliliters"),
        "m²": ("square meter", "square meters"),
        "km²": ("square kilometer", "square kilometers"),
        "m³": ("cubic meter", "cubic meters"),
        "°C": ("degree Celsius", "degrees Celsius"),
        "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
        "°": ("degree", "degrees"),
        "h": ("hour", "hours"),
        "hr": ("hour", "hours"),
        "hrs": ("hour", "hours"),
        "min": ("minute", "minutes"),
        "s": ("second", "seconds"),
        "sec": ("second", "seconds"),
        "ms": ("millisecond", "milliseconds"),
        "Hz": ("hertz", "hertz"),
        "kHz": ("kilohertz", "kilohertz"),
        "MHz": ("megahertz", "megahertz"),
        "GHz": ("gigahertz", "gigahertz"),
        "KB": ("kilobyte", "kilobytes"),
        "kB": ("kilobyte", "kilobytes"),
        "MB": ("megabyte", "megabytes"),
        "GB": ("gigabyte", "gigabytes"),
        "TB": ("terabyte", "terabytes"),
        "Mbps": ("megabit per second", "megabits per second"),
        "W": ("watt", "watts"),
        "kW": ("kilowatt", "kilowatts"),
        "kWh": ("kilowatt hour", "kilowatt hours"),
        "V": ("volt", "volts"),
        "dB": ("decibel", "decibels"),
    },
    names={
        "Mr.": "Mister",
        "Mrs.": "Missus",
        "Ms.": "Miz",
        "Dr.": "Doctor",
        "Prof.": "Professor",
        "Gen.": "General",
        "Sen.": "Senator",
        "Gov.": "Governor",
        "Rev.": "Reverend",
        "Capt.": "Captain",
        "Sgt.": "Sergeant",
        "Lt.": "Lieutenant",
        "Jr.": "Junior",
        "Sr.": "Senior",
        "Inc.": "Incorporated",
        "Ltd.": "Limited",
        "Corp.": "Corporation",
        "Dept.": "Department",
        "dept.": "department",
        "Ave.": "Avenue",
        "Blvd.": "Boulevard",
        "Rd.": "Road",
        "Mt.": "Mount",
        "vs.": "versus",
        "e.g.": "for example",
        "i.e.": "that is",
        "etc.": "et cetera",
        "approx.": "approximately",
        "est.": "established",
        "w/": "with",
        "w/o": "without",
        "a.k.a.": "also known as",
        "Mon.": "Monday",
        "Tue.": "Tuesday",
        "Wed.": "Wednesday",
        "Thu.": "Thursday",
        "Fri.": "Friday",
    },
    symbols={"&": "and", "@": "at", "+": "plus", "=": "equals", "×": "times", "÷": "divided by"},
    to="to",
    web={
        ".": "dot",
        "@": "at",
        "/": "slash",
        "-": "dash",
        "_": "underscore",
        "+": "plus",
        ":": "colon",
        "?": "question mark",
        "=": "equals",
        "&": "and",
        "#": "hash",
        "%": "percent",
        "~": "tilde",
        "www": "w w w",
    },
    day_first=False,
    before_day="(?:the )?",
    after_day="(?:st|nd|rd|th)?",
    fractions={
        "½": "one half",
        "¼": "one quarter",
        "¾": "three quarters",
        "⅓": "one third",
        "⅔": "two thirds",
    },
)

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_PARTS = {2: ("half", "halves"), 4: ("quarter", "quarters")}


def _roman(text: str) -> int:
    values = [_ROMAN[char] for char in text]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def _fraction(match: re.Match[str]) -> str | None:
    above, below = int(match["a"]), int(match["b"])
    if not 0 < above < below or below > 100:
        return None
    one, many = _PARTS.get(below, (ordinal(below, "en"), f"{ordinal(below, 'en')}s"))
    said = f"{cardinal(above, 'en')} {one if above == 1 else many}"
    return f"{cardinal(int(match['w']), 'en')} and {said}" if match["w"] else said


def _decade(match: re.Match[str]) -> str:
    said = match["y"].lstrip("'")
    words = year(int(said)) if len(said) == 4 else cardinal(int(said), "en")
    return words[:-1] + "ies" if words.endswith("y") else f"{words}s"


def _street(match: re.Match[str]) -> str:
    """The name of a street comes before, that of a saint behind."""
    name = match["name"] or ""
    return f"{name}Saint" if name.strip() in ("", "The", "In", "At", "Near") else f"{name}Street"


_EUROPEAN = European(LOCALE)
_NUMBER = _EUROPEAN.number

RULES: list[Rule] = [
    *_EUROPEAN.web(),
    rule("phrase", r"(?<![\w/])24/7(?![\w/])", lambda m: "twenty-four seven"),
    *_EUROPEAN.phones(),
    *_EUROPEAN.dates(),
    *_EUROPEAN.times(),
    rule("decade", r"(?<![\w.,])(?P<y>(?:1[1-9]|20)\d0|'?[1-9]0(?=s))s\b", _decade),
    *_EUROPEAN.money(),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<v>\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)\b",
        lambda m: ordinal(int(m["v"].replace(",", "")), "en"),
    ),
    rule(
        "fraction", r"(?<![\w/.])(?:(?P<w>\d+) )?(?P<a>\d{1,2})/(?P<b>\d{1,3})(?![\w/])", _fraction
    ),
    *_EUROPEAN.measures(),
    rule(
        "numbering",
        r"(?:\bNo\.|\bNr\.|#) ?(?P<v>\d+)\b",
        lambda m: f"number {cardinal(int(m['v']), 'en')}",
    ),
    rule(
        "dimension",
        rf"(?<![\w.,])(?P<a>{_NUMBER})\s?[x×]\s?(?P<b>{_NUMBER})(?!\w)",
        lambda m: f"{LOCALE.written(m['a'])} by {LOCALE.written(m['b'])}",
    ),
    *_EUROPEAN.plain(),
    rule(
        "roman numeral",
        r"\b(?P<n>Chapter|Part|Act|Scene|War|Volume|Section|Book|Phase|Type) (?P<v>[IVXLC]+)\b",
        lambda m: f"{m['n']} {cardinal(_roman(m['v']), 'en')}",
    ),
    rule(
        "roman numeral",
        r"\b(?P<n>[A-Z][a-z]{2,}) (?P<v>(?:X{1,3})?(?:I[XV]|V?I{1,3})|XX?)\b(?!')",
        lambda m: f"{m['n']} the {ordinal(_roman(m['v']), 'en')}",
    ),
    rule("abbreviation", r"(?P<name>\b[A-Z]\w+ )?\bSt\.(?=\s|$)", _street),
    *_EUROPEAN.words(),
]
