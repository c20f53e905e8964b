"""The whole way from a client's text to the segments that are spoken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from ttsapp.speech.text import languages, ssml
from ttsapp.speech.text.charges import Charges
from ttsapp.speech.text.clean import clean
from ttsapp.speech.text.detect import detect
from ttsapp.speech.text.lexicon import EMPTY, Lexicon
from ttsapp.speech.text.mapped import Mapped, Written
from ttsapp.speech.text.markup import (
    Markup,
    Pause,
    Run,
    Words,
    check_silence,
    plain,
    with_pauses,
)
from ttsapp.speech.text.normalise import normalised
from ttsapp.speech.text.reading import read_as
from ttsapp.speech.text.rules import applied
from ttsapp.speech.text.segments import DEFAULT_LIMIT, split
from ttsapp.speech.text.sentences import SPEAKABLE


@dataclass(frozen=True, slots=True)
class TextOptions:
    """`language`: a code or a name, `auto` to look at the text; `default_language`: the voice's,
    for a text that does not tell. `field`: the text's name, for errors."""

    language: str = languages.AUTO
    default_language: str = "en"
    is_normalised: bool = False
    markup: Markup = Markup.NONE
    lexicon: Lexicon = EMPTY
    limit: int = DEFAULT_LIMIT
    field: str = "input"


@dataclass(frozen=True, slots=True)
class PreparedSegment:
    """`text` is what the engine is given, after `pause_ms` of silence, at `rate` times its speed.
    `start` and `end`: the part of the original, `whole`, that it stands for; `characters`: its
    share of the charge."""

    text: str
    mapped: Mapped
    pause_ms: int
    rate: float
    start: int
    end: int
    characters: int
    whole: str

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original that `text[start:end]` stands for."""
        return self.mapped.range(start, end)

    def written(self, start: int, end: int) -> Written:
        """What `text[start:end]` was written as, without markup."""
        return self.mapped.written(self.whole, start, end)


@dataclass(frozen=True, slots=True)
class Prepared:
    """`characters`: what is charged, the sum of its segments' unless it has none."""

    segments: tuple[PreparedSegment, ...]
    characters: int
    language: str
    final_pause_ms: int = 0


def prepare(text: str, options: TextOptions) -> Prepared:
    """Raises ApiError 400 for markup that cannot be honoured; a silent text has no segments.

    With `language` auto, what depends on the language detects it; the first such call loads the
    detector: not on the event loop."""
    runs = _runs(text, options)
    language = languages.code(options.language)
    if language == languages.AUTO and (options.is_normalised or options.markup is Markup.SSML):
        written = without_markup(text, options.markup, options.field)
        language = detect(written, languages.code(options.default_language))
    parts: list[tuple[Mapped, int, float]] = []
    replaced: list[Mapped] = []
    pause = 0
    for run in _together(runs):
        if isinstance(run, Pause):
            pause += run.milliseconds
            continue
        for mapped in _spoken(run, language, options, replaced):
            parts.append((mapped, pause, run[0].rate))
            pause = 0
    is_plain = options.markup is Markup.NONE and not replaced
    charges = Charges.whole(text) if is_plain else Charges.of(runs, replaced)
    shares = charges.shares([mapped for mapped, _, _ in parts])
    segments = tuple(_segment(text, *each) for each in zip(parts, shares, strict=True))
    return Prepared(segments, charges.total, language, pause)


def _runs(text: str, options: TextOptions) -> list[Run]:
    if options.markup is Markup.NONE:
        return plain(text)
    is_ssml = options.markup is Markup.SSML
    runs = (ssml.parse if is_ssml else with_pauses)(text, options.field)
    check_silence(runs, options.field)
    return runs


def without_markup(text: str, markup: Markup, field: str) -> str:
    """What is left of the text without its tags. Raises ApiError 400."""
    runs = _runs(text, TextOptions(markup=markup, field=field))
    return "".join(run.text.text for run in runs if isinstance(run, Words))


def _together(runs: list[Run]) -> list[Pause | list[Words]]:
    """Neighbouring words of one rate are one text, cut and normalised as such."""
    found: list[Pause | list[Words]] = []
    for run in runs:
        last = found[-1] if found else None
        if isinstance(run, Pause):
            found.append(run)
        elif isinstance(last, list) and last[0].rate == run.rate:
            last.append(run)
        else:
            found.append([run])
    return found


def _spoken(
    run: list[Words], language: str, options: TextOptions, replaced: list[Mapped]
) -> list[Mapped]:
    """What the lexicon says is added to `replaced`.

    Cut into sentences first, since words for numbers hide where they end; then put into words,
    and cut again where that made it too long."""
    # An entity or a tag may have cut what is read as one: "R&amp;D".
    pieces = groupby(run, lambda words: (words.is_fixed, words.reading))
    joined = [Words(Mapped.joined([each.text for each in some]), 1.0, *key) for key, some in pieces]
    whole = Mapped.joined([_worded(words, language, options, replaced) for words in joined])
    parts = _parts(whole, language, options.limit)
    return [part for part in parts if SPEAKABLE.search(part.text)]


def _worded(words: Words, language: str, options: TextOptions, replaced: list[Mapped]) -> Mapped:
    if words.reading:
        return read_as(words.text, words.reading, language)
    if words.is_fixed:
        return words.text
    rules = options.lexicon.rules
    if not (rules or options.is_normalised):
        return clean(words.text)
    parts = _parts(clean(words.text), language, options.limit)
    for part in parts:
        replaced += options.lexicon.aliases(part)
    if not options.is_normalised:
        return Mapped.joined([applied(part, rules) for part in parts])
    return Mapped.joined([normalised(part, language, rules) for part in parts])


def _parts(text: Mapped, language: str, limit: int) -> list[Mapped]:
    parts, place = [], 0
    for part in split(text.text, language, limit):
        parts.append(text.part(place, place + len(part)))
        place += len(part)
    return parts


def _segment(whole: str, part: tuple[Mapped, int, float], characters: int) -> PreparedSegment:
    mapped, pause, rate = part
    start, end = mapped.range(0, len(mapped.text))
    return PreparedSegment(mapped.text, mapped, pause, rate, start, end, characters, whole)
