"""Spanish: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

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
    one="un",
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


def _ordinal(value: int, mark: str) -> str:
    said = ordinal(value, "es")
    if mark in ("ª", "a"):
        return " ".join(word[:-1] + "a" for word in said.split())
    return said[:-1] if mark == "er" else said


RULES: list[Rule] = [
    *_EUROPEAN.web(),
    *_EUROPEAN.phones(),
    *_EUROPEAN.dates(),
    *_EUROPEAN.times(),
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
    *_EUROPEAN.plain(),
    *_EUROPEAN.words(),
]
