"""French: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

from ttsapp.speech.text.locales import Currency, Locale, cardinal, ordinal
from ttsapp.speech.text.numbers import European
from ttsapp.speech.text.rules import Rule, rule

MONTHS = (
    *("janvier", "février", "mars", "avril", "mai", "juin", "juillet"),
    *("août", "septembre", "octobre", "novembre", "décembre"),
)
_MONTH_NAMES = {name: place for place, name in enumerate(MONTHS, 1)}
_MONTH_NAMES |= {"janv": 1, "févr": 2, "avr": 4, "juil": 7, "sept": 9, "oct": 10, "nov": 11}


def _date(day: int, month: int, value: int | None) -> str:
    said = f"{'premier' if day == 1 else cardinal(day, 'fr')} {MONTHS[month - 1]}"
    return said if value is None else f"{said} {cardinal(value, 'fr')}"


def _time(hour: int, minute: int, half: str) -> str:
    """An hour is feminine: une heure, vingt et une heures."""
    said = cardinal(hour, "fr")
    said = f"{said}e" if said.endswith("un") else said
    said += " heure" if hour in (0, 1) else " heures"
    return f"{said} {cardinal(minute, 'fr')}" if minute else said


_CENT = ("centime", "centimes")
LOCALE = Locale(
    code="fr",
    group=r". \u202f",
    decimal=",",
    point="virgule",
    minus="moins",
    plus="plus",
    percent="pour cent",
    money_and="",
    months=MONTHS,
    month_names=_MONTH_NAMES,
    date=_date,
    time=_time,
    year=lambda value: cardinal(value, "fr"),
    ordinal=lambda value: ordinal(value, "fr"),
    currencies={
        "€": Currency("euro", "euros", *_CENT),
        "EUR": Currency("euro", "euros", *_CENT),
        "$": Currency("dollar", "dollars", "cent", "cents"),
        "£": Currency("livre", "livres", "penny", "pence"),
        "CHF": Currency("franc suisse", "francs suisses", *_CENT),
    },
    scales={
        "million": ("million de", "millions de"),
        "millions": ("million d'", "millions d'"),
        "milliards": ("milliard d'", "milliards d'"),
    },
    units={
        "km": ("kilomètre", "kilomètres"),
        "m": ("mètre", "mètres"),
        "cm": ("centimètre", "centimètres"),
        "mm": ("millimètre", "millimètres"),
        "km/h": ("kilomètre à l'heure", "kilomètres à l'heure"),
        "kg": ("kilogramme", "kilogrammes"),
        "g": ("gramme", "grammes"),
        "l": ("litre", "litres"),
        "L": ("litre", "litres"),
        "ml": ("millilitre", "millilitres"),
        "m²": ("mètre carré", "mètres carrés"),
        "km²": ("kilomètre carré", "kilomètres carrés"),
        "°C": ("degré Celsius", "degrés Celsius"),
        "°": ("degré", "degrés"),
        "min": ("minute", "minutes"),
        "s": ("seconde", "secondes"),
        "ms": ("milliseconde", "millisecondes"),
        "Mo": ("mégaoctet", "mégaoctets"),
        "Go": ("gigaoctet", "gigaoctets"),
        "GHz": ("gigahertz", "gigahertz"),
        "kW": ("kilowatt", "kilowatts"),
        "kWh": ("kilowattheure", "kilowattheures"),
    },
    names={
        "M.": "Monsieur",
        "MM.": "Messieurs",
        "Mme": "Madame",
        "Mmes": "Mesdames",
        "Mlle": "Mademoiselle",
        "Dr": "Docteur",
        "Dr.": "Docteur",
        "Pr": "Professeur",
        "St": "Saint",
        "Ste": "Sainte",
        "av.": "avenue",
        "bd": "boulevard",
        "etc.": "et cetera",
        "env.": "environ",
        "p. ex.": "par exemple",
        "c.-à-d.": "c'est-à-dire",
        "svp": "s'il vous plaît",
    },
    symbols={"&": "et", "+": "plus", "=": "égale", "×": "fois"},
    to="à",
    web={
        ".": "point",
        "@": "arobase",
        "/": "barre oblique",
        "-": "tiret",
        "_": "tiret bas",
        "+": "plus",
        ":": "deux points",
        "?": "point d'interrogation",
        "=": "égale",
        "&": "et",
        "#": "dièse",
        "%": "pour cent",
        "www": "w w w",
    },
    after_day="(?:er)?",
    fractions={"½": "un demi", "¼": "un quart", "¾": "trois quarts"},
)
_EUROPEAN = European(LOCALE)
_FEMININE = {"1re": "première", "1ère": "première"}

RULES: list[Rule] = [
    *_EUROPEAN.web(),
    rule(
        "telephone",
        r"(?<![\w.,])0\d(?:[ .]\d{2}){4}(?!\w)",
        lambda m: ", ".join(
            f"{'zéro ' if pair[0] == '0' else ''}{cardinal(int(pair), 'fr')}"
            for pair in m[0].replace(".", " ").split()
        ),
    ),
    *_EUROPEAN.phones(),
    *_EUROPEAN.dates(),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4]) ?h(?: ?(?P<min>[0-5]\d))?\b",
        lambda m: _time(int(m["hour"]), int(m["min"] or 0), ""),
    ),
    *_EUROPEAN.times(),
    *_EUROPEAN.money(),
    *_EUROPEAN.measures(),
    rule("ordinal", r"(?<!\w)(?:1re|1ère)\b", lambda m: _FEMININE[m[0]]),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<v>\d{1,3})(?:er|e|ème|nd|nde)\b",
        lambda m: ordinal(int(m["v"]), "fr"),
    ),
    rule("numbering", r"\b[nN]° ?(?P<v>\d+)", lambda m: f"numéro {cardinal(int(m['v']), 'fr')}"),
    *_EUROPEAN.plain(),
    *_EUROPEAN.words(),
]
