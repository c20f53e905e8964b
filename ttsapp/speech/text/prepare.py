"""The whole way from a client's text to the segments that are spoken."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby, pairwise

from ttsapp.speech.text import languages, ssml
from ttsapp.speech.text.charges import Charges
from ttsapp.speech.text.clean import clean
from ttsapp.speech.text.detect import detect
from ttsapp.speech.text.lexicon import EMPTY, Lexicon
from ttsapp.speech.text.mapped import Mapped
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
from ttsapp.speech.text.tokens import Token, tokens


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
    `start` and `end`: the part of the original that it stands for; `characters`: its share of the
    charge; `seen`: its share of what is `shown` of the whole text, which is all but markup."""

    text: str
    mapped: Mapped
    pause_ms: int
    rate: float
    start: int
    end: int
    characters: int
    shown: Mapped
    seen: tuple[int, int]

    def tokens(self) -> list[Token]:
        """The words that it is written as, and what is not spoken between them."""
        return tokens(self.shown, *self.seen)


@dataclass(frozen=True, slots=True)
class Prepared:
    """`characters`: what is charged, the sum of its segments' unless it has none. `options`: by
    which it was made of the text."""

    segments: tuple[PreparedSegment, ...]
    characters: int
    language: str
    final_pause_ms: int = 0
    options: TextOptions = TextOptions()


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
    spans = [mapped.range(0, len(mapped.text)) for mapped, _, _ in parts]
    shown = _shown(runs, text)
    segments = tuple(
        PreparedSegment(mapped.text, mapped, pause, rate, *span, share, shown, seen)
        for (mapped, pause, rate), span, share, seen in zip(
            parts, spans, shares, _seen(shown, spans), strict=True
        )
    )
    return Prepared(segments, charges.total, language, pause, options)


def _runs(text: str, options: TextOptions) -> list[Run]:
    if options.markup is Markup.NONE:
        return plain(text)
    if options.markup is Markup.SSML:
        runs = ssml.parse(text, options.field)
    else:
        is_strict = options.markup is Markup.PAUSES_ONLY
        runs = with_pauses(text, options.field, is_strict=is_strict)
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


def _shown(runs: list[Run], text: str) -> Mapped:
    """The text as it is read: without tags, and with the words that an alias is said for."""
    if len(runs) == 1 and isinstance(runs[0], Words):
        return runs[0].text
    parts = []
    for run in runs:
        if isinstance(run, Pause):
            parts.append(Mapped.instead(" ", run.start, run.end))
        elif run.is_alias:
            start, end = run.text.range(0, len(run.text.text))
            parts.append(Mapped.of(text[start:end], start))
        else:
            parts.append(run.text)
    return Mapped.joined(parts)


def _seen(shown: Mapped, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each segment's share of what is shown. Signs between two that nobody says belong to the
    first, but for those on the second one's own line."""
    bounds = [0]
    for (_, end), (start, _) in pairwise(spans):
        place = bisect_left(shown.starts, start)
        line = shown.text.rfind("\n", bisect_left(shown.starts, end), place) + 1
        bounds.append(max(line or place, bounds[-1]))
    return list(pairwise([*bounds, len(shown.text)])) if spans else []
