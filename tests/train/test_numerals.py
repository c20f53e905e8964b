from collections import Counter
from random import Random

import pytest

from gpu_engine.align.numerals import READINGS, another, cardinal, decimal, money, ordinal, year


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (40, "forty"),
        (99, "ninety nine"),
        (100, "one hundred"),
        (1250, "one thousand two hundred fifty"),
        (70_016, "seventy thousand sixteen"),
        (2_000_001, "two million one"),
    ],
)
def test_it_works(number, words):
    assert cardinal(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "first"), (12, "twelfth"), (20, "twentieth"), (21, "twenty first"), (33, "thirty third")],
)
def test_ordinals(number, words):
    assert ordinal(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1700, "seventeen hundred"),
        (1905, "nineteen oh five"),
        (1998, "nineteen ninety eight"),
        (2000, "two thousand"),
        (2007, "two thousand seven"),
        (2031, "twenty thirty one"),
    ],
)
def test_years(number, words):
    assert year(number) == words


def test_money_and_decimals():
    assert money("$1,012.50") == "one thousand twelve dollars and fifty cents"
    assert money("$1") == "one dollar"
    assert money("$0.01") == "one cent"
    assert decimal("3.25") == "three point two five"


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("$45.50", "forty five dollars and fifty cents"),
        ("$1,200", "one thousand two hundred dollars"),
        ("12%", "twelve percent"),
        ("9:05", "nine oh five"),
        ("1998", "nineteen ninety eight"),
        ("1,998", "one thousand nine hundred ninety eight"),
        ("21st", "twenty first"),
        ("5", "fifth"),
        ("5", "five"),
        ("3.5", "three point five"),
        ("555-0134", "five five five, zero one three four"),
        ("004217", "zero zero four, two one seven"),
    ],
)
def test_another_number_is_read_in_the_same_way(written, spoken):
    rng = Random(0)
    drawn = {another(rng, written, spoken) for _ in range(60)}
    assert len(drawn) > 3
    same = [reading for reading in READINGS if reading.pattern.fullmatch(written)]
    for fresh, said in drawn:
        assert any(r.pattern.fullmatch(fresh) and r.say(fresh) == said for r in same)


def test_what_no_reading_explains_stays():
    assert another(Random(0), "B12", "B twelve") == ("B12", "B twelve")
    assert another(Random(0), "1998", "one nine nine eight") == ("1998", "one nine nine eight")


def test_hours_stay_hours():
    rng = Random(1)
    assert {int(another(rng, "9", "nine")[0]) for _ in range(200)} <= set(range(1, 13))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("$350", "three hundred fifty dollars"),
        ("$12.50", "twelve dollars and fifty cents"),
        ("24", "twenty four"),
        ("48,500", "forty eight thousand five hundred"),
    ],
)
def test_a_context_does_not_tell_how_long_its_number_is(written, spoken):
    """Else a price is said in hundreds whatever is written."""
    rng = Random(1)
    drawn = [another(rng, written, spoken)[0] for _ in range(400)]
    whole = [number.strip("$").partition(".")[0].replace(",", "") for number in drawn]
    lengths = Counter(map(len, whole))
    assert sorted(lengths) == [1, 2, 3, 4, 5, 6]
    assert lengths[2] > 100
    assert sum(number.endswith("000") for number in whole) > 10
