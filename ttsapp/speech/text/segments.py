"""Long or live text in parts that the engine speaks one after the other.

A *unit* is a sentence, or a piece of one that is too long; where units begin depends on the text
alone. Parts are neighbouring units, as many as fit. Nothing is lost: the parts joined are the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttsapp.speech.text import languages
from ttsapp.speech.text.cuts import cut
from ttsapp.speech.text.sentences import SPEAKABLE, End, Undecided, View, ends

# What the small checkpoint speaks without losing its way.
DEFAULT_LIMIT = 150
SHORTEST_LIMIT = 20


def split(text: str, language: str = languages.AUTO, limit: int = DEFAULT_LIMIT) -> list[str]:
    """Parts of at most `limit` characters, whose joining gives the text again.

    Each holds a letter or a digit, unless the whole text has none. Only characters that are not
    spoken make a part longer. Raises ValueError for a limit below 20."""
    _check(limit)
    return _merged(_units(text, languages.code(language), limit), limit)


def sentences(text: str, language: str = languages.AUTO) -> list[str]:
    """The text by its sentences, none of which is cut; joined they are the text."""
    return list(_units(text, languages.code(language), max(len(text), SHORTEST_LIMIT)))


class Segmenter:
    """`split` for text that is still being written.

    A sentence is given out once what follows proves its end, or when the text is flushed. However
    the text is cut, parts begin where units of the whole text begin; with one character at a time
    they are the units."""

    def __init__(self, limit: int = DEFAULT_LIMIT, language: str = languages.AUTO) -> None:
        _check(limit)
        self._limit = limit
        self._language = languages.code(language)
        self._held = ""

    @property
    def held(self) -> str:
        """What has been pushed and not yet been given out."""
        return self._held

    def push(self, text: str) -> list[str]:
        """The parts that are sure by now; often none."""
        self._held += text
        units = []
        start = 0
        while (end := _unit_end(View(self._held, start, self._language, False), self._limit)) > 0:
            units.append(self._held[start:end])
            start = end
        self._held = self._held[start:]
        return _merged(units, self._limit)

    def flush(self) -> list[str]:
        """All that is left: the text, or this turn of it, is over."""
        held, self._held = self._held, ""
        return _merged(_units(held, self._language, self._limit), self._limit)


def _check(limit: int) -> None:
    if limit < SHORTEST_LIMIT:
        raise ValueError(f"a part needs room for {SHORTEST_LIMIT} characters, not {limit}")


def _units(text: str, language: str, limit: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = _unit_end(View(text, start, language, True), limit)
        yield text[start:end]
        start = end


def _unit_end(view: View, limit: int) -> int:
    """Where the unit at the view's start ends; 0 while that is not certain."""
    speech = SPEAKABLE.search(view.text, view.start)
    if speech is None:
        return len(view.text) if view.is_final else 0
    # Some silent characters before the first word are no reason to cut a sentence.
    origin = view.start if speech.start() - view.start < limit // 2 else speech.start()
    window = origin + limit + limit // 4
    try:
        sentence = _sentence(view, speech.start(), window)
    except Undecided:
        return 0
    if sentence is not None and sentence.content <= origin + limit:
        return sentence.next
    found = cut(view.text, speech.end(), origin, limit, sentence.content if sentence else None)
    return found if SPEAKABLE.search(view.text, found) else 0


def _sentence(view: View, speech: int, window: int) -> End | None:
    """The end of the sentence that is spoken from `speech`; None for one beyond the window.

    Raises Undecided while that is not known."""
    for end in ends(view, window + 1):
        if end.content > window:
            return None
        if end.content > speech:
            return end
    if SPEAKABLE.search(view.text, window):
        return None
    if not view.is_final:
        raise Undecided
    return End(_end_of_speech(view.text, window), len(view.text))


def _end_of_speech(text: str, place: int) -> int:
    place = min(place, len(text))
    while not SPEAKABLE.match(text[place - 1]):
        place -= 1
    return place


def _merged(units: Iterator[str] | list[str], limit: int) -> list[str]:
    parts: list[str] = []
    for unit in units:
        if parts and len(parts[-1]) + len(unit.rstrip()) <= limit:
            parts[-1] += unit
        else:
            parts.append(unit)
    return parts
