"""The charge rules, with the examples of docs/billing.md."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rating import Outcome, Part, billed_characters, expected_ms, spoken_characters


def test_it_works() -> None:
    assert billed_characters(Outcome.COMPLETED, 100, [Part(100, 6500, 7000, 7000)]) == 100


def test_a_runaway_costs_its_text_and_no_more() -> None:
    assert billed_characters(Outcome.COMPLETED, 8, [Part(8, 520, 163_840, 163_840)]) == 8


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.LOST])
@pytest.mark.parametrize("delivered", [0, 3000])
def test_our_failures_are_free(outcome: Outcome, delivered: int) -> None:
    assert billed_characters(outcome, 100, [Part(100, 6500, delivered)]) == 0


@pytest.mark.parametrize(
    ("delivered", "billed"), [(0, 0), (64, 0), (65, 1), (2000, 30), (6499, 99), (9000, 100)]
)
def test_a_cancelled_stream_pays_for_its_share(delivered: int, billed: int) -> None:
    assert billed_characters(Outcome.CANCELLED, 100, [Part(100, 6500, delivered)]) == billed


def test_the_share_is_exact_where_the_length_is_known() -> None:
    assert spoken_characters(Part(100, 6500, 2000, 8000)) == 25


def test_a_text_of_several_parts_pays_for_those_that_were_spoken() -> None:
    parts = [Part(40, 2600, 2500, 2500), Part(100, 6500, 2000), Part(60, 3900, 0)]
    assert billed_characters(Outcome.CANCELLED, 230, parts) == 40 + 30


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("", 0),
        ("Hello there.", 12 * 65),
        ("你好", 2 * 220),
        ("こんにちは", 5 * 220),
        ("안녕", 2 * 220),
        ("你好, Ann", 2 * 220 + 5 * 65),
    ],
)
def test_how_long_a_text_should_take(text: str, ms: int) -> None:
    assert expected_ms(text) == ms


@given(
    st.sampled_from(list(Outcome)),
    st.text(max_size=200),
    st.integers(0, 10**7),
    st.none() | st.integers(0, 10**7),
    st.integers(1, 3),
)
def test_never_more_than_the_text_nor_less_than_nothing(
    outcome: Outcome, text: str, delivered: int, total: int | None, times: int
) -> None:
    """Whatever its parts come to together."""
    part = Part(len(text), expected_ms(text), delivered, total)
    assert 0 <= billed_characters(outcome, len(text), [part] * times) <= len(text)


@given(st.text(min_size=1, max_size=200), st.integers(0, 10**5), st.integers(0, 10**5))
def test_hearing_more_never_costs_less(text: str, first: int, second: int) -> None:
    less, more = sorted((first, second))
    charges = [
        spoken_characters(Part(len(text), expected_ms(text), heard)) for heard in (less, more)
    ]
    assert charges == sorted(charges)
