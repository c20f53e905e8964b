"""Text in parts: nothing lost, nothing cut where a reader would not pause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttsapp.speech.order import is_speakable
from ttsapp.speech.text.segments import DEFAULT_LIMIT, Segmenter, split

ONE_BY_ONE = 20

SENTENCES = {
    "plain": ("en", ["It works. ", "Does it? ", "Yes!"]),
    "titles": ("en", ["Dr. Smith met Mrs. Jones on St. James St. in May."]),
    "initials": ("en", ["J. R. R. Tolkien wrote it. ", "I read it."]),
    "pronoun I": ("en", ["So did I. ", "Then we left."]),
    "plan B": ("en", ["We had a plan B. ", "Then we left."]),
    "decimals": ("en", ["It costs 3.50 or 1,234.56. ", "Cheap!"]),
    "version": ("en", ["Version 1.2.3. ", "Install it."]),
    "latin": ("en", ["Fruit, e.g. Apples, i.e. Food, etc. are good. ", "Eat."]),
    "afternoon": ("en", ["At 5 p.m. John left. ", "At 6 p.m. ", "She left."]),
    "number sign": ("en", ["See No. 5 and p. 6. ", "No. ", "Not now."]),
    "ellipsis": ("en", ["Well... perhaps. ", "Wait… ", "What?"]),
    "quotes": ("en", ['"Really?" she said. ', 'He said "Stop." ', "Then left."]),
    "curly quotes": ("en", ["“Go!” ", "“No.” ", "(Why?) ", "So."]),
    "web": ("en", ["See www.example.com/a.html?q=1. ", "Write to a.b@example.com! ", "Ok."]),
    "many marks": ("en", ["What?! ", "No!!! ", "Fine."]),
    "lower case": ("en", ["hello there. ", "how are you? ", "i am fine."]),
    "list": ("en", ["1. Wash it.\n", "2. Dry it.\n", "3. Use it."]),
    "paragraphs": ("en", ["A title\n\n", "A text"]),
    "german date": ("de", ["Am 3. Oktober kam z. B. Dr. Müller. ", "Es war 2020. ", "Gut."]),
    "german number": ("de", ["Er kam am 5. ", "Dann war Ruhe, d. h. Stille. ", "Ende."]),
    "french": ("fr", ["M. Dupont est là, etc. ", "Mais Mme. Petit non. ", "Ah !"]),
    "spanish": ("es", ["¿Qué? ", "El Sr. López y la Dra. Ruiz. ", "¡Sí!"]),
    "chinese": ("zh", ["你好。", "圆周率是3.14！", "是吗？", "对。"]),
    "chinese quote": ("zh", ["他说：“走吧。”", "我们走了。"]),
    "japanese": ("ja", ["「はい。」", "そうです。"]),
    "hindi": ("auto", ["नमस्ते। ", "कैसे हो?"]),
    "silence around": ("en", ["--- Hello. ", "*** World! ***"]),
}


def one_by_one(text: str, language: str, limit: int = DEFAULT_LIMIT) -> list[str]:
    segmenter = Segmenter(limit, language)
    parts = [part for character in text for part in segmenter.push(character)]
    return parts + segmenter.flush()


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name: str) -> None:
    language, sentences = SENTENCES[name]
    assert one_by_one("".join(sentences), language) == sentences


def test_short_sentences_share_a_part() -> None:
    assert split("One. Two. Three.", "en") == ["One. Two. Three."]
    assert split("One is here. Two is here. Three.", "en", 26) == [
        "One is here. Two is here. ",
        "Three.",
    ]


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    text = "When the rain had stopped at last, the children ran out into the garden again."
    assert split(text, "en", 50) == [
        "When the rain had stopped at last, ",
        "the children ran out into the garden again.",
    ]


def test_a_semicolon_is_better_than_a_comma() -> None:
    text = "We came, we saw the town; then, as it rained on us, we left it all behind."
    assert split(text, "en", 40)[0] == "We came, we saw the town; "


def test_without_marks_it_is_cut_at_a_space() -> None:
    assert split("one two three four five six seven", "en", 20) == [
        "one two three four ",
        "five six seven",
    ]


def test_without_spaces_it_is_cut_between_characters() -> None:
    assert split("啊" * 50, "zh", 20) == ["啊" * 20, "啊" * 20, "啊" * 10]


def test_a_cut_leaves_no_tiny_rest() -> None:
    parts = split("word " * 20 + "end.", "en", 100)
    assert [len(part) for part in parts] == [75, 29]


def test_what_is_seen_as_one_character_stays_one() -> None:
    accented = "e\u0301" * 40
    assert all(not part.startswith("\u0301") for part in split(accented, "en", 21))
    assert all(part[0] != "。" for part in split("啊" * 20 + "。" + "啊" * 30, "zh", 20))


def test_numbers_are_not_cut() -> None:
    assert split("啊" * 18 + "123456" + "啊" * 18, "zh", 20)[0] == "啊" * 18


@pytest.mark.parametrize("text", ["", " ", "...", "😀 !!", "\n\n"])
def test_a_silent_text_is_one_part_at_most(text: str) -> None:
    assert split(text, "en") == ([text] if text else [])
    assert one_by_one(text, "en") == ([text] if text else [])


def test_silence_travels_with_speech() -> None:
    text = "a" + "-" * 500 + "b"
    assert "".join(split(text, "en", 20)) == text
    assert all(is_speakable(part) for part in split(text, "en", 20))


def test_a_sentence_waits_for_its_proof() -> None:
    segmenter = Segmenter(language="en")
    assert segmenter.push("It costs 3.") == []
    assert segmenter.push("5 euros. ") == []
    assert segmenter.push("T") == ["It costs 3.5 euros. "]
    assert segmenter.held == "T"
    assert segmenter.flush() == ["T"]
    assert segmenter.held == ""


def test_an_abbreviation_waits_for_a_whole_word() -> None:
    segmenter = Segmenter(language="en")
    assert segmenter.push("Come at 5 p.m. The") == []
    assert segmenter.push(" door is open") == ["Come at 5 p.m. "]


def test_a_flush_ends_a_turn() -> None:
    segmenter = Segmenter(language="en")
    assert segmenter.push("Hello Mr.") == []
    assert segmenter.flush() == ["Hello Mr."]
    assert segmenter.push("Smith. ") == []
    assert segmenter.flush() == ["Smith. "]


def test_a_limit_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="room for 20 characters, not 19"):
        split("Hello.", "en", 19)


ALPHABET = st.sampled_from(
    [
        *("a", "b", "I", "The", "then", "Dr", "p.m", "é", "5", "12", "word", "www.a.com", "$3.50"),
        *(".", "...", "?", "!", ",", ";", "—", '"', "”", ")", "(", "-", "z.", "B."),
        *(" ", " ", " ", " ", "  ", "\n", "\n\n", "😀", "\u0301", "\u200d"),
        *("你", "好", "。", "？", "，", "」"),
    ]
)
TEXTS = st.lists(ALPHABET, max_size=120).map("".join)
LANGUAGES = st.sampled_from(["auto", "en", "de", "fr", "zh", "ja"])


@given(TEXTS, LANGUAGES, st.integers(20, 80))
def test_nothing_is_lost(text: str, language: str, limit: int) -> None:
    parts = split(text, language, limit)
    assert "".join(parts) == text
    if is_speakable(text):
        assert all(is_speakable(part) for part in parts)
    spoken = [part.strip("".join(c for c in part if not c.isalnum())) for part in parts]
    assert all(len(part) <= limit for part in spoken)


@given(TEXTS, LANGUAGES, st.integers(20, 80), st.data())
def test_cuts_of_live_text_change_nothing(
    text: str, language: str, limit: int, data: st.DataObject
) -> None:
    segmenter = Segmenter(limit, language)
    parts, place = [], 0
    while place < len(text):
        size = data.draw(st.integers(1, 30))
        parts += segmenter.push(text[place : place + size])
        place += size
    parts += segmenter.flush()
    assert "".join(parts) == text
    units = one_by_one(text, language, limit)
    assert set(starts(parts)) <= set(starts(units))
    assert set(starts(split(text, language, limit))) <= set(starts(units))


def starts(parts: list[str]) -> list[int]:
    return [sum(map(len, parts[:place])) for place in range(len(parts))]


def test_no_cut_is_inside_of_a_pause() -> None:
    text = "so it went on and on " * 6 + '<break time="1s"/> and then it ended at last'
    parts = split(text, "en", 140)
    assert "".join(parts) == text
    assert [part for part in parts if "<break" in part and "/>" not in part] == []
