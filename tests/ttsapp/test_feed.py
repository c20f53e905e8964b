"""From text as it is written to pieces for engine streams: nothing lost, no stream too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttsapp.speech.feed import Feed, Piece, TextMode, feed

LIMIT = 40
TEXTS = st.lists(st.text(st.sampled_from("abc de. !?\n…。你好1"), max_size=12), max_size=30)


def streams(a_feed: Feed, texts: list[str]) -> list[str]:
    """What each engine stream would be given in all, the last one flushed."""
    said: list[str] = []
    is_open = False
    for pieces in [*map(a_feed.push, texts), a_feed.flush()]:
        for piece in pieces:
            if is_open:
                said[-1] += piece.text
            else:
                said.append(piece.text)
            is_open = not piece.is_last
    assert not is_open
    return said


def test_sentences_wait_for_their_end() -> None:
    sentences = feed(TextMode.SENTENCE, LIMIT, "english")
    assert sentences.push("Hello th") == []
    assert sentences.push("ere. How ") == [Piece("Hello there. ", True)]
    assert sentences.push("are you?") == []
    assert sentences.flush() == [Piece("How are you?", True)]


def test_tokens_go_at_once() -> None:
    tokens = feed(TextMode.TOKEN, LIMIT, "english")
    assert tokens.push("Hel") == [Piece("Hel", False)]
    assert tokens.push("lo ") == [Piece("lo ", False)]
    assert tokens.flush() == [Piece("", True)]
    assert tokens.flush() == []


def test_tokens_wait_for_something_to_say() -> None:
    tokens = feed(TextMode.TOKEN, LIMIT, "english")
    assert tokens.push(" … ") == []
    assert tokens.push("Now") == [Piece(" … Now", False)]


@pytest.mark.parametrize("mode", TextMode)
def test_silent_text_alone_is_kept_for_the_end(mode: TextMode) -> None:
    silent = feed(mode, LIMIT, "english")
    assert [silent.push(text) for text in (" ", "…", "!")] == [[], [], []]
    assert silent.flush() == [Piece(" …!", True)]
    assert silent.flush() == []


def test_a_token_stream_ends_behind_a_sentence_once_it_is_half_full() -> None:
    said = streams(feed(TextMode.TOKEN, LIMIT, "english"), list("One. Two three four five. Six."))
    assert said == ["One. Two three four five. ", "Six."]


@pytest.mark.parametrize("is_by_character", [True, False])
def test_a_token_stream_does_not_end_behind_an_abbreviation(is_by_character: bool) -> None:
    text = "They asked for Mrs. Lee today. Then they left."
    written = list(text) if is_by_character else [text[:20], text[20:]]
    assert streams(feed(TextMode.TOKEN, LIMIT, "english"), written) == [
        "They asked for Mrs. Lee today. ",
        "Then they left.",
    ]


def test_a_token_stream_without_sentences_ends_at_a_blank() -> None:
    said = streams(feed(TextMode.TOKEN, LIMIT, "english"), ["seven " * 9])
    assert said == ["seven " * 7, "seven " * 2]


def test_a_token_stream_without_blanks_ends_anywhere() -> None:
    assert streams(feed(TextMode.TOKEN, LIMIT, "english"), ["x" * 100]) == ["x" * 60, "x" * 40]


def test_a_token_stream_past_its_limit_ends_where_it_would_have_in_one_text() -> None:
    written = ["x" * 50, "y" * 30]
    assert streams(feed(TextMode.TOKEN, LIMIT, "english"), written) == [
        "x" * 50 + "y" * 10,
        "y" * 20,
    ]


@given(TEXTS)
def test_nothing_is_lost_and_no_stream_is_too_long(texts: list[str]) -> None:
    text = "".join(texts)
    said = streams(feed(TextMode.TOKEN, LIMIT, "auto"), texts)
    spoken = "".join(said)
    assert text.startswith(spoken)
    assert not any(character.isalnum() for character in text[len(spoken) :])
    assert all(len(part.strip()) <= LIMIT * 3 // 2 + 1 for part in said)
