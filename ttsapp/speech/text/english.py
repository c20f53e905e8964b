"""English: numbers, money, dates, times, units, addresses and abbreviations as words."""

from __future__ import annotations

import re
from functools import lru_cache

from ttsapp.speech.text import roman
from ttsapp.speech.text.english_words import LOCALE, MONTH_NAMES, MONTHS, clock, year
from ttsapp.speech.text.locales import cardinal, ordinal
from ttsapp.speech.text.numbers import European
from ttsapp.speech.text.rules import Rule, rule

# What is counted with Roman numerals, and who: one letter alone is mostly none, "I" least of all.
_COUNTED = (
    "Chapter|Part|Act|Scene|War|Volume|Section|Book|Phase|Type|Bowl|Title|Article|Appendix|Stage"
    "|Grade|Class|Episode"
)
_RULERS = (
    "Albert|Alexander|Benedict|Catherine|Charles|Christian|Clement|Constantine|Cyrus|Darius|Edward"
    "|Elizabeth|Ferdinand|Francis|Franz|Frederick|George|Gregory|Gustav|Harald|Henry|Innocent|Ivan"
    "|James|John|Joseph|Julius|Leo|Leopold|Louis|Ludwig|Mary|Maximilian|Mehmed|Napoleon|Nicholas"
    "|Otto|Paul|Pedro|Peter|Philip|Pius|Ramesses|Ramses|Richard|Rudolf|Thutmose|Urban|Victor"
    "|Wilhelm|William"
)
_CAPITALS = re.compile(r"\b[A-Z][A-Z']*\b")
_SHORT_WORDS = """
A AM AN AND ANY ARE AS ASK AT BE BIG BUT BUY BY CAN DAY DID DO END FAR FEW FOR GET GO GOT HAD HAS HE
HER HIM HIS HOT HOW IF IN IS IT ITS LET LOW MAN MAY ME MY NEW NO NOT NOW OF OFF OH OLD ON ONE OR OUR
OUT OWN PAY PUT RUN SAY SEE SHE SO THE TO TOO TOP TRY TWO UP US USE WAR WAS WAY WE WHO WHY WIN YES
YET YOU
"""
_SHORT = frozenset(_SHORT_WORDS.split())
_SMALL_ROMAN = r"L?X{0,3}(?:I[XV]|V?I{1,3})"
_ROMAN_LETTERS = frozenset("IVXLC")
# Before a ZIP code.
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DC|DE|FL|GA|HI|IA|ID|IL|IN|KS|KY|LA|MA|MD|ME|MI|MN|MO|MS|MT|NC|ND|NE|NH"
    "|NJ|NM|NV|NY|OH|OK|OR|PA|RI|SC|SD|TN|TX|UT|VA|VT|WA|WI|WV|WY"
)
_DAYS = {
    **dict.fromkeys(("Mon",), "Monday"),
    **dict.fromkeys(("Tue", "Tues"), "Tuesday"),
    **dict.fromkeys(("Wed",), "Wednesday"),
    **dict.fromkeys(("Thu", "Thur", "Thurs"), "Thursday"),
    **dict.fromkeys(("Fri",), "Friday"),
    **dict.fromkeys(("Sat",), "Saturday"),
    **dict.fromkeys(("Sun",), "Sunday"),
}
_DAY_NAMES = "|".join(sorted(_DAYS, key=len, reverse=True))
_DECADE_BEFORE = re.compile(
    r"(?:\b(?:the|his|her|their|my|your|our|early|late|mid)[ -]|mid-?)$", re.IGNORECASE
)
_MORE = "faster|slower|more|less|as|bigger|smaller|larger|higher|lower|better|longer|cheaper|the"
_HOUR = r"[01]?\d|2[0-4]"
_HALF = r"(?: ?(?P<p{}>[apAP])\.?[mM]\b\.?)?"
_PARTS = {2: ("half", "halves"), 4: ("quarter", "quarters")}


def _fraction(match: re.Match[str]) -> str | None:
    above, below = int(match["a"]), int(match["b"])
    if match["w"] is None and match["u"] is None and (above >= below or below > 100):
        between = "out of" if above == below else "over"
        return f"{cardinal(above, 'en')} {between} {cardinal(below, 'en')}" if above else None
    if not 0 < above < below or below > 100:
        return None
    one, many = _PARTS.get(below, (ordinal(below, "en"), f"{ordinal(below, 'en')}s"))
    said = f"{cardinal(above, 'en')} {one if above == 1 else many}"
    if match["w"]:
        said = f"{cardinal(int(match['w']), 'en')} and {said}"
    unit = LOCALE.units[match["u"]][1 if match["w"] else 0] if match["u"] else ""
    return f"{said} {unit}".rstrip()


def _decade(match: re.Match[str]) -> str | None:
    """Two digits are one behind an article or the like alone: else "30s" are seconds."""
    if len(match["y"]) == 2 and not _DECADE_BEFORE.search(match.string[: match.start()]):
        return None
    said = match["y"].lstrip("'")
    words = year(int(said)) if len(said) == 4 else cardinal(int(said), "en")
    return words[:-1] + "ies" if words.endswith("y") else f"{words}s"


def _street(match: re.Match[str]) -> str:
    """The name of a street comes before, that of a saint behind."""
    name = match["name"] or ""
    is_saint = name.strip() in ("", "The", "In", "At", "Near")
    is_behind_number = re.search(r"(?:st|nd|rd|th) $", match.string[: match.start()]) is not None
    return f"{name}Saint" if is_saint and not is_behind_number else f"{name}Street"


def _days(match: re.Match[str]) -> str | None:
    first, second = int(match["d1"]), int(match["d2"])
    if not 1 <= first < second <= 31:
        return None
    said = (
        f"{MONTHS[MONTH_NAMES[match['n']] - 1]} {ordinal(first, 'en')} to {ordinal(second, 'en')}"
    )
    return f"{said}, {year(int(match['y']))}" if match["y"] else said


def _duration(match: re.Match[str]) -> str:
    """ "3h 20m": behind hours an m is no meter, nor is one before seconds."""
    parts = (("h", "hour"), *(("m", "minute"), ("s", "second")), ("m2", "minute"), ("s2", "second"))
    found = match.groupdict()
    return " ".join(
        LOCALE.counted(str(int(found[part])), word, f"{word}s")
        for part, word in parts
        if found.get(part)
    )


def _inches(match: re.Match[str]) -> str | None:
    """None within quotes that are still open: they end there."""
    if match.string[: match.start()].count('"') % 2:
        return None
    return f"{LOCALE.written(match['v'])} inch"


def _lettered(match: re.Match[str]) -> str:
    """5G, 10k, 2.5M users: digits that a letter follows."""
    value, letter = match["v"], match["l"]
    tail = match.string[match.end() :]
    is_many = "." in value or re.match(r" (?!of\b|and\b|or\b|in\b)[a-z]{3,}s\b", tail) is not None
    if letter in "MB" and is_many:
        return f"{LOCALE.written(value)} {LOCALE.scales[letter][0]}"
    return f"{LOCALE.written(value)} {letter}"


def _clock_range(match: re.Match[str]) -> str | None:
    """None for numbers that need not be times of day."""
    found = match.groupdict()
    if not (found["p1"] or found["p2"] or (found["m1"] and found["m2"])):
        return None
    return " to ".join(_end_of_range(found, end) for end in "12")


def _end_of_range(found: dict[str, str | None], end: str) -> str:
    hour, minute = int(found[f"h{end}"] or 0), int(found[f"m{end}"] or 0)
    half = (found[f"p{end}"] or "").lower()
    return clock(hour, minute, half) if minute or half else cardinal(hour, "en")


def _about(match: re.Match[str]) -> str:
    start = match.start()
    is_between = start > 0 and match.string[start - 1].isalnum()
    return f"{' ' if is_between else ''}{_NEAR[match[0].strip()]} "


@lru_cache(maxsize=64)
def _is_shouted(text: str) -> bool:
    """Whether all of it is in capitals, and not of abbreviations alone."""
    words = [word for word in _CAPITALS.findall(text) if len(word) > 1]
    is_language = len(words) > 1 and any(len(word) > 4 or word in _SHORT for word in words)
    return is_language and not any(map(str.islower, text))


def _quieter(match: re.Match[str]) -> str | None:
    """Models spell out what is written in capitals. Up to three letters that are no common word are
    an abbreviation there too."""
    word = match[0]
    if _ROMAN_LETTERS.issuperset(word) or not (len(word) > 3 or word in _SHORT):
        return None
    return word.lower() if _is_shouted(match.string) else None


def _local_phone(match: re.Match[str]) -> str | None:
    """None for what is a range as likely: "200-1000"."""
    is_round = int(match["b"]) % 50 == 0 and match["b"][0] != "0"
    return None if is_round else LOCALE.digits(match[0])


_EUROPEAN = European(LOCALE)
_NUMBER = _EUROPEAN.number
_NEAR = {"~": "about", "≈": "about", "±": "plus or minus", "≥": "at least", "≤": "at most"}

RULES: list[Rule] = [
    *_EUROPEAN.web(),
    rule("phrase", r"(?<![\w/])24/7(?![\w/])", lambda m: "twenty-four seven"),
    rule("phrase", r"(?<![\w/])9/11(?![\w/])", lambda m: "nine eleven"),
    rule("phrase", r"(?<![\w/])50/50(?![\w/])", lambda m: "fifty fifty"),
    rule("phrase", r"(?<![\w/])20/20(?![\w/])", lambda m: "twenty twenty"),
    *_EUROPEAN.phones(),
    rule(
        "telephone",
        r"(?<=\b[Cc]all )[2-9]11\b|(?<=\b[Dd]ial )\d{3}\b|(?<=\b[Cc]alled )[2-9]11\b"
        r"|(?<=\b[Cc]alling )[2-9]11\b",
        lambda m: LOCALE.digits(m[0]),
    ),
    rule(
        "code",
        rf"(?P<state>\b(?:(?:ZIP|[Zz]ip)(?: code)?|{_STATES}):? )"
        r"(?P<v>\d{5}(?:-\d{4})?)\b",
        lambda m: m["state"] + LOCALE.digits(m["v"]),
    ),
    rule("telephone", r"(?<![\w.,$€£-])[2-9]\d{2}-(?P<b>\d{4})(?![\w-])", _local_phone),
    rule(
        "date",
        rf"\b(?P<n>{'|'.join(MONTH_NAMES)})\b\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s?[-–]\s?"
        r"(?P<d2>\d{1,2})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y>1\d{3}|20\d{2})\b)?",
        _days,
    ),
    *_EUROPEAN.dates(),
    rule(
        "day",
        rf"\b(?P<a>{_DAY_NAMES})\.?\s?[-–]\s?(?P<b>{_DAY_NAMES})\b\.?",
        lambda m: f"{_DAYS[m['a']]} to {_DAYS[m['b']]}",
    ),
    rule(
        "day",
        rf"\b(?P<a>{_DAY_NAMES})\b\.?(?=,? (?:\d|{'|'.join(MONTH_NAMES)}))",
        lambda m: _DAYS[m["a"]],
    ),
    rule(
        "date",
        r"\b(?P<n>Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.? (?P<y>1\d{3}|20\d{2})\b",
        lambda m: f"{MONTHS[MONTH_NAMES[m['n']] - 1]} {year(int(m['y']))}",
    ),
    rule(
        "time",
        r"(?<![\w.,])(?P<h>\d{1,3}) ?h(?:rs?)? ?(?P<m>[0-5]?\d) ?m(?:in)?"
        r"(?: ?(?P<s>[0-5]?\d) ?s(?:ec)?)?\b"
        r"|(?<![\w.,])(?P<m2>\d{1,2}) ?m ?(?P<s2>[0-5]?\d) ?s\b",
        _duration,
    ),
    rule(
        "code",
        r"(?<![\w.,-])\d+(?:-\d+){2,}(?![\w-])|(?<![\w.,/])\d+(?:/\d+){2,}(?![\w/])",
        lambda m: LOCALE.digits(m[0]),
    ),
    rule(
        "time",
        rf"(?<![\w:.,$])(?P<h1>{_HOUR})(?::(?P<m1>[0-5]\d))?{_HALF.format(1)}\s?[-–]\s?"
        rf"(?P<h2>{_HOUR})(?::(?P<m2>[0-5]\d))?{_HALF.format(2)}(?![\w:])",
        _clock_range,
    ),
    rule(
        "time",
        rf"(?<![\w:.,])(?P<h>{_HOUR}):(?P<m>[0-5]\d):(?P<s>[0-5]\d)(?![\w:])",
        lambda m: (
            f"{clock(int(m['h']), int(m['m']), '')} and "
            f"{LOCALE.counted(str(int(m['s'])), 'second', 'seconds')}"
        ),
    ),
    *_EUROPEAN.times(),
    rule("decade", r"(?<![\w.,])(?P<y>(?:1[1-9]|20)\d0|'?[1-9]0(?=s))s\b", _decade),
    *_EUROPEAN.money(),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<a>\d{1,3})(?:st|nd|rd|th)\s?[-–]\s?(?P<b>\d{1,3})(?:st|nd|rd|th)\b",
        lambda m: f"{ordinal(int(m['a']), 'en')} to {ordinal(int(m['b']), 'en')}",
    ),
    rule(
        "year",
        r"(?<![\w/])(?P<y>(?:19|20)\d\d)/(?P<z>\d\d)(?![\w/])",
        lambda m: f"{year(int(m['y']))} to {cardinal(int(m['z']), 'en')}",
    ),
    rule(
        "ordinal",
        r"(?<![\w.,])(?P<v>\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)\b",
        lambda m: ordinal(int(m["v"].replace(",", "")), "en"),
    ),
    rule(
        "fraction",
        r"(?<![\w/.])(?:(?P<w>\d+) )?(?P<a>\d{1,3})/(?P<b>\d{1,3})(?![\w/])"
        r"(?: (?P<u>tsp|tbsp|oz|lb|gal|mi|km|kg|ml|L)\b)?",
        _fraction,
    ),
    rule(
        "fraction",
        rf"(?<![\w.,])(?P<w>\d+)\s?(?P<f>{'|'.join(LOCALE.fractions)})",
        lambda m: f"{cardinal(int(m['w']), 'en')} and {LOCALE.fractions[m['f']]}",
    ),
    rule(
        "length",
        r"(?<![\w.,])(?P<f>\d)['′] ?(?P<i>\d{1,2})(?:[\"″]|'')",
        lambda m: f"{cardinal(int(m['f']), 'en')} foot {cardinal(int(m['i']), 'en')}",
    ),
    rule(
        "length",
        r"(?<![\w.,])(?P<f>\d{1,3}) ?ft\.? ?(?P<i>\d{1,2}) ?in\b\.?(?! \d)",
        lambda m: (
            f"{LOCALE.counted(m['f'], 'foot', 'feet')} {LOCALE.counted(m['i'], 'inch', 'inches')}"
        ),
    ),
    rule(
        "length",
        r"(?<![\w.,'])(?P<f>\d{1,3})['′](?= (?:tall|long|wide|deep|high|x)\b|$)",
        lambda m: LOCALE.counted(m["f"], "foot", "feet"),
    ),
    rule("length", r"(?<![\w.,'])(?P<v>\d{1,3}(?:\.\d)?)[\"″](?= [a-z])", _inches),
    *_EUROPEAN.measures(),
    rule("power", r"(?<=[A-Za-z)])[²³]", lambda m: " squared" if m[0] == "²" else " cubed"),
    rule("about", rf"[{''.join(_NEAR)}]\s?(?=[\d$€£])", _about),
    rule(
        "version",
        r"\bv(?P<v>\d+\.\d+)\b(?!\.\d)",
        lambda m: f"version {LOCALE.written(m['v'])}",
    ),
    rule(
        "numbering",
        r"(?:\bNo\.|\bNr\.|#|№) ?(?P<v>\d+)\b",
        lambda m: f"number {cardinal(int(m['v']), 'en')}",
    ),
    rule(
        "power",
        rf"(?<![\w.,])(?P<v>{_NUMBER})\^(?P<p>-?\d+)(?!\w)",
        lambda m: f"{LOCALE.written(m['v'])} to the power of {LOCALE.written(m['p'])}",
    ),
    rule(
        "times",
        rf"(?<![\w.,])(?P<v>{_NUMBER})x(?P<n> (?={_MORE})\b|\b)",
        lambda m: f"{LOCALE.written(m['v'])} {'times ' if m['n'] else 'x'}",
    ),
    rule("number", rf"(?<![\w.,])(?P<v>{_NUMBER})(?P<l>[A-Zkp])(?![\w])", _lettered),
    rule(
        "number",
        r"(?<![\w.,])(?P<s>-?)\.(?P<v>\d{1,6})(?!\w|\.\d)",
        lambda m: (
            f"{'minus ' if m['s'] else ''}point {' '.join(map(LOCALE.number, map(int, m['v'])))}"
        ),
    ),
    # "6ft 2in": letters of a unit that is none here are a word of their own.
    rule("number", rf"(?<![\w.,]){_NUMBER}(?=[A-Za-z]{{2,}})", lambda m: f"{_EUROPEAN.alone(m)} "),
    *_EUROPEAN.plain(),
    rule(
        "roman numeral",
        rf"\b(?P<n>{_COUNTED}) (?P<v>[IVX]|(?=[IVXLC]{{2}})C{{0,3}}(?:XC|XL|L?X{{0,3}})"
        r"(?:I[XV]|V?I{0,3}))\b(?!')",
        lambda m: f"{m['n']} {cardinal(roman.value(m['v']), 'en')}",
    ),
    rule(
        "roman numeral",
        rf"\b(?P<n>{_RULERS}) (?P<v>(?!I\b){_SMALL_ROMAN}|XX?|V|I(?=[.,;:)]|$| of ))\b(?!')",
        lambda m: f"{m['n']} the {ordinal(roman.value(m['v']), 'en')}",
    ),
    rule(
        "roman numeral",
        rf"\b(?P<n>[A-Z][a-z]{{2,}}) (?P<v>(?!I\b){_SMALL_ROMAN})\b(?!')",
        lambda m: f"{m['n']} {cardinal(roman.value(m['v']), 'en')}",
    ),
    rule("abbreviation", r"(?P<name>\b[A-Z]\w+ )?\bSt\.(?=[\s,;:]|$)", _street),
    *_EUROPEAN.words(),
    Rule("capitals", _CAPITALS, _quieter),
]
