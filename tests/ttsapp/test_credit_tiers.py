"""Prepaid credit where a price has tiers: held at those that may still apply, never overspent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import httpx
import pytest
from asgiref.sync import sync_to_async
from hypothesis import given, settings
from hypothesis import strategies as st

from billing.credit.models import CreditEntry, Reason
from billing.prices.rates import ANY, Price, Rate, Tier
from billing.prices.selectors import kept
from billing.prices.services import add_version, create_book
from tests.billing.selling import EUR, fresh_prices
from tests.ttsapp.conftest import Party
from tests.ttsapp.limit_stores import Bench, ask, bench, benches
from tests.ttsapp.test_prepaid import put_on_credit, say, use_up
from ttsapp import ids
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.limits import purse, tiers
from ttsapp.limits.admission import Admission
from ttsapp.limits.purse import Wanted
from ttsapp.limits.rules import Ask

__all__ = ["bench", "benches", "fresh_prices"]
pytestmark = pytest.mark.usefixtures("fresh_prices")

# A character costs ten micros, then 9.5; and the other way round.
FALLING = (Tier(0, 10 * EUR), Tier(200, 19 * EUR // 2))
RISING = (Tier(0, 19 * EUR // 2), Tier(200, 10 * EUR))


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    tiers._reached.clear()
    yield
    tiers._reached.clear()


def sell(*of: Tier, kind: str = ANY, minimum: int = 0) -> None:
    """To everybody, and voices of a kind at a rate that counts for itself."""
    book = create_book(SYSTEM, "List", "list", "EUR", is_default=True)
    rates = [Rate(ANY, each, of) for each in {ANY, kind}]
    add_version(SYSTEM, book, date(2026, 1, 1), rates, minimum)
    kept.forget()


def pay(party: Party, micros: int) -> None:
    """To the micro, which is less than anybody can pay."""
    paid = {"currency": "EUR", "amount_micros": micros, "reason": Reason.PAID}
    CreditEntry.objects.create(tenant=party.tenant, **paid)


@pytest.mark.parametrize(
    ("volume", "falling", "rising"), [(0, 10, 10), (199, 10, 10), (200, 9.5, 10), (10**9, 9.5, 10)]
)
def test_a_tier_that_is_used_up_is_over(volume: int, falling: float, rising: float) -> None:
    found = [tiers.dearest(Rate(ANY, ANY, of), volume) for of in (FALLING, RISING)]
    assert found == [falling * EUR, rising * EUR]


def test_a_request_is_held_at_the_tier_in_force(http: httpx.Client, alice: Party) -> None:
    sell(*FALLING)
    put_on_credit(alice)
    use_up(alice, 776)
    pay(alice, 2000 + 576 * 19 // 2 + 10_000)
    response = say(http, alice, "a" * 700)
    assert response.status_code == 200
    assert response.headers["x-parlance-credit-remaining"] == str((10_000 - 6_650) * 2 // 19)


def test_what_the_header_tells_is_spoken_and_no_more(http: httpx.Client, alice: Party) -> None:
    sell(*FALLING)
    put_on_credit(alice)
    use_up(alice, 300)
    pay(alice, 2000 + 950 + 190 + 57)
    left = say(http, alice, "a" * 20).headers["x-parlance-credit-remaining"]
    assert left == "6"
    assert say(http, alice, "a" * 7).status_code == 429
    assert say(http, alice, "a" * 6).status_code == 200


def test_a_tier_that_was_used_up_a_moment_ago_refuses_nobody(
    http: httpx.Client, alice: Party
) -> None:
    sell(*FALLING)
    put_on_credit(alice)
    pay(alice, 2000 + 12 * 19 // 2 + 95)
    assert say(http, alice).headers["x-parlance-credit-remaining"] == "208"
    use_up(alice, 200)
    assert say(http, alice, "a" * 10).status_code == 200


def test_the_dear_tier_holds_while_it_is_not_used_up(http: httpx.Client, alice: Party) -> None:
    sell(*FALLING)
    put_on_credit(alice)
    use_up(alice, 100)
    pay(alice, 1000 + 1000)
    refused = say(http, alice, "a" * 101)
    assert refused.status_code == 429
    assert refused.headers["x-parlance-credit-remaining"] == "100"


def test_a_tier_to_come_is_held_for(http: httpx.Client, alice: Party) -> None:
    sell(*RISING)
    put_on_credit(alice)
    pay(alice, 1000)
    assert say(http, alice, "a" * 101).status_code == 429


async def test_one_rates_characters_are_not_anothers(alice: Party) -> None:
    await sync_to_async(sell)(*FALLING, kind="cloned")
    await sync_to_async(use_up)(alice, 776)
    kinds = ("preset", "cloned")
    found = [await purse.price(alice.tenant.pk, Wanted("tiny", kind)) for kind in kinds]
    assert [each.per_million for each in found if each] == [19 * EUR // 2, 10 * EUR]


def test_one_tenants_characters_are_not_anothers(
    http: httpx.Client, alice: Party, bob: Party
) -> None:
    sell(*FALLING)
    put_on_credit(alice, bob)
    use_up(alice, 776)
    pay(bob, 1000)
    assert say(http, bob, "a" * 101).status_code == 429


def test_what_is_left_below_a_minimum_is_good_for_nothing(http: httpx.Client, alice: Party) -> None:
    sell(*FALLING, minimum=20)
    put_on_credit(alice)
    pay(alice, 200 + 190)
    left = [say(http, alice).headers["x-parlance-credit-remaining"] for _ in range(2)]
    assert left == ["0", "0"]
    pay(alice, 10)
    assert say(http, alice).status_code == 200


async def test_text_that_comes_is_held_at_the_tier_in_force(alice: Party) -> None:
    await sync_to_async(sell)(*FALLING)
    await sync_to_async(put_on_credit)(alice)
    await sync_to_async(pay)(alice, 2000 + 950)
    caller, wanted = Caller(alice.tenant.pk, alice.key.pk, "key:alice"), Wanted("tiny", "preset")
    before = await purse.price(alice.tenant.pk, wanted)
    await sync_to_async(use_up)(alice, 200)
    admission = Admission(caller, ids.uuid7(), "input", wanted)
    await admission.enter(10)
    await admission.grow(100)
    assert before is not None
    assert before.per_million == 10 * EUR
    with pytest.raises(ApiError) as refused:
        await admission.grow(101)
    assert refused.value.headers["x-parlance-limit"] == "account.prepaid_credit"
    await admission.leave(100, 100)


class Ledger:
    """What was charged in the month, at each moment."""

    def __init__(self, rate: Rate, minimum: int, funds: int) -> None:
        self.rate, self.minimum, self.funds = rate, minimum, funds
        self.volumes = [0]

    @property
    def used(self) -> int:
        picos = sum(share.picos for share in self.rate.shares(0, self.volumes[-1]))
        return -(-picos // 1_000_000)

    def price(self, age: int) -> Price:
        """By what it said so many requests ago."""
        volume = self.volumes[max(0, len(self.volumes) - 1 - age)]
        return Price("EUR", tiers.dearest(self.rate, volume), self.minimum)

    def settle(self, characters: int) -> None:
        charged = max(characters, self.minimum) if characters else 0
        self.volumes.append(self.volumes[-1] + charged)


AMOUNTS = st.integers(1, 30).map(lambda micros: micros * EUR)
ASCENDING = st.lists(AMOUNTS, min_size=2, max_size=4).map(sorted)
PER_MILLION = st.one_of(
    ASCENDING, ASCENDING.map(lambda each: each[::-1]), st.lists(AMOUNTS, min_size=2)
)
# What is done, the characters, and how old the ledger's word is.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "grow", "end", "read"]), st.integers(0, 150), st.integers(0, 5)
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(
    per_million=PER_MILLION,
    width=st.integers(1, 300),
    minimum=st.sampled_from([0, 20]),
    funds=st.integers(1, 12_000),
    steps=STEPS,
)
def test_whatever_runs_at_once_the_month_never_costs_more_than_was_paid(
    benches: Bench,
    per_million: list[int],
    width: int,
    minimum: int,
    funds: int,
    steps: list[tuple[str, int, int]],
) -> None:
    bench = benches.fresh()
    of = tuple(Tier(place * width, each) for place, each in enumerate(per_million))
    ledger = Ledger(Rate(ANY, ANY, of), minimum, funds)
    living: list[tuple[Ask, Price]] = []
    for act, characters, age in steps:
        if act == "begin":
            price = ledger.price(age)
            one = replace(ask(characters), purse=purse.of(price, {"EUR": funds}, characters))
            if bench.admit(one).refusal is None:
                living.append((one, price))
        elif act == "read" and living:
            bench.run(bench.store.tell_used(living[0][0], ledger.used, again=True))
        elif act == "grow" and living:
            living[0] = grown(bench, ledger, living[0], characters, age)
        elif act == "end" and living:
            end(bench, ledger, *living.pop(age % len(living)), share=characters)
    for one, price in living:
        end(bench, ledger, one, price, share=150)
    assert ledger.used <= funds


def grown(
    bench: Bench, ledger: Ledger, one: tuple[Ask, Price], more: int, age: int
) -> tuple[Ask, Price]:
    held, price = one
    assert held.purse is not None
    price = min(price, ledger.price(age), key=lambda each: each.per_million)
    wanted = replace(held, characters=held.characters + more)
    cost = max(held.purse.cost, price.cost(wanted.characters))
    wanted = replace(wanted, purse=replace(held.purse, cost=cost))
    return (wanted, price) if bench.grow(wanted, more) is None else (held, price)


def end(bench: Bench, ledger: Ledger, one: Ask, price: Price, share: int) -> None:
    charged = one.characters * share // 150
    ledger.settle(charged)
    bench.end(one, charged=charged, micros=price.cost(charged))
