"""Characters nobody means to hear."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttsapp.speech.text.clean import clean
from ttsapp.speech.text.mapped import Mapped

CASES = {
    "composed": ("cafe\u0301", "café"),
    "singleton": ("5 \u212b", "5 Å"),
    "hangul": ("\u1112\u1161\u11ab", "한"),
    "zero width": ("zero\u200bwidth\ufeff", "zerowidth"),
    "soft hyphen": ("hy\xadphen", "hyphen"),
    "directions": ("\u202eabc\u2066", "abc"),
    "controls": ("a\x00b\x07c", "abc"),
    "joiner": ("a\u200db", "ab"),
    "persian joiner": ("می\u200cخواهم", "می\u200cخواهم"),
    "emoji": ("Hi 😀 there 👨‍👩‍👧!", "Hi there!"),
    "flag": ("Go 🇩🇪 go", "Go go"),
    "keycap": ("Press 1\ufe0f\u20e3 or 2\ufe0f\u20e32", "Press 1 or 2 2"),
    "emoji instead of a blank": ("great😀thanks", "great thanks"),
    "emoji before a mark": ("Wow 😂😂. 👍 Yes 🎉", "Wow. Yes"),
    "private use": ("a\ue000b \U000f0000c\ufffd", "ab c"),
    "mathematical": ("𝐇𝐞𝐥𝐥𝐨 ℝ", "Hello R"),
    "ligatures": ("oﬃce ﬁne", "office fine"),
    "roman and circled": ("Ⅷ ① Ⓐ", "VIII 1 A"),
    "lowered": ("H₂O", "H2O"),
    "half width": ("ｶﾞｷﾞ", "ガギ"),
    "struck through": ("z\u0335a\u0338l", "zal"),
    "piled up": ("h\u0337\u0322e\u0301\u0302y", "héy"),
    "other scripts' marks stay": ("за\u0301мок कि", "за\u0301мок कि"),
    "quotes": ("“It’s” «this»", '"It\'s" "this"'),
    "blanks": ("a\xa0b \u2003 c\td", "a b c d"),
    "lines": ("a\r\nb\u2028c", "a\nb\nc"),
    "paragraphs": ("a\n\nb", "a\n\nb"),
    "full width": ("ＡＢ１２", "AB12"),
    "minus": ("−5", "-5"),
    "surrogate": ("a\ud800b", "ab"),
    "degrees stay": ("20 °C", "20 °C"),
    "plain": ("Nothing to do.", "Nothing to do."),
}


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    before, after = CASES[name]
    assert clean(Mapped.of(before)).text == after


@given(st.text(max_size=200))
def test_what_is_left_is_in_place(text: str) -> None:
    found = clean(Mapped.of(text))
    assert unicodedata.is_normalized("NFC", found.text)
    assert len(found.text) == len(found.starts) == len(found.ends)
    assert list(found.starts) == sorted(found.starts)
    assert all(0 <= a < b <= len(text) for a, b in zip(found.starts, found.ends, strict=True))


@given(st.text(max_size=200))
def test_once_is_enough(text: str) -> None:
    once = clean(Mapped.of(text)).text
    assert clean(Mapped.of(once)).text == once
