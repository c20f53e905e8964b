"""Text in pieces, what can be spoken, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.server.limits import frame_cap, is_speakable
from gpu_engine.server.text_feed import TextFeed, safe_length
from tests.engine.conftest import CUSTOM

ALPHABET = "ab Zé你好。，'’.!?-\n\r 12\t  한글カ́𝒳😀<|im_end|>"  # noqa: RUF001


def feed_all(pieces: list[str]) -> list[str]:
    feed = TextFeed()
    return [feed.push(piece) for piece in pieces] + [feed.finish()]


def test_it_works() -> None:
    assert feed_all(["The qui", "ck brown", " fox."]) == ["The", " quick", " brown fox", "."]


@pytest.mark.parametrize(
    ("text", "length"),
    [("", 0), ("word", 0), ("two words", 3), ("wait, wh", 5), ("wait,", 4), ("  ", 0), ("a  b", 1)],
)
def test_text_is_cut_only_before_a_new_word(text: str, length: int) -> None:
    assert safe_length(text) == length


def test_nothing_is_released_until_something_can_be_spoken() -> None:
    assert feed_all(["... ", "?! ", "yes ", "no"]) == ["", "", "... ?! yes", "", " no"]


def test_nothing_speakable_releases_nothing() -> None:
    assert feed_all(["😀 ", " !"]) == ["", "", ""]


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Callable[[str], Checkpoint]) -> TextTokenizer:
    return checkpoint(CUSTOM).tokenizer


@settings(max_examples=300, deadline=None)
@given(pieces=st.lists(st.text(st.sampled_from(ALPHABET), max_size=6), max_size=12))
def test_the_pieces_tokens_are_those_of_the_whole(
    tokenizer: TextTokenizer, pieces: list[str]
) -> None:
    feed = TextFeed(released=True)
    ids = [token for piece in pieces for token in tokenizer.encode(feed.push(piece))]
    assert ids + tokenizer.encode(feed.finish()) == tokenizer.encode("".join(pieces))


@pytest.mark.parametrize("text", ["a", "7", "你", "€", "ñ!", "…no"])
def test_letters_numbers_and_money_can_be_spoken(text: str) -> None:
    assert is_speakable(text)


@pytest.mark.parametrize("text", ["", " ", "!?", "😀", "👨‍👩‍👧", "—", "\n"])
def test_signs_alone_can_not(text: str) -> None:
    assert not is_speakable(text)


@pytest.mark.parametrize(
    ("text", "frames"), [("", 25), ("x" * 50, 150), ("你好", 40), ("1234", 65)]
)
def test_the_frame_cap_follows_the_characters(text: str, frames: int) -> None:
    assert frame_cap(text) == frames
