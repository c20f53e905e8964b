"""The engine's words as those that the client wrote, on the clock of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gpu_engine.proto import engine_pb2 as pb
from ttsapp.speech.telling import SpokenWord, Telling, as_written
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import PreparedSegment, TextOptions, prepare

MS = 24
SILENT = ("-", "—", "...", "•", "&", "*")

Told = tuple[str, float, float]


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
    for number, spoken in enumerate(each for each in text.split() if each not in SILENT):
        words.append(word(text, spoken, 100 * number, 100 * number + 80, place))
        place = words[-1].end_character
    return words


def teller(segment: PreparedSegment) -> Telling:
    return Telling(lambda: (segment.mapped, segment.tokens()))


def told(segment: PreparedSegment, words: Sequence[pb.Word]) -> list[Told]:
    telling = teller(segment)
    found = [*telling.tell(words), *telling.finish()]
    return [(each.text, each.start_ms, each.end_ms) for each in found]


def said(text: str, **options: object) -> list[Told]:
    """What is told of a text whose every spoken word takes a tenth of a second; an engine looks for
    no word in dashes, dots and emoji."""
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
        (
            "At 9:05 p.m. sharp.",
            [("At", 0, 80), ("9:05", 100, 380), ("p.m.", 400, 580), ("sharp.", 600, 680)],
        ),
        # "March third, twenty twenty-four"
        ("March 3, 2024", [("March", 0, 80), ("3,", 100, 180), ("2024", 200, 380)]),
        ("5 % off", [("5", 0, 80), ("%", 100, 180), ("off", 200, 280)]),
        ("Salt & pepper", [("Salt", 0, 80), ("&", 100, 180), ("pepper", 200, 280)]),
    ],
)
def test_numbers_are_told_as_they_are_written(text: str, words: list[Told]) -> None:
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
    assert found == [SpokenWord("你", 0, 200, goes_on=True), SpokenWord("好", 200, 400)]


def test_a_plain_word_is_told_at_once() -> None:
    text = "Hello there."
    telling = Telling(as_written(lambda: text))
    assert telling.tell([word(text, "Hello", 0, 300)]) == [SpokenWord("Hello", 0, 300)]
    assert telling.finish() == []


def test_a_word_that_may_go_on_is_told_when_it_does_not() -> None:
    (segment,) = prepare("$2 off.", TextOptions(language="en", is_normalised=True)).segments
    telling = teller(segment)
    two, dollars, off = in_a_row(segment.text)
    assert telling.tell([two, dollars]) == []
    assert telling.tell([off])[0] == SpokenWord("$2", 0, 180)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # What nobody says stands where the word before it ends.
        ("Salt & pepper", [("Salt", 0, 80), ("&", 80, 80), ("pepper", 100, 180)]),
        ("Well — no ...", [("Well", 0, 80), ("—", 80, 80), ("no", 100, 180), ("...", 180, 180)]),
        (
            "Hi 😀 you! 👋",
            [("Hi", 0, 80), ("😀", 80, 80), ("you!", 100, 180), ("👋", 180, 180)],
        ),
        # At the beginning of a text or a line, where the next one begins.
        (
            "• one\n• two",
            [("•", 0, 0), ("one", 0, 80), ("•", 100, 100), ("two", 100, 180)],
        ),
    ],
)
def test_what_is_not_spoken_is_told_without_a_length(text: str, words: list[Told]) -> None:
    assert said(text) == words


def test_a_sign_that_is_heard_has_its_own_time() -> None:
    text = "A & B"
    words = [word(text, "A", 0, 100), word(text, "&", 150, 300), word(text, "B", 350, 400)]
    telling = Telling(as_written(lambda: text))
    assert [(each.text, each.start_ms, each.end_ms) for each in telling.tell(words)] == [
        ("A", 0, 100),
        ("&", 150, 300),
        ("B", 350, 400),
    ]


def test_more_words_than_are_heard_share_the_time_by_their_length() -> None:
    text = '<speak>Over <sub alias="million">1 000 000</sub> now</speak>'
    assert said(text, markup=Markup.SSML) == [
        ("Over", 0, 80),
        ("1", 100, pytest.approx(100 + 80 * 4 / 28)),
        ("000", pytest.approx(100 + 80 * 4 / 28), pytest.approx(100 + 80 * 16 / 28)),
        ("000", pytest.approx(100 + 80 * 16 / 28), 180),
        ("now", 200, 280),
    ]


def test_of_a_speech_that_was_cut_no_more_is_told_than_was_heard() -> None:
    (segment,) = prepare("One — two three.", TextOptions(language="en")).segments
    assert told(segment, in_a_row("One")) == [("One", 0, 80), ("—", 80, 80)]


def test_nothing_is_told_where_no_word_was_heard() -> None:
    (segment,) = prepare("— One.", TextOptions(language="en")).segments
    assert told(segment, []) == []


def test_of_several_segments_each_word_is_told_once() -> None:
    text = "😀 One plain sentence. 👍 — Two of them!\n* And three.\n👋"
    segments = prepare(text, TextOptions(language="en", limit=20)).segments
    assert len(segments) > 1
    found = [each for segment in segments for each in told(segment, in_a_row(segment.text))]
    assert [each for each, _, _ in found] == text.split()


def test_hidden_characters_stay_in_their_words_and_are_none_by_themselves() -> None:
    assert [each for each, _, _ in said("Hel\u200blo \u200b there\ufeff.")] == [
        "Hel\u200blo",
        "there\ufeff.",
    ]
