"""German: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re

from ttsapp.speech.text import agreement, roman
from ttsapp.speech.text import fractions as parts
from ttsapp.speech.text.fractions import fractions
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
    agree=agreement.german,
    ratio="zu",
    by="mal",
    dot="Punkt",
    less="kleiner als",
    more="größer als",
    powers={"²": "hoch zwei", "³": "hoch drei"},
    date_marks="/.",
    per={
        "Monat": "pro Monat",
        "Jahr": "pro Jahr",
        "Woche": "pro Woche",
        "Tag": "pro Tag",
        "Nacht": "pro Nacht",
        "Stunde": "pro Stunde",
        "Std": "pro Stunde",
        "h": "pro Stunde",
        "Min": "pro Minute",
        "min": "pro Minute",
        "s": "pro Sekunde",
        "Person": "pro Person",
        "Stück": "pro Stück",
        "kg": "pro Kilogramm",
        "l": "pro Liter",
        "km": "pro Kilometer",
        "m²": "pro Quadratmeter",
    },
    numbering={
        "S.": "Seite",
        "Abb.": "Abbildung",
        "Kap.": "Kapitel",
        "Bd.": "Band",
        "Art.": "Artikel",
        "Abs.": "Absatz",
        "Nr.": "Nummer",
        "Tel.": "Telefon",
        "Tel.:": "Telefon:",
        "§§": "Paragrafen",
        "§": "Paragraf",
        "~": "circa",
        "≈": "ungefähr",
        "±": "plus minus",
    },
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
        "Mio": ("Million", "Millionen"),
        "Mrd.": ("Milliarde", "Milliarden"),
        "Mrd": ("Milliarde", "Milliarden"),
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
        "m2": ("Quadratmeter", "Quadratmeter"),
        "m³": ("Kubikmeter", "Kubikmeter"),
        "m3": ("Kubikmeter", "Kubikmeter"),
        "ha": ("Hektar", "Hektar"),
        "mg": ("Milligramm", "Milligramm"),
        "Zoll": ("Zoll", "Zoll"),
        "V": ("Volt", "Volt"),
        "mA": ("Milliampere", "Milliampere"),
        "mAh": ("Milliamperestunde", "Milliamperestunden"),
        "Hz": ("Hertz", "Hertz"),
        "kHz": ("Kilohertz", "Kilohertz"),
        "dB": ("Dezibel", "Dezibel"),
        "PS": ("PS", "PS"),
        "kcal": ("Kilokalorie", "Kilokalorien"),
        "MB/s": ("Megabyte pro Sekunde", "Megabyte pro Sekunde"),
        "Mbit/s": ("Megabit pro Sekunde", "Megabit pro Sekunde"),
        "m/s": ("Meter pro Sekunde", "Meter pro Sekunde"),
        "KB": ("Kilobyte", "Kilobyte"),
        "kB": ("Kilobyte", "Kilobyte"),
        "ºC": ("Grad Celsius", "Grad Celsius"),
        "º": ("Grad", "Grad"),
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
        "Tsd.": "Tausend",
        "Jh.": "Jahrhundert",
        "Std.": "Stunden",
        "v. Chr.": "vor Christus",
        "n. Chr.": "nach Christus",
        "z.Zt.": "zurzeit",
        "z. Zt.": "zurzeit",
        "Hrn.": "Herrn",
        "zw.": "zwischen",
        "ff.": "folgende",
    },
    symbols={"&": "und", "+": "plus", "=": "gleich", "×": "mal", "·": "mal", "÷": "durch"},
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
    """As the word before it asks for: der erste, am ersten, mein erster."""
    return f"{match['before']}{ordinal(int(match['v']), 'de')}{_ending(match)}"


def _ending(match: re.Match[str]) -> str:
    before = match["before"].strip().casefold()
    if before in ("mein", "dein", "sein", "ihr", "unser", "euer", "kein", "ein"):
        return "r"
    if before == "der":
        # Of a feminine noun, behind what asks for its dative.
        return "n" if _DATIVE.search(match.string[: match.start()]) else ""
    return "n" if _WEAK.fullmatch(before) else ""


def _roman(match: re.Match[str]) -> str:
    """Ludwig der Vierzehnte, Ludwigs des Vierzehnten, Elisabeth die Zweite."""
    name, value = match["n"], roman.value(match["v"])
    if name in _COUNTED:
        return f"{name} {cardinal(value, 'de')}"
    said = ordinal(value, "de").title()
    if name in _QUEENS:
        return f"{name} die {said}"
    is_genitive = name.endswith("s") and name not in _KINGS
    return f"{name} des {said}n" if is_genitive else f"{name} der {said}"


def _days(match: re.Match[str]) -> str | None:
    """vom dritten bis fünften Mai, and from month to month."""
    ending = "n" if match["before"] else "r"
    if not all(1 <= int(match[day]) <= 31 for day in ("d1", "d2")):
        return None
    first, second = (f"{ordinal(int(match[day]), 'de')}{ending}" for day in ("d1", "d2"))
    middle = f" {MONTHS[_MONTH_NAMES[match['m1']] - 1]}" if match["m1"] else ""
    tail = f" {year(int(match['y']))}" if match["y"] else ""
    to = "und" if match["to"].strip() == "und" else "bis"
    month = MONTHS[_MONTH_NAMES[match["m2"]] - 1]
    return f"{match['before'] or ''}{first}{middle} {to} {second} {month}{tail}"


def _day_of_month(match: re.Match[str]) -> str | None:
    """am 3.10.: no name of a month, and no year."""
    if not (1 <= int(match["d"]) <= 31 and 1 <= int(match["m"]) <= 12):
        return None
    ending = _day_ending(match["before"])
    day, month = (ordinal(int(match[part]), "de") + ending for part in "dm")
    return f"{match['before']}{day} {month}"


def _one(match: re.Match[str]) -> str | None:
    """None behind a noun, which it numbers: Kapitel 1 Einleitung."""
    before = re.search(r"(\w+) $", match.string[: match.start()])
    is_numbering = before is not None and before[1][0].isupper() and len(before[1]) > 3
    return None if is_numbering else agreement.german("eins", match["n"])


def _decade(match: re.Match[str]) -> str:
    said = year(int(match["y"]))
    return f"{said}er{match['e']}"


def _hours(match: re.Match[str]) -> str:
    """8-17 Uhr, 8.30-17 Uhr."""
    first, second = (_time(int(match[f"h{end}"]), int(match[f"m{end}"] or 0), "") for end in "12")
    return f"{first if match['m1'] else _hour(int(match['h1']))} bis {second}"


def _day_ending(before: str) -> str:
    """der erste, am ersten, seit erstem."""
    before = before.strip().casefold()
    return {"der": "", "seit": "m", "ab": "m"}.get(before, "n")


def _date_in_sentence(match: re.Match[str]) -> str | None:
    """am dritten, der dritte, and dritter where nothing stands before it."""
    found = match.groupdict()
    day, before = int(found["d"]), found["before"] or ""
    month = _MONTH_NAMES[found["n"]] if "n" in found else int(found["m"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    ending = _day_ending(before) if before else "r"
    tail = f" {year(int(found['y']))}" if found["y"] else ""
    return f"{before}{ordinal(day, 'de')}{ending} {MONTHS[month - 1]}{tail}"


_EUROPEAN = European(LOCALE)
_NAMES = "|".join(sorted(_MONTH_NAMES, key=len, reverse=True))
_ARTICLE = (
    r"(?P<before>\b(?:[Aa]m|[Vv]om|[Zz]um|[Ii]m|[Dd]em|[Dd]en|[Bb]eim|[Dd]er|[Dd]ie|[Dd]as|[Dd]es|ins"
    r"|ans|fürs|aufs|zur|Zur|(?:[Mm]ein|[Dd]ein|[Ss]ein|[Ii]hr|[Uu]nser|[Ee]uer|[Kk]ein|[Ee]in)(?:e[mnrs]?)?"
    r"|(?:[Dd]ies|[Jj]ed|[Jj]en|[Aa]ll)e[mnrs]?) )"
)
_WEAK = re.compile(r"am|vom|zum|im|beim|zur|\w+e[mn]|des|de[mn]|\w{2,}er|\w{2,}es")
_DATIVE = re.compile(
    r"\b(?:in|an|auf|aus|bei|mit|nach|seit|von|zu|vor|hinter|über|unter|neben|zwischen|während"
    r"|wegen|trotz|ab|laut) $",
    re.IGNORECASE,
)
_KINGS = (
    *("Heinrich", "Ludwig", "Karl", "Friedrich", "Wilhelm", "Paul", "Benedikt", "Franz", "Otto"),
    *("Pius", "Leo", "Georg", "Eduard", "Philipp", "Napoleon", "Franziskus", "Joseph", "Leopold"),
    *("Maximilian", "Johannes", "Innozenz", "Gregor", "Clemens", "Nikolaus", "Alexander", "Iwan"),
    *("Peter", "Richard", "Jakob", "Gustav", "Christian", "Albert", "Ferdinand", "Konrad"),
    *("Ramses", "Charles", "Rudolf", "Sigismund", "Juan Carlos", "Felipe", "Carl"),
)
_QUEENS = ("Elisabeth", "Elizabeth", "Katharina", "Maria", "Margarethe", "Isabella", "Kleopatra")
_COUNTED = (
    *("Kapitel", "Teil", "Band", "Akt", "Szene", "Buch", "Abschnitt", "Phase", "Artikel", "Klasse"),
    *("Weltkrieg", "Typ", "Stufe"),
)
_NAMED = "|".join(
    (*(f"{name}s?" for name in sorted(_KINGS, key=len, reverse=True)), *_QUEENS, *_COUNTED)
)
_DAYS = r"(?P<before>\b(?:vom|Vom|zwischen dem|am|Am|den) )?"
_BEFORE = r"(?P<before>\b(?:[Aa]m|[Vv]om|[Zz]um|[Dd]em|[Dd]en|[Dd]er|[Bb]is|[Aa]b|[Ss]eit) )?"
_DAY_NAMES = {
    "Mo": "Montag",
    "Di": "Dienstag",
    "Mi": "Mittwoch",
    "Do": "Donnerstag",
    "Fr": "Freitag",
    "Sa": "Samstag",
    "So": "Sonntag",
}
_DAY = "|".join(_DAY_NAMES)

RULES: list[Rule] = [
    *_EUROPEAN.web(),
    *_EUROPEAN.phones(),
    rule(
        "telephone",
        r"(?P<b>\b(?:[Rr]uf|[Nn]otruf|[Ww]ähle|[Ww]ählen Sie|[Rr]ufen Sie)(?: die| den Notruf)? )"
        r"(?P<v>11[0-9])\b",
        lambda m: m["b"] + LOCALE.digits(m["v"]),
    ),
    rule(
        "telephone",
        r"\(0\d{1,4}\) ?\d[\d -]{3,12}\d(?![\w-])",
        lambda m: LOCALE.digits(m[0]),
    ),
    rule(
        "day",
        rf"\b(?P<a>{_DAY})\.?\s?[-–]\s?(?P<b>{_DAY})\b\.?",
        lambda m: f"{_DAY_NAMES[m['a']]} bis {_DAY_NAMES[m['b']]}",
    ),
    rule("day", rf"\b(?P<a>{_DAY})\.(?P<c>,?) (?=\d)", lambda m: f"{_DAY_NAMES[m['a']]}{m['c']} "),
    rule(
        "date",
        rf"{_DAYS}(?<![\w.])(?P<d1>[0-3]?\d)\. ?(?:(?P<m1>{_NAMES})\.? )?"
        rf"(?P<to>[-–]| ?[-–] ?|bis (?:zum )?| bis (?:zum )?|und (?:dem )?| und (?:dem )?)"
        rf"(?P<d2>[0-3]?\d)\. ?(?P<m2>{_NAMES})\b(?: (?P<y>1\d{{3}}|20\d{{2}})\b)?",
        _days,
    ),
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
    rule(
        "date",
        r"(?P<before>\b(?:[Aa]m|[Vv]om|[Zz]um|[Dd]en|[Dd]em|[Dd]er|[Bb]is|[Aa]b|[Ss]eit) )"
        r"(?P<d>[0-3]?\d)\. ?(?P<m>[01]?\d)\.(?! ?\d)",
        _day_of_month,
    ),
    rule(
        "time",
        r"(?<![\w:.,])(?P<h1>[01]?\d|2[0-4])(?:[:.](?P<m1>[0-5]\d))?\s?[-–]\s?"
        r"(?P<h2>[01]?\d|2[0-4])(?:[:.](?P<m2>[0-5]\d))? Uhr\b",
        _hours,
    ),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4])\.(?P<min>[0-5]\d) Uhr\b",
        lambda m: _time(int(m["hour"]), int(m["min"]), ""),
    ),
    *_EUROPEAN.times(),
    rule(
        "time",
        r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4]) Uhr\b",
        lambda m: _time(int(m["hour"]), 0, ""),
    ),
    rule("phrase", r"(?<![\w/])24/7(?![\w/])", lambda m: "vierundzwanzig sieben"),
    rule("per", r"(?<=\w)/100 ?km\b", lambda m: " auf hundert Kilometer"),
    *_EUROPEAN.money(),
    *_EUROPEAN.measures(),
    rule(
        "ordinal",
        rf"{_ARTICLE}(?P<v>\d{{1,3}})\. (?P<and>und|oder|bis) (?P<w>\d{{1,3}})\.(?= ?[A-ZÄÖÜ])",
        lambda m: f"{_ordinal(m)} {m['and']} {ordinal(int(m['w']), 'de')}{_ending(m)}",
    ),
    rule("ordinal", rf"{_ARTICLE}(?P<v>\d{{1,3}})\.(?= ?\w)", _ordinal),
    fractions(parts.german, parts.german_mixed),
    rule("decade", r"(?<![\w.,])(?P<y>1[1-9]\d0|20\d0)er(?P<e>n?)\b", _decade),
    rule(
        "number",
        r"(?<![\w.,-])1(?= (?P<n>[A-ZÄÖÜ][a-zäöüß]{2,}))",
        _one,
    ),
    *_EUROPEAN.decimals(),
    *_EUROPEAN.plain(),
    rule("roman numeral", rf"\b(?P<n>{_NAMED}) (?P<v>{roman.SEVERAL}|[IV])\b\.?", _roman),
    rule("abbreviation", r"(?<=[a-zäöüß])str\.(?=\s|$|,)", lambda m: "straße"),
    *_EUROPEAN.words(),
]
