"""The rules that European languages share; what differs is in their `Locale`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ttsapp.speech.text.locales import Currency, Locale
from ttsapp.speech.text.rules import Rule, rule

# More digits than this in a row are a code of some kind, and are read one by one.
_LONGEST_NUMBER = 6
_ROUND = "000"
_BEHIND_NUMBER = re.compile(r"\d ?$")
_LONGEST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def alternatives(words: Mapping[str, object]) -> str:
    """A pattern for any of these; the longest first, or `m` would be found in `mm`."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _blank_before(match: re.Match[str]) -> str:
    return "" if match.string[match.start() - 1].isspace() else " "


class European:
    """Rules over one locale, from the most to the least telling form."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale
        group, decimal = locale.group, re.escape(locale.decimal)
        self.whole = rf"(?:\d{{1,3}}(?:[{group}]\d{{3}})+|\d+)"
        # Or as others write it, where both marks tell: 1.234,56 in English.
        other = r"\." if locale.decimal == "," else ","
        swapped = rf"\d{{1,3}}(?:{decimal}\d{{3}})+{other}\d+"
        self.number = rf"(?:{swapped}|{self.whole}(?:{decimal}\d+)?)"
        # So are prices, by their two digits at the end: 1,50 in English, 1'234.50 in Switzerland.
        self.price = rf"(?:\d{{1,3}}(?:'\d{{3}})+|\d{{1,6}}){other}\d\d(?![.,]?\d)"
        # A number begins a word, and does not end inside of one.
        self.before = r"(?<![\w.,])"
        self.after = r"(?![\w]|[.,]\d)"

    def rules(self) -> list[Rule]:
        return [
            *self.web(),
            *self.phones(),
            *self.dates(),
            *self.times(),
            *self.money(),
            *self.measures(),
            *self.plain(),
            *self.words(),
        ]

    # ---- web addresses

    def web(self) -> list[Rule]:
        label = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
        host = rf"(?:{label}\.)+[A-Za-z]{{2,}}"
        path = r"(?:[/?#][\w\-./?%&=+#~:]*[\w/])?"
        known = r"(?:com|org|net|edu|gov|io|ai|dev|app|de|fr|es|uk|eu|ch|at|cn|jp|info|me|co)"
        return [
            rule("e-mail", rf"\b[\w.+-]+@{host}\b", lambda m: self._spelt(m[0])),
            rule(
                "web address",
                rf"\b(?:https?://{label}(?:\.{label})*|www\.{host})(?::\d+)?{path}"
                rf"|\b(?:{label}\.)+{known}\b(?!\.[A-Za-z]){path}",
                lambda m: self._spelt(re.sub(r"^https?://", "", m[0]).rstrip("/")),
            ),
        ]

    def _spelt(self, address: str) -> str:
        marks = self.locale.web
        words = re.findall(r"[A-Za-z]+|\d|[^\w\s]|_", address)
        said = [marks.get(word, word) for word in words]
        return " ".join(self.locale.number(int(word)) if word.isdigit() else word for word in said)

    # ---- telephone numbers

    def phones(self) -> list[Rule]:
        return [
            rule(
                "telephone",
                r"(?<!\w)\+\d[\d ()./-]{6,18}\d\b",
                lambda m: f"{self.locale.plus} {self.locale.digits(m[0])}",
            ),
            rule(
                "telephone",
                r"(?<![\w.,])(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])"
                r"|(?<![\w.,])0\d{2,4}[ /-]\d[\d -]{3,12}\d(?![\w-])",
                lambda m: self.locale.digits(m[0]),
            ),
        ]

    # ---- dates and times

    def dates(self) -> list[Rule]:
        names = alternatives(self.locale.month_names)
        # A short name's full stop; a long one's ends the sentence.
        dot = r"(?:(?:(?<=\b\w{3})|(?<=\b\w{4}))\.(?= ?[\w,]))?"
        day = rf"(?P<d>[0-3]?\d){self.locale.after_day}"
        year = r"(?P<y>1\d{3}|20\d{2})"
        return [
            rule("date", rf"\b{year}(?P<s>[-/])(?P<m>[01]\d)(?P=s)(?P<d>[0-3]\d)\b", self._date),
            rule(
                "date",
                rf"(?<![\w/.])(?P<a>[0-3]?\d)(?P<s>[/.])(?P<b>[0-3]?\d)(?P=s){year}(?![\w/])",
                self._numeric_date,
            ),
            rule(
                "date",
                rf"(?<![\w/.])(?<![Vv]ersion )(?P<a>[0-3]?\d)(?P<s>[{self.locale.date_marks}])"
                r"(?P<b>[0-3]?\d)(?P=s)(?P<y>\d{2})(?![\w/]|\.\d)",
                self._numeric_date,
            ),
            rule(
                "date",
                rf"(?<![\w.,:]){self.locale.before_day}(?<![\w.,:]){day} (?:of |de )?"
                rf"(?P<n>{names})\b{dot}(?:,? (?:de |del )?{year}\b)?",
                self._date,
            ),
            rule("date", rf"\b(?P<n>{names})\b\.? {day}(?!\d|:)(?:,? {year}\b)?", self._date),
        ]

    def _date(self, match: re.Match[str]) -> str | None:
        found = match.groupdict()
        month = self.locale.month_names[found["n"]] if found.get("n") else int(found["m"])
        return self._said_date(int(found["d"]), month, found["y"])

    def _numeric_date(self, match: re.Match[str]) -> str | None:
        first, second = int(match["a"]), int(match["b"])
        day_first = self.locale.day_first or match["s"] == "." or first > 12
        day, month = (first, second) if day_first else (second, first)
        year = match["y"]
        # Of two digits, up to 49 is to come or has been lately.
        if len(year) == 2:
            year = ("20" if year < "50" else "19") + year
        return self._said_date(day, month, year)

    def day_of_month(self, before: str, no_date: str) -> Rule:
        """Without a year, behind one of the words `before` that only a day has: le 3/10. Where
        `no_date` follows it is a part of something."""
        return rule(
            "date",
            rf"(?P<before>\b(?:{before}) )(?P<d>[0-3]?\d)/(?P<m>[01]?\d)(?![\w/]|{no_date})",
            self._short_date,
        )

    def _short_date(self, match: re.Match[str]) -> str | None:
        said = self._said_date(int(match["d"]), int(match["m"]), None)
        return said and match["before"] + said

    def _said_date(self, day: int, month: int, year: str | None) -> str | None:
        if not (1 <= month <= 12 and 1 <= day <= _LONGEST_DAYS[month - 1]):
            return None
        return self.locale.date(day, month, int(year) if year else None)

    def times(self) -> list[Rule]:
        half = r"(?: ?(?P<h>[apAP])\.?\s?[mM]\b\.?)"
        clock = r"(?P<hour>[01]?\d|2[0-4])"
        tail = r"(?: (?:Uhr|h|hrs?)\b)?"
        return [
            rule(
                "time",
                r"(?<![\w:.,])(?P<h1>[01]?\d|2[0-4]):(?P<m1>[0-5]\d)\s?[-–]\s?"
                rf"(?P<h2>[01]?\d|2[0-4]):(?P<m2>[0-5]\d)(?![\w:]){tail}",
                self._hours,
            ),
            rule(
                "time",
                rf"(?<![\w:.,]){clock}:(?P<min>[0-5]\d)(?!:?\d){half}?{tail}",
                self._time,
            ),
            rule("time", rf"(?<![\w:.,$€£]){clock}{half}", self._time),
        ]

    def _time(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        half = (found.get("h") or "").lower()
        return self.locale.time(int(found["hour"]), int(found.get("min") or 0), half)

    def _hours(self, match: re.Match[str]) -> str:
        said = (self.locale.time(int(match[f"h{end}"]), int(match[f"m{end}"]), "") for end in "12")
        return f" {self.locale.to} ".join(said)

    # ---- money

    def money(self) -> list[Rule]:
        signs = alternatives(self.locale.currencies)
        scale = rf"(?:\s?(?P<k>{alternatives(self.locale.scales)})(?!\w))?"
        minus = r"(?P<minus>(?<![\w)-])-)?"
        # "20,-" and "20.–" have no cents.
        nothing = r"(?:[.,][-–—]{1,2})?"
        return [
            rule(
                "money",
                rf"{minus}(?P<s>{signs})\s?(?:(?P<a>{self.number})(?:[-–](?P=s)?|\s[-–]\s(?P=s)))?"
                rf"(?P<v>{self.price}|{self.number}|{re.escape(self.locale.decimal)}\d\d){nothing}"
                rf"(?!\d){scale}",
                self._money,
            ),
            rule(
                "money",
                rf"{minus}{self.before}(?:(?P<a>{self.number})\s?[-–]\s?)?"
                rf"(?P<v>{self.price}|{self.number}){nothing}{scale}\s?(?P<s>{signs})(?!\w)",
                self._money,
            ),
        ]

    def _money(self, match: re.Match[str]) -> str | None:
        is_before = match.start("s") < match.start("v")
        if (
            is_before
            and match["s"].isalpha()
            and _BEHIND_NUMBER.search(match.string[: match.start()])
        ):
            # A word that the number before it counts: 3 Euro 50.
            return None
        currency = self.locale.currencies[match["s"]]
        if self._is_attribute(match):
            currency = replace(currency, many=currency.one)
        if scale := match["k"]:
            one, many = self.locale.scales[scale]
            said = f"{self.locale.counted(match['v'], one, many)} {currency.many}"
            said = said.replace(" de euro", " d'euro") if self.locale.code == "fr" else said
        else:
            said = self._amount(match["v"], currency)
        if match["minus"]:
            said = f"{self.locale.minus} {said}"
        if (least := match["a"]) and self.locale.decimal in least:
            return f"{self._amount(least, currency)} {self.locale.to} {said}"
        return self._from(match) + said

    def _is_attribute(self, match: re.Match[str]) -> bool:
        """Whether what is measured so comes behind: a ten dollar bill, a five mile run."""
        if not self.locale.is_attributive:
            return False
        before, after = match.string[: match.start()], match.string[match.end() :]
        is_noun = re.match(
            r"[ -](?!an? |per |each |every |to |and |or |in |on |at |for |of )[a-z]", after
        )
        return is_noun is not None and re.search(r"\b[Aa]n? $", before) is not None

    def _amount(self, text: str, currency: Currency) -> str:
        text = self.locale.own(text)
        if re.fullmatch(self.price, text):
            text = text[:-3] + self.locale.decimal + text[-2:]
        # Nobody writes thousandths of money.
        if re.fullmatch(rf"\d{{1,3}}{re.escape(self.locale.decimal)}\d{{3}}", text):
            text = text.replace(self.locale.decimal, "")
        whole, _, cents = text.partition(self.locale.decimal)
        whole = whole or "0"
        if len(cents) != 2 or not currency.small_one:
            words = currency.one if text == "1" else currency.many
            return self.locale.counted(text, words, words)
        return self._coins(whole, cents.lstrip("0") or "0", currency)

    def _coins(self, whole: str, cents: str, currency: Currency) -> str:
        large = self.locale.counted(whole, currency.one, currency.many)
        small = self.locale.counted(cents, currency.small_one, currency.small_many)
        if cents == "0":
            return large
        return (
            small if whole == "0" else f"{large} {self.locale.money_and} {small}".replace("  ", " ")
        )

    # ---- measures

    def measures(self) -> list[Rule]:
        units = alternatives(self.locale.units)
        value = rf"(?<![\w.,])(?:(?P<a>{self.number})\s?[-–]\s?)?(?P<v>-?{self.number})"
        return [
            self._dimension(units),
            rule("percent", rf"{value}\s?%", self._percent),
            rule("unit", rf"{value}\s?(?P<u>{units})(?![\w²³])", self._measure),
            rule(
                "range",
                rf"{self.before}(?P<a>{self.number})\s?[-–]\s?(?P<b>{self.number}){self.after}(?!-)",
                self._range,
            ),
            rule("per", rf"/(?P<p>{alternatives(self.locale.per)})\b", self._per),
        ]

    def _dimension(self, units: str) -> Rule:
        """3x4, 2 x 4 m, 5 cm x 3 cm x 2 cm."""
        side = rf"{self.number}(?:\s?(?:{units}))?"
        return rule(
            "dimension",
            rf"(?<![\w.,]){side}(?:\s?[x×]\s?{side})+(?![\w²³])",
            self._product,
        )

    def _product(self, match: re.Match[str]) -> str:
        is_sum = match.string[match.end() :].lstrip().startswith("=")
        by = self.locale.symbols["×"] if is_sum else self.locale.by
        return f" {by} ".join(map(self._side, re.split(r"\s?[x×]\s?", match[0])))

    def _side(self, text: str) -> str:
        value = re.match(self.number, text)
        assert value is not None
        unit = text[value.end() :].strip()
        return self.locale.counted(value[0], *self.locale.units[unit]) if unit else self._end(text)

    def _range(self, match: re.Match[str]) -> str:
        """Or a difference, where the second is the smaller one and blanks are about the dash."""
        is_less = self._value(match["a"]) > self._value(match["b"]) and " " in match[0]
        is_sum = match.string[match.end() :].lstrip().startswith("=")
        between = self.locale.minus if is_less or is_sum else self.locale.to
        return f"{self._end(match['a'])} {between} {self._end(match['b'])}"

    def _value(self, text: str) -> float:
        whole, _, decimals = self.locale.own(text).partition(self.locale.decimal)
        return float("".join(filter(str.isdigit, whole)) + "." + (decimals or "0"))

    def _per(self, match: re.Match[str]) -> str | None:
        """Behind a number and what it counts alone: "and/or" and "km/h" are none."""
        measured = re.search(r"\d\s?[^\s\d/]{0,9}$", match.string[: match.start()])
        return f" {self.locale.per[match['p']]}" if measured else None

    def _percent(self, match: re.Match[str]) -> str:
        return self._from(match) + f"{self.locale.written(match['v'])} {self.locale.percent}"

    def _measure(self, match: re.Match[str]) -> str:
        one, many = self.locale.units[match["u"]]
        units = (one, one if self._is_attribute(match) else many)
        return self._from(match) + self.locale.counted(match["v"], *units)

    def _from(self, match: re.Match[str]) -> str:
        """The lower end, where a range is measured."""
        return f"{self.locale.written(match['a'])} {self.locale.to} " if match["a"] else ""

    def _end(self, text: str) -> str:
        """One end of a range; four digits alone are a year."""
        is_year = re.fullmatch(r"(?:1[1-9]|20)\d\d", text)
        return self.locale.year(int(text)) if is_year else self.locale.written(text)

    # ---- numbers

    def plain(self) -> list[Rule]:
        return [
            *self.codes(),
            rule("ratio", r"(?<![\w.:])\d{1,3}(?::\d{1,3})+(?![\w:])", self._ratio),
            rule(
                "version",
                rf"(?<![\w.])v?(?!{self.whole}(?!\.?\d))\d+(?:\.\d+){{2,}}(?!\w)",
                self._version,
            ),
            rule("year", rf"(?<![\w.,])(?:1[1-9]|20)\d{{2}}{self.after}", self._year),
            *self.compared(),
            rule("power", rf"(?<![\w.,-]){self.number}[²³](?!\w)", self._power),
            rule("number", rf"(?<![\w.,-])-?{self.number}{self.after}", self.alone),
            rule("number", rf"(?<![\w.,]){self.number}(?=-?[A-Za-z]{{2,}})", self.alone),
        ]

    def codes(self) -> list[Rule]:
        """Numbers that count nothing: read one digit after the other."""
        byte = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
        return [
            rule("address", rf"(?<![\w.])(?:{byte}\.){{3}}{byte}(?!\w|\.\d)", self._internet),
            rule(
                "code",
                r"(?<![\w.,-])\d{4}(?: \d{4}){2,}(?: \d{1,4})?(?!\w)",
                lambda m: self.locale.digits(m[0]),
            ),
            rule("code", r"\b[A-Z]{2}\d{2}(?: \d{4}){3,}(?: \d{1,4})?\b", self._account),
        ]

    def _internet(self, match: re.Match[str]) -> str:
        dot = self.locale.web["."]
        return f" {dot} ".join(self.locale.digits(part) for part in match[0].split("."))

    def _account(self, match: re.Match[str]) -> str:
        return f"{match[0][0]} {match[0][1]} {self.locale.digits(match[0][2:])}"

    def compared(self) -> list[Rule]:
        """Signs before a number, and those that compare."""
        words = {"<": self.locale.less, ">": self.locale.more}
        return [
            # "I <3 you" is a heart.
            rule(
                "compared",
                r"(?<![\w<>/=-])(?<!\w )(?!<3(?:\s|$))[<>]\s?(?=[\d$€£])",
                lambda m: f"{words[m[0].strip()]} ",
            ),
            rule("compared", r"(?<=\w) [<>] (?=\w)", lambda m: f" {words[m[0].strip()]} "),
            rule("sign", r"(?<![\w)+.,-])(?<!\w )\+(?=\d)", lambda m: f"{self.locale.plus} "),
        ]

    def _ratio(self, match: re.Match[str]) -> str:
        parts = [self.locale.number(int(part)) for part in match[0].split(":")]
        return (f" {self.locale.ratio} " if len(parts) == 2 else " ").join(parts)

    def _power(self, match: re.Match[str]) -> str:
        return f"{self.locale.written(match[0][:-1])} {self.locale.powers[match[0][-1]]}"

    def _version(self, match: re.Match[str]) -> str:
        parts = re.findall(r"\d+", match[0])
        return f" {self.locale.dot} ".join(self.locale.number(int(part)) for part in parts)

    def decimals(self) -> list[Rule]:
        """With a full stop, where a comma is usual; before three digits it parts thousands."""
        return [
            rule(
                "number",
                r"(?<![\w.,-])\d+\.(?:\d{1,2}|\d{4,6})(?!\w|[.,]\d)",
                self._decimal,
            )
        ]

    def _decimal(self, match: re.Match[str]) -> str:
        whole, _, rest = match[0].partition(".")
        said = " ".join(self.locale.number(int(digit)) for digit in rest)
        return f"{self.locale.number(int(whole))} {self.locale.dot} {said}"

    def _year(self, match: re.Match[str]) -> str:
        return self.locale.year(int(match[0]))

    def alone(self, match: re.Match[str]) -> str:
        """A number that counts nothing we know."""
        text = match[0]
        is_long = len(text) > _LONGEST_NUMBER and not text.endswith(_ROUND)
        is_code = text.isdigit() and (is_long or (text[0] == "0" and text != "0"))
        return self.locale.digits(text) if is_code else self.locale.written(text)

    # ---- words and signs

    def words(self) -> list[Rule]:
        names, symbols, numbering = self.locale.names, self.locale.symbols, self.locale.numbering
        return [
            rule(
                "numbering",
                rf"(?<![\w.])(?P<n>{alternatives(numbering)})\s?(?=\d)",
                lambda m: f"{numbering[m['n']]} ",
            ),
            rule(
                "abbreviation",
                rf"(?<![\w.&])(?:{alternatives(names)})(?!\w)",
                lambda m: names[m[0]],
            ),
            rule(
                "symbol",
                rf"(?:(?<=\w)\s?|(?<=\s))(?:{alternatives(symbols)})(?=[\w\s])(?!\s*$)\s?",
                lambda m: f"{_blank_before(m)}{symbols[m[0].strip()]} ",
            ),
            rule(
                "fraction",
                "|".join(map(re.escape, self.locale.fractions)) or r"(?!)",
                lambda m: self.locale.fractions[m[0]],
            ),
        ]
