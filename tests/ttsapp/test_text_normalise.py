"""What is written as digits and signs, as words: every case of the published coverage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ttsapp.text_cases import CASES
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.normalise import RULES, normalised

EVERY = [
    pytest.param(language, written, spoken, id=f"{language}: {written}")
    for language, kinds in CASES.items()
    for cases in kinds.values()
    for written, spoken in cases
]
PAGE = Path(__file__).parents[2] / "docs" / "text.md"


@pytest.mark.parametrize(("language", "written", "spoken"), EVERY)
def test_cases(language: str, written: str, spoken: str) -> None:
    assert normalised(Mapped.of(written), language).text == spoken


@pytest.mark.parametrize("language", CASES)
def test_the_page_says_how_much_is_covered(language: str) -> None:
    rows = dict(re.findall(rf"^\| {language}: ([\w -]+) \| (\d+) \|", PAGE.read_text(), re.M))
    assert rows == {kind: str(len(cases)) for kind, cases in CASES[language].items()}


@pytest.mark.parametrize("language", RULES)
@pytest.mark.parametrize(
    "text", ["", " ", "...", "?!", "%", "$", "-", "1/0", "99:99", "00.00.0000"]
)
def test_odd_texts_do_no_harm(language: str, text: str) -> None:
    normalised(Mapped.of(text), language)


def test_other_languages_are_left_alone() -> None:
    assert normalised(Mapped.of("5 яблок"), "ru").text == "5 яблок"


def test_words_know_what_they_stand_for() -> None:
    said = normalised(Mapped.of("It is $3.50 now."), "en")
    start = said.text.index("three")
    end = said.text.index(" now")
    assert said.range(start, end) == (6, 11)
    assert said.range(start + 3, start + 4) == (6, 11)
    assert said.range(0, 2) == (0, 2)
    assert said.range(len(said.text) - 1, len(said.text)) == (15, 16)
