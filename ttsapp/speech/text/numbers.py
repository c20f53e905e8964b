"""The rules that European languages share; what differs is in their `Locale`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ttsapp.speech.text.locales import Currency, Locale
from ttsapp.speech.text.rules import Rule, rule

# More digits than this in a row are a code of some kind, and are read one by one.
_LONGEST_NUMBER = 6
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def alternatives(words: Mapping[str, object]) -> str:
    """A pattern for any of these; the longest first, or `m` would be found in `mm`."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


class European:
    """Rules over one locale, from the most to the least telling form."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale
        group, decimal = locale.group, re.escape(locale.decimal)
        self.whole = rf"(?:\d{{1,3}}(?:[{group}]\d{{3}})+|\d+)"
        self.number = rf"{self.whole}(?:{decimal}\d+)?"
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
                rf"\b(?:https?://|www\.){host}(?::\d+)?{path}"
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
                r"(?<![\w.,])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])"
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
            rule("date", rf"\b{year}-(?P<m>[01]\d)-(?P<d>[0-3]\d)\b", self._date),
            rule(
                "date",
                rf"(?<![\w/.])(?P<a>[0-3]?\d)(?P<s>[/.])(?P<b>[0-3]?\d)(?P=s){year}(?![\w/])",
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
        return self._said_date(day, month, match["y"])

    def _said_date(self, day: int, month: int, year: str | None) -> str | None:
        if not (1 <= day <= 31 and 1 <= month <= 12):
            return None
        return self.locale.date(day, month, int(year) if year else None)

    def times(self) -> list[Rule]:
        half = r"(?: ?(?P<h>[ap])\.?\s?m\b\.?)"
        clock = r"(?P<hour>[01]?\d|2[0-4])"
        tail = r"(?: (?:Uhr|h|hrs?)\b)?"
        return [
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

    # ---- money

    def money(self) -> list[Rule]:
        signs = alternatives(self.locale.currencies)
        scale = rf"(?:\s?(?P<k>{alternatives(self.locale.scales)})(?!\w))?"
        return [
            rule("money", rf"(?P<s>{signs})\s?(?P<v>{self.number})(?!\d){scale}", self._money),
            rule(
                "money",
                rf"{self.before}(?P<v>{self.number}){scale}\s?(?P<s>{signs})(?!\w)",
                self._money,
            ),
        ]

    def _money(self, match: re.Match[str]) -> str:
        currency = self.locale.currencies[match["s"]]
        scale = match.groupdict().get("k")
        if scale:
            one, many = self.locale.scales[scale]
            return f"{self.locale.counted(match['v'], one, many)} {currency.many}"
        whole, _, cents = match["v"].partition(self.locale.decimal)
        if len(cents) != 2 or not currency.small_one:
            words = currency.one if match["v"] == "1" else currency.many
            return self.locale.counted(match["v"], words, words)
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
            rule("percent", rf"{value}\s?%", self._percent),
            rule("unit", rf"{value}\s?(?P<u>{units})(?![\w²³])", self._measure),
            rule(
                "range",
                rf"{self.before}(?P<a>{self.number})\s?[-–]\s?(?P<b>{self.number}){self.after}(?!-)",
                lambda m: f"{self._end(m['a'])} {self.locale.to} {self._end(m['b'])}",
            ),
        ]

    def _percent(self, match: re.Match[str]) -> str:
        return self._from(match) + f"{self.locale.written(match['v'])} {self.locale.percent}"

    def _measure(self, match: re.Match[str]) -> str:
        units = self.locale.units[match["u"]]
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
            rule(
                "ratio",
                r"(?<![\w.:])\d{1,3}(?::\d{1,3})+(?![\w:])",
                lambda m: " ".join(self.locale.number(int(part)) for part in m[0].split(":")),
            ),
            rule(
                "version",
                rf"(?<![\w.])v?(?!{self.whole}(?!\.?\d))\d+(?:\.\d+){{2,}}(?!\w)",
                self._version,
            ),
            rule("year", rf"(?<![\w.,])(?:1[1-9]|20)\d{{2}}{self.after}", self._year),
            rule("number", rf"(?<![\w.,-])-?{self.number}{self.after}", self._number),
            rule("number", rf"(?<![\w.,]){self.number}(?=-?[A-Za-z]{{2,}})", self._number),
        ]

    def _version(self, match: re.Match[str]) -> str:
        parts = re.findall(r"\d+", match[0])
        return f" {self.locale.point} ".join(self.locale.number(int(part)) for part in parts)

    def _year(self, match: re.Match[str]) -> str:
        return self.locale.year(int(match[0]))

    def _number(self, match: re.Match[str]) -> str | None:
        text = match[0]
        is_code = text.isdigit() and (
            len(text) > _LONGEST_NUMBER or (text[0] == "0" and text != "0")
        )
        return self.locale.digits(text) if is_code else self.locale.written(text)

    # ---- words and signs

    def words(self) -> list[Rule]:
        names, symbols = self.locale.names, self.locale.symbols
        return [
            rule(
                "abbreviation",
                rf"(?<![\w.])(?:{alternatives(names)})(?!\w)",
                lambda m: names[m[0]],
            ),
            rule(
                "symbol",
                rf"(?<=[\w\s])\s?(?:{alternatives(symbols)})(?=[\w\s])(?!\s*$)\s?",
                lambda m: f" {symbols[m[0].strip()]} ",
            ),
            rule(
                "fraction",
                "|".join(map(re.escape, self.locale.fractions)) or r"(?!)",
                lambda m: self.locale.fractions[m[0]],
            ),
        ]
