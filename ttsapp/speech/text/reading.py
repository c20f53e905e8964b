"""What `say-as` asks for."""

from __future__ import annotations

import re
from unicodedata import digit

from ttsapp.speech.text import chinese
from ttsapp.speech.text.english_words import LOCALE as ENGLISH
from ttsapp.speech.text.french import LOCALE as FRENCH
from ttsapp.speech.text.german import LOCALE as GERMAN
from ttsapp.speech.text.locales import Locale
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.normalise import normalised
from ttsapp.speech.text.spanish import LOCALE as SPANISH

# In which day, month and year stand.
DATE_ORDERS = ("mdy", "dmy", "ymd", "md", "dm")
_LOCALES: dict[str, Locale] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def read_as(text: Mapped, reading: str, language: str) -> Mapped:
    """The text said that way; as it is in languages that have no rules. `reading`: a date's order
    may stand behind it."""
    kind, _, order = reading.partition(" ")
    if kind in ("characters", "spell-out", "verbatim"):
        return _each(text, language)
    if kind == "telephone" and (said := _phone(text.text, language)):
        return _instead(said, text)
    if order and (said := _date(text.text, order, language)):
        return _instead(said, text)
    if order:
        return normalised(text, language)
    if reading not in ("digits", "cardinal", "number", "ordinal"):
        return normalised(text, language)
    words = _number(text.text.strip(), reading, language)
    if words is None:
        return normalised(text, language)
    return _instead(words, text)


def _instead(words: str, text: Mapped) -> Mapped:
    return Mapped.instead(words, *text.range(0, len(text.text)))


def _phone(written: str, language: str) -> str:
    """Digit by digit, however short; a word in it as such. Empty in languages without rules."""
    parts = re.findall(r"\d+|[^\W\d_]+", _plain(written))
    said = [_number(part, "digits", language) if part.isdigit() else part for part in parts]
    if not said or None in said:
        return ""
    plus = _LOCALES[language].plus if language in _LOCALES else "加"
    return (f"{plus} " if written.strip().startswith("+") else "") + ", ".join(filter(None, said))


def _date(written: str, order: str, language: str) -> str:
    """Numbers in the order that they are said to have. Empty for what is no day of a year."""
    parts = re.findall(r"\d{1,4}", _plain(written))
    if len(parts) != len(order):
        return ""
    found = {name: int(part) for name, part in zip(order, parts, strict=True)}
    day, month, year = found["d"], found["m"], found.get("y")
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    if year is not None and year < 100:
        year += 2000 if year < 50 else 1900
    if language == "zh":
        begin = "" if year is None else f"{chinese.digits(str(year))}年"
        return f"{begin}{chinese.number(month)}月{chinese.number(day)}日"
    return _LOCALES[language].date(day, month, year) if language in _LOCALES else ""


def _number(written: str, reading: str, language: str) -> str | None:
    if reading == "digits":
        written = _plain(written)
    digits = "".join(char for char in written if char.isascii() and char.isdigit())
    if not digits or len(digits) > 30:
        return None
    if language == "zh":
        said = chinese.digits(digits) if reading == "digits" else chinese.written(digits)
        return f"第{said}" if reading == "ordinal" else said
    locale = _LOCALES.get(language)
    if locale is None:
        return None
    if reading == "digits":
        return locale.digits(written)
    return locale.ordinal(int(digits)) if reading == "ordinal" else locale.number(int(digits))


def _plain(written: str) -> str:
    """One by one, a circled or raised digit, or one of another script, is a digit like another."""
    return "".join(str(digit(char)) if char.isdigit() else char for char in written)


def _each(text: Mapped, language: str) -> Mapped:
    """Character by character, each keeping its place."""
    parts = []
    for place, char in enumerate(text.text):
        if char.isspace():
            continue
        said = char.upper()
        if char.isdigit():
            said = _number(char, "digits", language) or char
        elif language in _LOCALES and char in _LOCALES[language].web:
            said = _LOCALES[language].web[char]
        parts.append(Mapped.instead(said + " ", *text.range(place, place + 1)))
    joined = Mapped.joined(parts)
    return joined.part(0, len(joined.text.rstrip()))
