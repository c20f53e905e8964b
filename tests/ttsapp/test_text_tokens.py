"""What a reader takes for the words of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.tokens import tokens, weight


def texts(text: str) -> list[str]:
    return [token.text for token in tokens(Mapped.of(text))]


def test_it_works() -> None:
    assert texts(" Hello,  & (good-bye). \uf8ff ") == ["Hello,", "&", "(good-bye).", "\uf8ff"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("你好，世界。", ["你", "好，", "世", "界。"]),
        ("他说“好（吗）”。", ["他", "说", "“好", "（吗）”。"]),
        ("GPT-4模型（新）x", ["GPT-4", "模", "型", "（新）", "x"]),
        ("안녕하세요 여러분!", ["안녕하세요", "여러분!"]),
        ("say( 好", ["say(", "好"]),
        ("\u0639\u0644\u064a\u0643\u0645 \u0623", ["\u0639\u0644\u064a\u0643\u0645", "\u0623"]),
    ],
)
def test_scripts_without_blanks_have_a_word_a_character(text: str, found: list[str]) -> None:
    assert texts(text) == found


def test_where_it_stands() -> None:
    first, second, third = tokens(Mapped.of("a 你\n好"))
    assert (first.start, first.end, first.goes_on, first.begins_line) == (0, 1, False, False)
    assert (second.start, second.goes_on, second.begins_line) == (2, False, False)
    assert (third.start, third.goes_on, third.begins_line) == (4, False, True)


def test_a_part_knows_what_follows_it() -> None:
    (first,) = tokens(Mapped.of("你好 a"), 0, 1)
    assert (first.text, first.goes_on) == ("你", True)


@given(st.text(alphabet="ab1 \n&—。，（你好👍\u200b\u0301("))
def test_joined_they_are_the_text(text: str) -> None:
    found = tokens(Mapped.of(text))
    again = "".join(each.text if each.goes_on else f"{each.text} " for each in found)
    assert [*filter(is_seen, again)] == [*filter(is_seen, text)]


def is_seen(character: str) -> bool:
    return not (character.isspace() or character in "\u200b\u0301")


@pytest.mark.parametrize(("text", "letters"), [("two", 3), ("2024", 16), ("你", 4), ("&", 3)])
def test_weights(text: str, letters: int) -> None:
    assert weight(text) == letters
