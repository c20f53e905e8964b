"""What the forced aligner reads of a text, and times put in order."""

from __future__ import annotations

import pytest

from gpu_engine.align.repair import forward
from gpu_engine.align.units import is_divided, units


def told(text: str) -> list[tuple[str, str]]:
    return [(text[unit.first : unit.end], unit.read) for unit in units(text)]


def test_punctuation_is_told_but_not_read() -> None:
    assert told("Well, it's (3.5%)!") == [("Well,", "Well"), ("it's", "it's"), ("(3.5%)!", "35")]


def test_an_ideograph_is_a_word() -> None:
    assert told("用Qwen3说。") == [("用", "用"), ("Qwen3", "Qwen3"), ("说", "说")]


def test_a_lone_dash_is_no_word() -> None:
    assert told("one \u2014 two") == [("one", "one"), ("two", "two")]


def test_a_lone_apostrophe_is_read_but_not_said() -> None:
    assert [unit.is_said for unit in units("rock ' roll")] == [True, False, True]


def test_a_marker_is_letters() -> None:
    assert told("<|audio_pad|> <timestamp>") == [
        ("<|audio_pad|>", "audiopad"),
        ("<timestamp>", "timestamp"),
    ]


@pytest.mark.parametrize("text", ["今日はいい天気ですね", "오늘은 날씨가 좋아요"])
def test_scripts_that_a_dictionary_divides_are_not(text: str) -> None:
    assert not is_divided(text)


@pytest.mark.parametrize("text", ["今天天气很好", "a の b c", "Привет", "12 + 3"])
def test_others_are(text: str) -> None:
    assert is_divided(text)


@pytest.mark.parametrize(
    ("marked", "repaired"),
    [
        ([], []),
        ([80, 160, 160, 240], [80, 160, 160, 240]),
        ([80, 4000, 160, 240], [80, 80, 160, 240]),
        ([80, 4000, 4080, 160, 240, 320], [80, 80, 160, 160, 240, 320]),
        ([80, 9000, 9000, 7000, 480, 560, 640, 720], [80, 180, 280, 380, 480, 560, 640, 720]),
        ([8000, 80, 160, 240], [80, 80, 160, 240]),
        ([80, 160, 240, 0], [80, 160, 240, 240]),
    ],
    ids=["none", "in order", "one", "two", "three", "the first", "the last"],
)
def test_what_goes_back_takes_what_is_beside_it(marked: list[float], repaired: list[int]) -> None:
    assert forward(marked) == repaired
