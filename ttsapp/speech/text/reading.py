"""What `say-as` asks for."""

from __future__ import annotations

from ttsapp.speech.text import chinese
from ttsapp.speech.text.english import LOCALE as ENGLISH
from ttsapp.speech.text.french import LOCALE as FRENCH
from ttsapp.speech.text.german import LOCALE as GERMAN
from ttsapp.speech.text.locales import Locale
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.normalise import normalised
from ttsapp.speech.text.spanish import LOCALE as SPANISH

_LOCALES: dict[str, Locale] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def read_as(text: Mapped, reading: str, language: str) -> Mapped:
    """The text said that way; as it is in languages that have no rules."""
    if reading in ("characters", "spell-out"):
        return _each(text, language)
    if reading not in ("digits", "cardinal", "number", "ordinal"):
        return normalised(text, language)
    words = _number(text.text.strip(), reading, language)
    if words is None:
        return normalised(text, language)
    return Mapped.instead(words, *text.range(0, len(text.text)))


def _number(written: str, reading: str, language: str) -> str | None:
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


def _each(text: Mapped, language: str) -> Mapped:
    """Character by character, each keeping its place."""
    parts = []
    for place, char in enumerate(text.text):
        if char.isspace():
            continue
        said = char.upper()
        if char.isascii() and char.isdigit():
            said = _number(char, "digits", language) or char
        elif language in _LOCALES and char in _LOCALES[language].web:
            said = _LOCALES[language].web[char]
        parts.append(Mapped.instead(said + " ", *text.range(place, place + 1)))
    joined = Mapped.joined(parts)
    return joined.part(0, len(joined.text.rstrip()))
