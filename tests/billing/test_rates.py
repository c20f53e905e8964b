"""Rating: tiers, the choice of a rate, minimums, and that nothing is lost by cutting a month."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing import money
from billing.prices.rates import ANY, Rate, Terms, Tier, Use, VoiceKind, Window, charges, picos

EUR = 1_000_000
TIERED = Rate(ANY, ANY, (Tier(0, 10 * EUR), Tier(1_000_000, 8 * EUR), Tier(5_000_000, 5 * EUR)))

# However busy the machine is.
AT_ANY_SPEED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

prices = st.integers(0, 10**9)
counts = st.integers(0, 10**8)


@st.composite
def rates(draw: st.DrawFn, model: str = ANY, kind: str = ANY) -> Rate:
    starts = sorted(draw(st.sets(st.integers(1, 10**8), max_size=4)))
    return Rate(model, kind, tuple(Tier(start, draw(prices)) for start in (0, *starts)))


@st.composite
def terms(draw: st.DrawFn) -> Terms:
    keys = draw(
        st.sets(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["", "cloned"])))
    )
    return Terms(1, 0, tuple(draw(rates(*key)) for key in sorted(keys | {(ANY, ANY)})))


uses = st.builds(
    Use, st.sampled_from(["a", "b", "c"]), st.sampled_from(["preset", "cloned"]), counts
)


def test_it_works() -> None:
    month = [Window(Terms(3, 0, (TIERED,)), (Use("m", "preset", 6_000_000, 10),))]

    [found] = charges(month)

    assert [(each.share.characters, each.share.picos // EUR**2) for each in found] == [
        (1_000_000, 10),
        (4_000_000, 32),
        (1_000_000, 5),
    ]
    assert {each.version for each in found} == {3}


@pytest.mark.parametrize(
    ("model", "kind", "price"),
    [("a", "cloned", 4), ("a", "preset", 3), ("b", "cloned", 2), ("b", "preset", 1)],
)
def test_the_rate_that_says_most_holds(model: str, kind: str, price: int) -> None:
    table = {(ANY, ANY): 1, (ANY, "cloned"): 2, ("a", ANY): 3, ("a", "cloned"): 4}
    known = Terms(1, 0, tuple(Rate(*key, (Tier(0, each),)) for key, each in table.items()))

    assert known.rate(model, kind).tiers[0].per_million == price


@pytest.mark.parametrize(("billed", "top_up"), [(0, 0), (1, 19), (20, 0), (300, 0)])
def test_a_minimum_tops_up_what_is_charged_at_all(billed: int, top_up: int) -> None:
    assert Terms(1, 20, (TIERED,)).top_up(billed) == top_up


def test_volume_goes_on_where_the_next_version_begins() -> None:
    dearer = Terms(2, 0, (Rate(ANY, ANY, (Tier(0, 20 * EUR), Tier(1_000_000, 16 * EUR))),))
    used = (Use("m", VoiceKind.PRESET, 900_000),)

    first, second = charges([Window(Terms(1, 0, (TIERED,)), used), Window(dearer, used)])

    assert [each.share.characters for each in first] == [900_000]
    assert [each.share.characters for each in second] == [100_000, 800_000]
    assert picos(second) == 100_000 * 20 * EUR + 800_000 * 16 * EUR


@AT_ANY_SPEED
@given(terms(), st.lists(uses, max_size=8), st.lists(st.integers(0, 8), max_size=4))
def test_a_month_that_is_cut_comes_to_the_same(
    known: Terms, month: list[Use], cuts: list[int]
) -> None:
    """Wherever, and as often as it is."""
    whole = charges([Window(known, tuple(month))])
    ends = [0, *sorted(cuts), len(month)]
    parts = charges([Window(known, tuple(month[slice(*cut)])) for cut in pairwise(ends)])

    assert picos(whole[0]) == sum(map(picos, parts))


@AT_ANY_SPEED
@given(rates(), counts, counts)
def test_every_character_is_in_one_tier(rate: Rate, before: int, characters: int) -> None:
    shares = list(rate.shares(before, characters))

    assert sum(share.characters for share in shares) == characters
    assert all(share.characters > 0 for share in shares)
    starts = [share.tier.above for share in shares]
    assert starts == sorted(set(starts))


@AT_ANY_SPEED
@given(rates(), counts, counts)
def test_more_characters_never_cost_less(rate: Rate, fewer: int, more: int) -> None:
    def cost(characters: int) -> int:
        return sum(share.picos for share in rate.shares(0, characters))

    assert cost(fewer) <= cost(fewer + more)


@AT_ANY_SPEED
@given(st.integers(0, 10**18), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_rounding_is_to_the_nearest_that_can_be_paid(amount: int, currency: str) -> None:
    paid = money.payable(amount, currency)

    assert money.is_payable(paid, currency)
    assert abs(Fraction(amount, 10**6) - paid) <= Fraction(money.smallest(currency), 2)


@pytest.mark.parametrize(
    ("picos", "paid"), [(5_000_000_000, 0), (15_000_000_000, 20_000), (5_000_000_001, 10_000)]
)
def test_halves_are_rounded_to_even(picos: int, paid: int) -> None:
    assert money.payable(picos, "EUR") == paid


@pytest.mark.parametrize(
    ("micros", "currency", "text"),
    [
        (1_234_500_000, "EUR", "1,234.50 EUR"),
        (3_040_000, "USD", "3.04 USD"),
        (1_500_001, "USD", "1.500001 USD"),
        (1_500_000, "JPY", "1.5 JPY"),
        (2_000_000, "JPY", "2 JPY"),
        (-12_000, "KWD", "-0.012 KWD"),
    ],
)
def test_amounts_are_written_as_they_are_paid(micros: int, currency: str, text: str) -> None:
    assert money.text(micros, currency) == text
