"""Spanish: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re

from ttsapp.speech.text import agreement, roman
from ttsapp.speech.text import fractions as parts
from ttsapp.speech.text.fractions import fractions
from ttsapp.speech.text.locales import Currency, Locale, cardinal, ordinal
from ttsapp.speech.text.numbers import European
from ttsapp.speech.text.rules import Rule, rule

MONTHS = (
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio"),
    *("agosto", "septiembre", "octubre", "noviembre", "diciembre"),
)
_MONTH_NAMES = {name: place for place, name in enumerate(MONTHS, 1)}


def _date(day: int, month: int, value: int | None) -> str:
    said = f"{'primero' if day == 1 else cardinal(day, 'es')} de {MONTHS[month - 1]}"
    return said if value is None else f"{said} de {cardinal(value, 'es')}"


def _time(hour: int, minute: int, half: str) -> str:
    """An hour is feminine: la una, las veintiuna."""
    said = cardinal(hour, "es")
    said = said[:-3] + "una" if said.endswith("uno") and hour != 1 else said
    said = "una" if hour == 1 else said
    if minute:
        said += f" y {cardinal(minute, 'es')}"
    elif not half:
        said += " en punto"
    return said + {"": "", "a": " de la mañana", "p": " de la tarde"}[half]


_CENT = ("céntimo", "céntimos")
LOCALE = Locale(
    code="es",
    group=r". \u202f",
    decimal=",",
    point="coma",
    minus="menos",
    plus="más",
    percent="por ciento",
    money_and="con",
    months=MONTHS,
    month_names=_MONTH_NAMES,
    date=_date,
    time=_time,
    year=lambda value: cardinal(value, "es"),
    ordinal=lambda value: ordinal(value, "es"),
    agree=agreement.spanish,
    ratio="a",
    by="por",
    dot="punto",
    less="menor que",
    more="mayor que",
    powers={"²": "al cuadrado", "³": "al cubo"},
    per={
        "mes": "al mes",
        "año": "al año",
        "semana": "a la semana",
        "día": "al día",
        "noche": "por noche",
        "hora": "por hora",
        "h": "por hora",
        "min": "por minuto",
        "s": "por segundo",
        "persona": "por persona",
        "kg": "el kilogramo",
        "l": "el litro",
        "km": "por kilómetro",
        "m²": "el metro cuadrado",
    },
    numbering={
        "p.": "página",
        "pág.": "página",
        "págs.": "páginas",
        "art.": "artículo",
        "cap.": "capítulo",
        "fig.": "figura",
        "vol.": "volumen",
        "n.º": "número",
        "N.º": "Número",
        "Tel.": "Teléfono",
        "§": "párrafo",
        "~": "aproximadamente",
        "≈": "aproximadamente",
        "±": "más menos",
    },
    currencies={
        "€": Currency("euro", "euros", *_CENT),
        "EUR": Currency("euro", "euros", *_CENT),
        "US$": Currency("dólar", "dólares", "centavo", "centavos"),
        "USD": Currency("dólar", "dólares", "centavo", "centavos"),
        "$": Currency("dólar", "dólares", "centavo", "centavos"),
        "£": Currency("libra", "libras", "penique", "peniques"),
    },
    scales={
        "millón": ("millón de", "millones de"),
        "millones": ("millón de", "millones de"),
        "M": ("millón de", "millones de"),
        "mil millones": ("mil millones de", "mil millones de"),
    },
    units={
        "km": ("kilómetro", "kilómetros"),
        "m": ("metro", "metros"),
        "cm": ("centímetro", "centímetros"),
        "mm": ("milímetro", "milímetros"),
        "km/h": ("kilómetro por hora", "kilómetros por hora"),
        "kg": ("kilogramo", "kilogramos"),
        "g": ("gramo", "gramos"),
        "l": ("litro", "litros"),
        "ml": ("mililitro", "mililitros"),
        "m²": ("metro cuadrado", "metros cuadrados"),
        "m2": ("metro cuadrado", "metros cuadrados"),
        "m³": ("metro cúbico", "metros cúbicos"),
        "m3": ("metro cúbico", "metros cúbicos"),
        "ha": ("hectárea", "hectáreas"),
        "t": ("tonelada", "toneladas"),
        "mg": ("miligramo", "miligramos"),
        "W": ("vatio", "vatios"),
        "V": ("voltio", "voltios"),
        "mAh": ("miliamperio hora", "miliamperios hora"),
        "Hz": ("hercio", "hercios"),
        "MHz": ("megahercio", "megahercios"),
        "dB": ("decibelio", "decibelios"),
        "TB": ("terabyte", "terabytes"),
        "KB": ("kilobyte", "kilobytes"),
        "MB/s": ("megabyte por segundo", "megabytes por segundo"),
        "m/s": ("metro por segundo", "metros por segundo"),
        "kcal": ("kilocaloría", "kilocalorías"),
        "km²": ("kilómetro cuadrado", "kilómetros cuadrados"),
        "°C": ("grado Celsius", "grados Celsius"),
        "ºC": ("grado Celsius", "grados Celsius"),
        "°": ("grado", "grados"),
        "h": ("hora", "horas"),
        "min": ("minuto", "minutos"),
        "s": ("segundo", "segundos"),
        "MB": ("megabyte", "megabytes"),
        "GB": ("gigabyte", "gigabytes"),
        "GHz": ("gigahercio", "gigahercios"),
        "kW": ("kilovatio", "kilovatios"),
        "kWh": ("kilovatio hora", "kilovatios hora"),
    },
    names={
        "Sr.": "Señor",
        "Sra.": "Señora",
        "Srta.": "Señorita",
        "Sres.": "Señores",
        "Dr.": "Doctor",
        "Dra.": "Doctora",
        "Prof.": "Profesor",
        "Ud.": "usted",
        "Uds.": "ustedes",
        "etc.": "etcétera",
        "p. ej.": "por ejemplo",
        "p.ej.": "por ejemplo",
        "Avda.": "Avenida",
        "aprox.": "aproximadamente",
        "EE. UU.": "Estados Unidos",
        "EE.UU.": "Estados Unidos",
        "pág.": "página",
        "tel.": "teléfono",
    },
    symbols={"&": "y", "+": "más", "=": "igual a", "×": "por"},
    to="a",
    web={
        ".": "punto",
        "@": "arroba",
        "/": "barra",
        "-": "guion",
        "_": "guion bajo",
        "+": "más",
        ":": "dos puntos",
        "?": "signo de interrogación",
        "=": "igual",
        "&": "y",
        "#": "almohadilla",
        "%": "por ciento",
        "www": "w w w",
    },
    fractions={"½": "un medio", "¼": "un cuarto", "¾": "tres cuartos"},
)
_EUROPEAN = European(LOCALE)


_RULERS = (
    "Felipe|Alfonso|Carlos|Juan Carlos|Fernando|Isabel|Juana|Luis|Enrique|Pedro|Juan|Juan Pablo"
    "|Pablo|Pío|Benedicto|León|Napoleón|Jorge|Eduardo|Guillermo|Catalina|Alejandro|Nicolás|Jaime"
    "|Sancho|Ramiro|Amadeo|Gregorio|Clemente|Inocencio|Francisco|Ramsés|Federico|Leopoldo"
)
_QUEENS = ("Isabel", "Juana", "Catalina")
_COUNTED = (
    "[Cc]apítulo|[Tt]omo|[Pp]arte|[Aa]cto|[Ee]scena|[Ll]ibro|[Vv]olumen|[Aa]rtículo|[Tt]ítulo"
)


def _roman(match: re.Match[str]) -> str:
    """Felipe sexto, Alfonso trece, siglo veintiuno, capítulo cuatro."""
    name, value = match["n"], roman.value(match["v"])
    if value > 10 or re.fullmatch(_COUNTED, name):
        return f"{name} {cardinal(value, 'es')}"
    said = ordinal(value, "es")
    return f"{name} {said[:-1] + 'a' if name in _QUEENS else said}"


def _counted(match: re.Match[str]) -> str | None:
    """un libro, una página, doscientas páginas; None where the noun makes no difference."""
    words = LOCALE.written(match["v"])
    said = agreement.spanish(words, match["n"])
    return said if said != words and agreement.counts(words, match["n"]) else None


def _ordinal(value: int, mark: str) -> str:
    said = ordinal(value, "es")
    if mark in ("ª", "a"):
        return " ".join(word[:-1] + "a" for word in said.split())
    return said[:-1] if mark == "er" else said


RULES: list[Rule] = [
    *_EUROPEAN.web(),
    *_EUROPEAN.phones(),
    rule(
        "telephone",
        r"(?<![\w.,])(?:[6-9]\d{2}(?: \d{3}){2}|[89]\d \d{3} \d{2} \d{2}|[6-9]\d{2}(?: \d{2}){3})"
        r"(?!\w|[ .,]\d)",
        lambda m: None if m[0].endswith("000") else LOCALE.digits(m[0]),
    ),
    _EUROPEAN.day_of_month("[Ee]l|[Dd]el|[Aa]l", r" de\b"),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4])\.(?P<min>[0-5]\d) h(?:oras)?\b",
        lambda m: _time(int(m["hour"]), int(m["min"]), ""),
    ),
    *_EUROPEAN.dates(),
    *_EUROPEAN.times(),
    rule("phrase", r"(?<![\w/])24/7(?![\w/])", lambda m: "veinticuatro siete"),
    rule("per", r"(?<=\w)/100 ?km\b", lambda m: " a los cien kilómetros"),
    *_EUROPEAN.money(),
    *_EUROPEAN.measures(),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<v>\d{1,3})\.?(?P<m>er|[ºª])(?!\w)",
        lambda m: _ordinal(int(m["v"]), m["m"]),
    ),
    rule(
        "numbering",
        r"\b[nN](?:úm\.|º|°) ?(?P<v>\d+)",
        lambda m: f"número {cardinal(int(m['v']), 'es')}",
    ),
    fractions(parts.spanish, parts.spanish_mixed),
    rule(
        "roman numeral",
        rf"\b(?P<n>{_RULERS}|[Ss]iglo|{_COUNTED}) (?P<v>{roman.ANY})\b(?!['’])",
        _roman,
    ),
    *_EUROPEAN.decimals(),
    rule(
        "number",
        rf"{_EUROPEAN.before}(?P<v>{_EUROPEAN.whole})(?= (?P<n>[a-záéíóúñü]{{3,}}))",
        _counted,
    ),
    *_EUROPEAN.plain(),
    *_EUROPEAN.words(),
]
