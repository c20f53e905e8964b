"""A small part of SSML: speak, p, s, break, sub, say-as and the rate of prosody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from ttsapp.errors import ApiError
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.markup import Pause, Run, Words, refused, time
from ttsapp.speech.text.reading import DATE_ORDERS

_RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}
_STRENGTHS = {"none": 0, "x-weak": 100, "weak": 200, "medium": 400, "strong": 700, "x-strong": 1200}
_READINGS = (
    *("characters", "spell-out", "verbatim", "digits", "cardinal", "number", "ordinal"),
    *("date", "time", "telephone", "currency", "unit", "fraction", "address"),
)
# Each element that is understood, with its attributes.
_KNOWN: dict[str, frozenset[str]] = {
    "speak": frozenset({"version", "xmlns", "xml:lang"}),
    "p": frozenset(),
    "s": frozenset(),
    "break": frozenset({"time", "strength"}),
    "sub": frozenset({"alias"}),
    "say-as": frozenset({"interpret-as", "format", "detail"}),
    "prosody": frozenset({"rate"}),
}
_REMEDIES = {
    "phoneme": 'the voice reads words, not phonemes: use <sub alias="…"> or the lexicon',
    "voice": "choose the voice in the request",
    "lang": "choose the language in the request",
    "audio": "no audio can be mixed in",
    "emphasis": "use punctuation, or instructions where the model takes them",
    "mark": "ask for word timestamps",
}
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class _Open:
    """An element whose end has not been read; `start`: where it begins in the source."""

    name: str
    start: int
    rate: float
    alias: str | None = None
    reading: str = ""


def parse(source: str, field: str) -> list[Run]:
    """The stretches of a `<speak>` document. Raises ApiError 400 that names the place."""
    return _Reader(source, field).read()


class _Reader:
    def __init__(self, source: str, field: str) -> None:
        self._source, self._field = source, field
        # expat counts bytes: places are found again by decoding what lies before.
        self._bytes = source.encode("utf-8", "replace")
        self._is_ascii = len(self._bytes) == len(source)
        self._runs: list[Run] = []
        self._open: list[_Open] = []
        # Where the text that a <sub> replaces begins and ends.
        self._replaced: tuple[int, int] | None = None
        # In a CDATA section, where & is no more than itself.
        self._is_literal = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = False
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.StartCdataSectionHandler = self._begin_literal
        self._parser.EndCdataSectionHandler = self._end_literal
        # Without a document type there are no entities that could grow.
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.ProcessingInstructionHandler = self._instruction

    def read(self) -> list[Run]:
        try:
            self._parser.Parse(self._bytes, True)
        except expat.ExpatError as error:
            # What is wrong was read before the place that expat names.
            message = f"This is not valid SSML ({expat.ErrorString(error.code)}): "
            message += "close every tag, and write &amp; for & and &lt; for <."
            place = self._place(max(0, self._parser.ErrorByteIndex))
            raise refused(self._field, place, message) from None
        return self._runs

    def _place(self, byte: int | None = None) -> int:
        byte = self._parser.CurrentByteIndex if byte is None else byte
        return byte if self._is_ascii else len(self._bytes[:byte].decode("utf-8", "ignore"))

    def _refused(self, message: str) -> ApiError:
        return refused(self._field, self._place(), message)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._check(name, attributes)
        rate = self._open[-1].rate if self._open else 1.0
        opened = _Open(name, self._place(), rate)
        if name == "break":
            self._runs.append(Pause(self._pause(attributes), opened.start, opened.start))
        elif name == "prosody":
            rate = min(max(rate * self._rate(attributes), 0.25), 4.0)
            opened = _Open(name, opened.start, rate)
        elif name == "sub":
            opened = _Open(
                name, opened.start, rate, alias=self._required(attributes, name, "alias")
            )
        elif name == "say-as":
            opened = _Open(name, opened.start, rate, reading=self._reading(attributes))
        self._open.append(opened)

    def _end(self, name: str) -> None:
        closed = self._open.pop()
        place = self._place()
        if closed.alias:
            text = Mapped.instead(closed.alias, *(self._replaced or (place, place)))
            self._runs.append(Words(text, closed.rate, is_fixed=True))
            self._replaced = None
        elif name in ("p", "s"):
            blank = Mapped.instead("\n\n" if name == "p" else "\n", place, place)
            self._runs.append(Words(blank, closed.rate))

    def _data(self, data: str) -> None:
        inner, start = self._open[-1], self._place()
        text = Mapped.of(data, start)
        if not self._is_literal and self._source[start : start + 1] == "&":
            text = Mapped.instead(data, start, self._source.index(";", start) + 1)
        if inner.alias is not None:
            begin = self._replaced[0] if self._replaced else start
            self._replaced = begin, text.ends[-1]
            return
        self._runs.append(
            Words(text, inner.rate, is_fixed=bool(inner.reading), reading=inner.reading)
        )

    def _begin_literal(self) -> None:
        self._is_literal = True

    def _end_literal(self) -> None:
        self._is_literal = False

    def _check(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "speak":
            raise self._refused("SSML begins with <speak>.")
        if name not in _KNOWN:
            remedy = _REMEDIES.get(name, f"use {', '.join(_KNOWN)}")
            raise self._refused(f"<{name[:30]}> is not offered: {remedy}.")
        if self._open and name == "speak":
            raise self._refused("One <speak> holds the whole text.")
        if self._open and self._open[-1].name in ("sub", "say-as", "break"):
            raise self._refused(
                f"<{self._open[-1].name}> holds no other tags: put <{name}> outside."
            )
        if len(self._open) >= _DEEPEST:
            raise self._refused(f"Tags may be nested {_DEEPEST} deep.")
        for attribute in attributes:
            if attribute not in _KNOWN[name]:
                known = ", ".join(sorted(_KNOWN[name])) or "none"
                message = f"<{name}> has no attribute {attribute[:30]!r} here: it may have {known}."
                raise self._refused(message)

    def _required(self, attributes: dict[str, str], name: str, attribute: str) -> str:
        if not attributes.get(attribute, "").strip():
            raise self._refused(f'<{name}> needs {attribute}="…".')
        return attributes[attribute]

    def _pause(self, attributes: dict[str, str]) -> int:
        if "time" in attributes:
            return time(attributes["time"], self._place(), self._field)
        strength = attributes.get("strength", "medium")
        if strength not in _STRENGTHS:
            choices = ", ".join(_STRENGTHS)
            raise self._refused(f"strength {strength[:20]!r} is unknown: choose one of {choices}.")
        return _STRENGTHS[strength]

    def _rate(self, attributes: dict[str, str]) -> float:
        asked = self._required(attributes, "prosody", "rate").strip()
        if asked in _RATES:
            return _RATES[asked]
        is_percent, is_change = asked.endswith("%"), asked[0] in "+-"
        try:
            value = float(asked.rstrip("%")) / (100 if is_percent else 1)
        except ValueError:
            value = 0.0
        value = 1 + value if is_percent and is_change else value
        if not 0.25 <= value <= 4:
            choices = ", ".join(_RATES)
            message = f"rate {asked[:20]!r}: write 25% to 400%, 0.25 to 4, or one of {choices}."
            raise self._refused(message)
        return value

    def _reading(self, attributes: dict[str, str]) -> str:
        reading = self._required(attributes, "say-as", "interpret-as")
        if reading not in _READINGS:
            choices = ", ".join(_READINGS)
            message = f"interpret-as {reading[:20]!r} is unknown: choose one of {choices}."
            raise self._refused(message)
        order = attributes.get("format", "") if reading == "date" else ""
        if order and order not in DATE_ORDERS:
            choices = ", ".join(DATE_ORDERS)
            raise self._refused(f"format {order[:20]!r} is unknown: choose one of {choices}.")
        return f"{reading} {order}".rstrip()

    def _doctype(self, *_: Any) -> None:
        raise self._refused("Leave the document type out.")

    def _instruction(self, *_: Any) -> None:
        raise self._refused("Leave processing instructions out.")
