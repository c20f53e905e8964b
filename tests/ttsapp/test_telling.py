"""The engine's words as those that the client wrote, on the clock of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gpu_engine.proto import engine_pb2 as pb
from ttsapp.speech.telling import SpokenWord, Telling, as_written
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import PreparedSegment, TextOptions, prepare

MS = 24


def word(text: str, spoken: str, start_ms: int, end_ms: int, after: int = 0) -> pb.Word:
    first = text.index(spoken, after)
    return pb.Word(
        first_character=first,
        end_character=first + len(spoken),
        first_sample=start_ms * MS,
        end_sample=end_ms * MS,
    )


def in_a_row(text: str) -> list[pb.Word]:
    """Every word of a text, a tenth of a second each."""
    words, place = [], 0
    for number, spoken in enumerate(text.split()):
        words.append(word(text, spoken, 100 * number, 100 * number + 80, place))
        place = words[-1].end_character
    return words


def told(segment: PreparedSegment, words: Sequence[pb.Word]) -> list[tuple[str, float, float]]:
    telling = Telling(segment.written)
    found = [*telling.tell(words), *telling.finish()]
    return [(each.text, each.start_ms, each.end_ms) for each in found]


def said(text: str, **options: object) -> list[tuple[str, float, float]]:
    """What is told of a text whose every spoken word takes a tenth of a second."""
    (segment,) = prepare(text, TextOptions(language="en", **options)).segments  # type: ignore[arg-type]
    return told(segment, in_a_row(segment.text))


def test_it_works() -> None:
    assert said("Hello there.") == [("Hello", 0, 80), ("there.", 100, 180)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # "nine oh five": as long as what it stands for.
        ("At 9:05 on.", [("At", 0, 80), ("9:05", 100, 380), ("on.", 400, 480)]),
        ("Now $45 off.", [("Now", 0, 80), ("$45", 100, 280), ("off.", 300, 380)]),
        ("At 9:05 p.m. sharp.", [("At", 0, 80), ("9:05 p.m.", 100, 580), ("sharp.", 600, 680)]),
    ],
)
def test_numbers_are_told_as_they_are_written(
    text: str, words: list[tuple[str, float, float]]
) -> None:
    assert said(text, is_normalised=True) == words


def test_a_word_that_is_said_as_another_is_told_as_it_is_written() -> None:
    text = 'Ask <sub alias="World Health Organization">WHO</sub>, please.'
    assert said(f"<speak>{text}</speak>", markup=Markup.SSML) == [
        ("Ask", 0, 80),
        ("WHO,", 100, 380),
        ("please.", 400, 480),
    ]


def test_words_written_without_blanks_stay_apart() -> None:
    text = "你好"
    telling = Telling(as_written(lambda: text))
    words = [word(text, "你", 0, 200), word(text, "好", 200, 400)]
    found = [*telling.tell(words), *telling.finish()]
    assert found == [SpokenWord("你", 0, 200), SpokenWord("好", 200, 400)]


def test_a_plain_word_is_told_at_once() -> None:
    text = "Hello there."
    telling = Telling(as_written(lambda: text))
    assert telling.tell([word(text, "Hello", 0, 300)]) == [SpokenWord("Hello", 0, 300)]
    assert telling.finish() == []


def test_a_word_that_may_go_on_is_told_when_it_does_not() -> None:
    (segment,) = prepare("$2 off.", TextOptions(language="en", is_normalised=True)).segments
    telling = Telling(segment.written)
    two, dollars, off = in_a_row(segment.text)
    assert telling.tell([two, dollars]) == []
    assert telling.tell([off])[0] == SpokenWord("$2", 0, 180)
