"""Prepaid credit among the limits, the same in this process and in Redis: never more than paid."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.ttsapp.limit_stores import Bench, answer_alike, ask, bench, benches, paid
from ttsapp.limits.rules import NEVER_MS, Answer, Ask, Limit, Limits, Refusal, Subject

__all__ = ["bench", "benches"]

SPENT = Refusal(Limit.CREDIT, 0, NEVER_MS)


def test_it_works(bench: Bench) -> None:
    answer = bench.admit(paid(300, funds=1000))

    assert answer.refusal is None
    assert answer.credit.used == 300
    assert paid(300, funds=1000).purse.characters(answer.credit.used) == 70


def test_who_does_not_pay_ahead_has_no_credit(bench: Bench) -> None:
    assert bench.admit(ask()).credit is None


def test_what_the_ledger_says_comes_first(bench: Bench) -> None:
    wanted = paid(100, funds=1000)
    assert bench.run(bench.store.admit(wanted)) == Answer(is_credit_unknown=True)
    bench.run(bench.store.tell_used(wanted, 950, again=False))
    bench.run(bench.store.tell_used(wanted, 0, again=False))
    assert bench.admit(wanted).refusal == SPENT
    bench.run(bench.store.tell_used(wanted, 200, again=True))
    assert bench.admit(wanted).credit.used == 300


def test_credit_that_is_used_up(bench: Bench) -> None:
    first = paid(600, funds=1000)
    bench.admit(first)
    assert bench.admit(paid(401, funds=1000)).refusal == SPENT
    assert bench.admit(paid(400, funds=1000)).refusal is None
    assert bench.admit(paid(1, funds=1000)).refusal == SPENT


def test_it_is_used_up_by_what_is_charged(bench: Bench) -> None:
    first = paid(1000, funds=1000)
    bench.admit(first)
    bench.end(first, charged=30, micros=300)
    assert bench.admit(paid(700, funds=1000)).credit.used == 1000


def test_ending_twice_is_charged_as_told_and_freed_once(bench: Bench) -> None:
    first, second = paid(400, funds=1000), paid(400, funds=1000)
    bench.admit(first)
    bench.admit(second)
    for _ in range(2):
        bench.end(first, micros=0)
    assert bench.admit(paid(600, funds=1000)).credit.used == 1000


def test_more_that_is_paid_counts_at_once(bench: Bench) -> None:
    bench.admit(paid(1000, funds=1000))
    assert bench.admit(paid(10, funds=1000)).refusal == SPENT
    assert bench.admit(paid(10, funds=1010)).refusal is None


def test_what_a_dead_process_held_comes_back(bench: Bench) -> None:
    bench.admit(paid(1000, funds=1000))
    bench.wait(29_999)
    assert bench.admit(paid(1000, funds=1000)).refusal == SPENT
    bench.wait(1)
    assert bench.admit(paid(1000, funds=1000)).credit.used == 1000


def test_a_stream_that_lives_keeps_what_it_holds(bench: Bench) -> None:
    living = paid(1000, funds=1000)
    bench.admit(living)
    for _ in range(6):
        bench.wait(10_000)
        bench.renew(living)
    assert bench.admit(paid(1, funds=1000)).refusal == SPENT


def test_another_currency_is_another_purse(bench: Bench) -> None:
    first = paid(1000, funds=1000)
    bench.admit(first)
    bench.end(first, micros=1000)
    assert bench.admit(paid(500, funds=1000, currency="USD")).credit.used == 500


def test_a_refusal_for_want_of_credit_counts_with_nothing(bench: Bench) -> None:
    limits = {"requests_per_minute": 1, "concurrent_streams": 1, "hard_monthly_characters": 100}
    assert bench.admit(paid(20, funds=10, **limits)).refusal == SPENT
    state = bench.admit(paid(20, funds=20, **limits)).states[0]
    assert (state.requests, state.streams, state.spent) == (1, 1, 2)


def test_a_refusal_by_another_limit_holds_no_credit(bench: Bench) -> None:
    bench.admit(paid(20, funds=1000, requests_per_minute=1))
    refusal = bench.admit(paid(900, funds=1000, requests_per_minute=1)).refusal
    assert refusal.limit is Limit.REQUESTS
    assert bench.admit(paid(980, funds=1000)).refusal is None


def test_credit_is_told_before_what_waiting_would_help(bench: Bench) -> None:
    bench.admit(paid(20, funds=100, requests_per_minute=1))
    assert bench.admit(paid(90, funds=100, requests_per_minute=1)).refusal == SPENT


def grown(one: Ask, cost: int) -> Ask:
    """With text that costs so much more."""
    assert one.purse is not None
    purse = replace(one.purse, cost=one.purse.cost + cost)
    return replace(one, characters=one.characters + cost // 10, purse=purse)


def test_text_that_comes_is_held(bench: Bench) -> None:
    first = paid(100, funds=1000)
    bench.admit(first)
    assert bench.grow(grown(first, 500), 50) is None
    assert bench.grow(grown(first, 900), 40) is None
    assert bench.admit(paid(1, funds=1000)).refusal == SPENT
    bench.end(first, micros=300)
    assert bench.admit(paid(700, funds=1000)).credit.used == 1000


def test_text_that_credit_has_no_room_for(bench: Bench) -> None:
    first = paid(100, funds=1000)
    bench.admit(first)
    assert bench.grow(grown(first, 901), 90) == SPENT
    assert bench.grow(grown(first, 900), 90) is None


def test_text_of_a_stream_that_was_forgotten_counts_as_a_whole(bench: Bench) -> None:
    first = paid(400, funds=1000)
    bench.admit(first)
    bench.wait(30_000)
    assert bench.grow(grown(first, 100), 10) is None
    assert bench.admit(paid(501, funds=1000)).refusal == SPENT
    assert bench.admit(paid(500, funds=1000)).credit.used == 1000


def test_renewing_takes_nothing_back(bench: Bench) -> None:
    first = paid(100, funds=1000)
    bench.admit(first)
    bench.grow(grown(first, 500), 50)
    bench.renew(first)
    assert bench.admit(paid(401, funds=1000)).refusal == SPENT


def test_more_text_waits_for_what_the_ledger_says(bench: Bench) -> None:
    lost = paid(100, funds=1000)
    assert bench.run(bench.store.grow(lost, 10)) == Answer(is_credit_unknown=True)


def test_one_tenants_credit_is_not_anothers(bench: Bench) -> None:
    bench.admit(paid(1000, funds=1000, name="alice"))
    assert bench.admit(paid(1, funds=1000, name="alice")).refusal == SPENT
    assert bench.admit(paid(1000, funds=1000, name="bob")).refusal is None
    assert bench.admit(paid(10, funds=1000, name="mallory")).credit.used == 10


STEPS = st.lists(
    st.tuples(st.integers(0, 20_000), st.integers(1, 600), st.booleans()), min_size=1, max_size=40
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_never_more_than_was_paid(benches: Bench, steps: list[tuple[int, int, bool]]) -> None:
    bench = benches.fresh()
    living: dict[Ask, int] = {}
    charged = 0
    for pause, cost, ends in steps:
        bench.wait(pause)
        living = {one: since for one, since in living.items() if bench.now - since < 30_000}
        wanted = paid(cost, funds=2000)
        if bench.admit(wanted).refusal is None:
            living[wanted] = bench.now
        if living:
            one = next(iter(living))
            more = grown(one, cost)
            if bench.grow(more, cost // 10) is None:
                del living[one]
                living[more] = bench.now
        if ends and living:
            ended = next(iter(living))
            del living[ended]
            bench.end(ended, micros=ended.purse.cost)
            charged += ended.purse.cost
        assert charged + sum(one.purse.cost for one in living) <= 2000


@pytest.mark.services
@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
# What has not grown by a character began no slot of the minute in one of them.
@example(steps=[(0, 1, False), (0, 1, False), (5000, 1, False), (0, 1, False)])
def test_both_stores_answer_alike(benches: Bench, steps: list[tuple[int, int, bool]]) -> None:
    key = Subject("k", Limits(2, None, 9))

    def wanted(cost: int) -> Ask:
        one = paid(cost, 3000, requests_per_minute=6, hard_monthly_characters=500)
        return replace(one, subjects=(*one.subjects, key))

    def end(bench: Bench, one: Ask) -> None:
        bench.end(one, charged=one.characters // 2, micros=one.purse.cost // 2)

    answer_alike(benches, steps, wanted, end, grown)
