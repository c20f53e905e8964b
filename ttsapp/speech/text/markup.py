"""What markup makes of a text: stretches of words, with pauses and a rate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ttsapp.errors import ApiError, invalid
from ttsapp.speech.text.mapped import Mapped

LONGEST_PAUSE_MS = 10_000
# Of a whole text: silence costs its sender nothing.
LONGEST_SILENCE_MS = 60_000
TOO_SILENT = (
    f"The pauses of a text may have {LONGEST_SILENCE_MS // 1000} s in all: shorten them, or send "
    "the text in several requests."
)


class Markup(StrEnum):
    """How tags in a text are taken: as text, pauses alone with the rest as text or refused, or all
    of our SSML."""

    NONE = "none"
    PAUSES = "pauses"
    PAUSES_ONLY = "pauses only"
    SSML = "ssml"


# What clients write for it.
MARKUP_VALUES = {False: Markup.NONE, True: Markup.SSML, "pauses": Markup.PAUSES}


def markup(asked: bool | str) -> Markup:
    """Raises KeyError for what is none of these values."""
    return MARKUP_VALUES[asked]


_TIME = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?(ms|s)", re.IGNORECASE)
_PAUSE_TAG = re.compile(
    r"\[pause(?:\s+(?P<a>[^\]\n]{1,20}))?\]"
    r"|<break(?:\s+time\s*=\s*(?P<q>[\"'])(?P<b>.{0,20}?)(?P=q))?\s*(?:/>|>(?:</break\s*>)?)",
    re.IGNORECASE,
)
# A tag for a pause that asks for something else, or is closed without having been opened.
_NO_PAUSE = re.compile(r"</?break(?![\w-])[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w:-]{0,30}(?:\s[^<>]{0,200})?/?>", re.IGNORECASE)
_USUAL_PAUSE_MS = 500


@dataclass(frozen=True, slots=True)
class Pause:
    """`start` and `end`: what in the original asks for it."""

    milliseconds: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Words:
    """`is_fixed`: the markup says what is spoken, so nothing is normalised or looked up."""

    text: Mapped
    rate: float = 1.0
    is_fixed: bool = False
    reading: str = ""

    @property
    def is_alias(self) -> bool:
        """Whether it is said in place of words."""
        return self.is_fixed and not self.reading


Run = Pause | Words


def plain(text: str) -> list[Run]:
    """Everything is text."""
    return [Words(Mapped.of(text))]


def with_pauses(text: str, field: str, *, is_strict: bool = False) -> list[Run]:
    """`[pause]`, `[pause 700ms]`, `<break time="0.7s"/>` in text that is otherwise plain.

    Raises ApiError 400 naming the place of a pause that cannot be understood, which nobody wants
    read aloud, or (`is_strict`) of another tag."""
    runs: list[Run] = []
    place = 0
    for match in _PAUSE_TAG.finditer(text):
        if match.start() > place:
            runs.append(Words(Mapped.of(text[place : match.start()], place)))
        asked = match["a"] or match["b"]
        milliseconds = time(asked, match.start(), field) if asked else _USUAL_PAUSE_MS
        runs.append(Pause(milliseconds, *match.span()))
        place = match.end()
    if place < len(text):
        runs.append(Words(Mapped.of(text[place:], place)))
    _refuse_tags(runs, _TAG if is_strict else _NO_PAUSE, field)
    return runs


def _refuse_tags(runs: list[Run], tag: re.Pattern[str], field: str) -> None:
    for run in runs:
        if isinstance(run, Words) and (found := tag.search(run.text.text)):
            message = f'{found[0][:30]!r} is not offered here: <break time="1s"/> is.'
            raise refused(field, run.text.starts[found.start()], message)


def time(asked: str, place: int, field: str) -> int:
    """Milliseconds of `700ms` or `0.7s`. Raises ApiError 400."""
    match = _TIME.fullmatch(asked.strip())
    if match is None:
        raise refused(field, place, f"{asked[:20]!r} is no time: write 500ms or 0.5s.")
    milliseconds = round(float(match[1]) * (1 if match[2].lower() == "ms" else 1000))
    if milliseconds > LONGEST_PAUSE_MS:
        raise refused(field, place, f"A pause may have {LONGEST_PAUSE_MS // 1000} s at most.")
    return milliseconds


def check_silence(runs: list[Run], field: str) -> None:
    """Raises ApiError 400 at the pause that makes them too long together."""
    left = LONGEST_SILENCE_MS
    for run in runs:
        if not isinstance(run, Pause):
            continue
        left -= run.milliseconds
        if left < 0:
            raise refused(field, run.start, TOO_SILENT)


def refused(field: str, place: int, message: str) -> ApiError:
    return invalid(f"{field}, character {place + 1}: {message}", field, "invalid_markup")
