"""French: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re

from ttsapp.speech.text import agreement, roman
from ttsapp.speech.text import fractions as parts
from ttsapp.speech.text.fractions import fractions
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
    agree=agreement.french,
    ratio="à",
    by="sur",
    dot="point",
    less="inférieur à",
    more="supérieur à",
    powers={"²": "au carré", "³": "au cube"},
    per={
        "mois": "par mois",
        "an": "par an",
        "année": "par année",
        "semaine": "par semaine",
        "jour": "par jour",
        "j": "par jour",
        "nuit": "par nuit",
        "heure": "par heure",
        "h": "par heure",
        "min": "par minute",
        "s": "par seconde",
        "personne": "par personne",
        "kg": "le kilogramme",
        "l": "le litre",
        "L": "le litre",
        "km": "par kilomètre",
        "m²": "le mètre carré",
    },
    numbering={
        "p.": "page",
        "pp.": "pages",
        "art.": "article",
        "chap.": "chapitre",
        "fig.": "figure",
        "vol.": "volume",
        "tél.": "téléphone",
        "Tél.": "Téléphone",
        "§": "paragraphe",
        "~": "environ",
        "≈": "environ",
        "±": "plus ou moins",
    },
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
        "k": ("mille", "mille"),
        "M": ("million de", "millions de"),
        "Md": ("milliard de", "milliards de"),
        "Mds": ("milliard de", "milliards de"),
        "million": ("million de", "millions de"),
        "millions": ("million de", "millions de"),
        "milliard": ("milliard de", "milliards de"),
        "milliards": ("milliard de", "milliards de"),
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
        "m2": ("mètre carré", "mètres carrés"),
        "m³": ("mètre cube", "mètres cubes"),
        "m3": ("mètre cube", "mètres cubes"),
        "ha": ("hectare", "hectares"),
        "t": ("tonne", "tonnes"),
        "mg": ("milligramme", "milligrammes"),
        "cl": ("centilitre", "centilitres"),
        "W": ("watt", "watts"),
        "V": ("volt", "volts"),
        "mAh": ("milliampère-heure", "milliampères-heures"),
        "Hz": ("hertz", "hertz"),
        "MHz": ("mégahertz", "mégahertz"),
        "dB": ("décibel", "décibels"),
        "To": ("téraoctet", "téraoctets"),
        "Ko": ("kilooctet", "kilooctets"),
        "Mo/s": ("mégaoctet par seconde", "mégaoctets par seconde"),
        "Mbit/s": ("mégabit par seconde", "mégabits par seconde"),
        "m/s": ("mètre par seconde", "mètres par seconde"),
        "kcal": ("kilocalorie", "kilocalories"),
        "MB": ("mégaoctet", "mégaoctets"),
        "GB": ("gigaoctet", "gigaoctets"),
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
_RULERS = (
    "Louis|Charles|Henri|François|Philippe|Jean|Jean-Paul|Paul|Pie|Benoît|Napoléon|Guillaume|Édouard"
    "|Edouard|Élisabeth|Elisabeth|Catherine|Frédéric|Georges|Alexandre|Nicolas|Léopold|Albert"
    "|Ramsès|Léon|Grégoire|Clément|Innocent|Pierre|Isabelle|Joseph|Maximilien|Ferdinand"
)
_COUNTED = "[Cc]hapitre|[Tt]ome|[Pp]artie|[Aa]cte|[Ss]cène|[Ll]ivre|[Vv]olume|[Aa]rticle|[Tt]itre"


def _roman(match: re.Match[str]) -> str:
    value = roman.value(match["v"])
    return f"{match['n']} {'premier' if value == 1 else cardinal(value, 'fr')}"


def _counted(match: re.Match[str]) -> str | None:
    """une page, vingt et une pages; None where the noun makes no difference."""
    words = LOCALE.written(match["v"])
    said = agreement.french(words, match["n"])
    return said if said != words and match["n"] not in ("livre", "livres") else None


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
    rule(
        "telephone",
        r"(?<![\w.,])0 ?8\d{2}(?: \d{2,3}){2,3}(?!\w)",
        lambda m: LOCALE.digits(m[0]),
    ),
    *_EUROPEAN.phones(),
    _EUROPEAN.day_of_month("[Ll]e|[Dd]u|[Aa]u", " d[eu'’]"),
    *_EUROPEAN.dates(),
    rule(
        "phrase", r"(?<![\w/])24 ?h/24(?![\w/])", lambda m: "vingt-quatre heures sur vingt-quatre"
    ),
    rule("phrase", r"(?<![\w/])24/7(?![\w/])", lambda m: "vingt-quatre heures sur vingt-quatre"),
    rule(
        "time",
        r"(?<![\w:.,])(?P<h1>[01]?\d|2[0-4]) ?h ?(?P<m1>[0-5]\d)? ?[-–] ?"
        r"(?P<h2>[01]?\d|2[0-4]) ?h ?(?P<m2>[0-5]\d)?\b",
        lambda m: " à ".join(_time(int(m[f"h{end}"]), int(m[f"m{end}"] or 0), "") for end in "12"),
    ),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4]) ?h(?: ?(?P<min>[0-5]\d)(?! ?min))?\b",
        lambda m: _time(int(m["hour"]), int(m["min"] or 0), ""),
    ),
    *_EUROPEAN.times(),
    rule("phrase", r"(?<![\w/])7 ?j/7(?![\w/])", lambda m: "sept jours sur sept"),
    rule("per", r"(?<=\w)/100 ?km\b", lambda m: " aux cent kilomètres"),
    *_EUROPEAN.money(),
    *_EUROPEAN.measures(),
    rule("ordinal", r"(?<!\w)(?:1re|1ère)\b", lambda m: _FEMININE[m[0]]),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<v>\d{1,3})(?:er|e|ème|nd|nde)(?P<s>s?)\b",
        lambda m: ordinal(int(m["v"]), "fr") + m["s"],
    ),
    rule(
        "ordinal",
        rf"\b(?!L)(?P<v>{roman.ANY})(?:e|ème|er)\b",
        lambda m: ordinal(roman.value(m["v"]), "fr"),
    ),
    rule("roman numeral", rf"\b(?P<n>{_RULERS}|{_COUNTED}) (?P<v>{roman.ANY})\b(?!['’])", _roman),
    fractions(parts.french, parts.french_mixed),
    rule("numbering", r"\b[nN]° ?(?P<v>\d+)", lambda m: f"numéro {cardinal(int(m['v']), 'fr')}"),
    *_EUROPEAN.decimals(),
    rule(
        "number", rf"{_EUROPEAN.before}(?P<v>{_EUROPEAN.whole})(?= (?P<n>[a-zà-ÿ]{{3,}}))", _counted
    ),
    *_EUROPEAN.plain(),
    *_EUROPEAN.words(),
]
