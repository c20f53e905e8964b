"""Spelling is no mishearing: what a recogniser writes, as words."""

from __future__ import annotations

import pytest

from tests.speech.words import readings, words


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("It's 9:05, Dr. Grey!", "its nine zero five doctor gray"),
        ("On the 3rd, 1,250 boats.", "on the third one thousand two hundred fifty boats"),
        ("$12.50 or 3.25%", "twelve dollars and fifty cents or three point two five percent"),
        ("$3.2 million", "three point two million dollars"),
        ("The F.B.I., a PDF, a PhD", "the f b i a p d f a p h d"),
        ("from 7 a.m. to 9:30 PM", "from seven a m to nine thirty p m"),
        ("two hundred and five", "two hundred five"),
        ("bread and cheese", "bread and cheese"),
        ("OK", "okay"),
    ],
)
def test_writing_becomes_words(written: str, spoken: str) -> None:
    assert words(written) == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("at 905", "at nine zero five"),
        ("at 10.20 pm", "at ten twenty p m"),
        ("in 2031", "in twenty thirty one"),
        ("March 3", "march third"),
        ("extension 274", "extension two seventy four"),
        ("code XT49", "code x t four nine"),
    ],
)
def test_digits_are_read_the_way_that_was_said(written: str, spoken: str) -> None:
    """Given digits that can be read in several ways, when they are, then this is one of them."""
    assert spoken in readings(written)


def test_no_reading_is_another_number() -> None:
    assert readings("at 905") == ["at nine hundred five", "at nine zero five"]


def test_many_numbers_stay_few_readings() -> None:
    assert len(readings(" ".join(["1905"] * 12))) <= 256
