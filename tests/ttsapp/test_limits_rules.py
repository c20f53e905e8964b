"""The rules of the limits, the same in this process and in Redis: never more, never starved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ttsapp.limit_stores import Bench, answer_alike, ask, bench, benches
from ttsapp.limits.rules import Answer, Ask, Limit, Limits, Refusal

__all__ = ["bench", "benches"]


def test_it_works(bench: Bench) -> None:
    wanted = ask(10, requests_per_minute=5, characters_per_minute=100, concurrent_streams=2)
    answer = bench.admit(wanted)

    assert answer.refusal is None
    (state,) = answer.states
    assert (state.requests, state.characters, state.streams) == (1, 10, 1)
    assert (state.spent, state.spent_age_ms, state.is_past_soft) == (None, None, False)
    assert 60_000 < state.reset_ms <= 65_000


def test_without_limits_everything_is_admitted(bench: Bench) -> None:
    assert [bench.admit(ask(1_000_000)).refusal for _ in range(20)] == [None] * 20


def test_where_no_stream_is_allowed_the_counts_are_told_and_stay(bench: Bench) -> None:
    bench.admit(ask(10, hard_monthly_characters=100))
    for _ in range(2):
        answer = bench.admit(ask(0, concurrent_streams=0, hard_monthly_characters=100))
        (state,) = answer.states
        assert answer.refusal == Refusal(Limit.STREAMS, 0, 1000)
        assert (state.requests, state.characters, state.streams, state.spent) == (1, 10, 1, 10)


def test_requests_per_minute(bench: Bench) -> None:
    for _ in range(3):
        assert bench.admit(ask(requests_per_minute=3)).refusal is None
    refusal = bench.admit(ask(requests_per_minute=3)).refusal

    assert (refusal.limit, refusal.subject) == (Limit.REQUESTS, 0)
    bench.wait(refusal.wait_ms - 1)
    assert bench.admit(ask(requests_per_minute=3)).refusal is not None
    bench.wait(1)
    assert bench.admit(ask(requests_per_minute=3)).refusal is None


def test_characters_per_minute_waits_for_enough_of_them(bench: Bench) -> None:
    limits = {"characters_per_minute": 100}
    assert bench.admit(ask(40, **limits)).refusal is None
    bench.wait(20_000)
    assert bench.admit(ask(60, **limits)).refusal is None

    small, large = bench.admit(ask(30, **limits)).refusal, bench.admit(ask(50, **limits)).refusal
    assert (small.limit, large.limit) == (Limit.CHARACTERS, Limit.CHARACTERS)
    assert large.wait_ms == small.wait_ms + 20_000
    bench.wait(small.wait_ms)
    assert bench.admit(ask(30, **limits)).refusal is None


def test_characters_that_come_later_count_too(bench: Bench) -> None:
    first = ask(10, characters_per_minute=100)
    bench.admit(first)
    bench.end(first, more=90)
    assert bench.admit(ask(1, characters_per_minute=100)).refusal.limit is Limit.CHARACTERS


def test_streams_until_one_ends(bench: Bench) -> None:
    first, second = ask(concurrent_streams=1), ask(concurrent_streams=1)
    assert bench.admit(first).refusal is None
    assert bench.admit(second).refusal == Refusal(Limit.STREAMS, 0, 1000)
    bench.end(first)
    assert bench.admit(second).refusal is None


def test_ending_twice_frees_once(bench: Bench) -> None:
    first = ask(concurrent_streams=2)
    bench.admit(first)
    assert bench.admit(ask(concurrent_streams=2)).refusal is None
    bench.end(first)
    bench.end(first)
    assert bench.admit(ask(concurrent_streams=2)).refusal is None
    assert bench.admit(ask(concurrent_streams=2)).refusal is not None


def test_a_process_that_died_frees_its_streams(bench: Bench) -> None:
    bench.admit(ask(concurrent_streams=1))
    bench.wait(29_999)
    assert bench.admit(ask(concurrent_streams=1)).refusal is not None
    bench.wait(1)
    assert bench.admit(ask(concurrent_streams=1)).refusal is None


def test_a_stream_that_lives_keeps_its_place(bench: Bench) -> None:
    living = ask(concurrent_streams=1)
    bench.admit(living)
    for _ in range(6):
        bench.wait(10_000)
        bench.renew(living)
    assert bench.admit(ask(concurrent_streams=1)).refusal is not None


def test_a_stream_that_was_forgotten_is_counted_again_when_it_is_renewed(bench: Bench) -> None:
    limits = {"concurrent_streams": 1, "hard_monthly_characters": 100}
    living = ask(60, **limits)
    bench.admit(living)
    bench.wait(30_000)
    bench.renew(living)
    assert bench.admit(ask(10, **limits)).refusal == Refusal(Limit.STREAMS, 0, 1000)
    more = ask(41, hard_monthly_characters=100)
    assert bench.admit(more).refusal == Refusal(Limit.BUDGET, 0, 86_400_000)


def test_a_stream_of_last_month_leaves_this_months_budget_alone(bench: Bench) -> None:
    limits = {"hard_monthly_characters": 100}
    old = ask(10, **limits)
    bench.admit(old)
    new = replace(ask(30, **limits), month="2027-02")
    bench.admit(new)
    bench.renew(old)
    assert bench.admit(replace(ask(60, **limits), month="2027-02")).states[0].spent == 100


def test_text_that_comes_is_held_of_a_budget(bench: Bench) -> None:
    growing = ask(10, hard_monthly_characters=100)
    bench.admit(growing)
    assert bench.grow(replace(growing, characters=100), 90) is None
    assert bench.admit(ask(1, hard_monthly_characters=100)).refusal.limit is Limit.BUDGET
    bench.end(growing, charged=50)
    assert bench.admit(ask(50, hard_monthly_characters=100)).states[0].spent == 100


def test_text_that_a_budget_has_no_room_for_counts_with_nothing(bench: Bench) -> None:
    limits = {"hard_monthly_characters": 100, "characters_per_minute": 1000}
    growing = ask(10, **limits)
    bench.admit(growing)
    refusal = bench.grow(replace(growing, characters=101), 91)
    assert refusal == Refusal(Limit.BUDGET, 0, 86_400_000)
    (state,) = bench.admit(ask(5, **limits)).states
    assert (state.characters, state.spent) == (15, 15)


def test_text_that_comes_counts_with_the_minute_at_once(bench: Bench) -> None:
    growing = ask(10, characters_per_minute=100)
    bench.admit(growing)
    assert bench.grow(replace(growing, characters=100), 90) is None
    assert bench.admit(ask(1, characters_per_minute=100)).refusal.limit is Limit.CHARACTERS


def test_a_keys_budget_refuses_text_that_comes(bench: Bench) -> None:
    growing = ask(10, Limits(hard_monthly_characters=20), hard_monthly_characters=100)
    bench.admit(growing)
    assert bench.grow(replace(growing, characters=20), 10) is None
    refusal = bench.grow(replace(growing, characters=21), 1)
    assert refusal == Refusal(Limit.BUDGET, 1, 86_400_000)


def test_a_budget_is_spent_by_what_is_charged(bench: Bench) -> None:
    limits = {"hard_monthly_characters": 100}
    first = ask(80, **limits)
    assert bench.admit(first).states[0].spent == 80
    assert bench.admit(ask(21, **limits)).refusal == Refusal(Limit.BUDGET, 0, 86_400_000)
    bench.end(first, charged=30)
    assert bench.admit(ask(70, **limits)).states[0].spent == 100


def test_what_a_dead_process_held_of_a_budget_comes_back(bench: Bench) -> None:
    limits = {"hard_monthly_characters": 100}
    bench.admit(ask(100, **limits))
    assert bench.admit(ask(1, **limits)).refusal is not None
    bench.wait(30_000)
    assert bench.admit(ask(100, **limits)).refusal is None


def test_a_new_month_has_a_budget_of_its_own(bench: Bench) -> None:
    first = ask(100, hard_monthly_characters=100)
    bench.admit(first)
    bench.end(first, charged=100)
    later = replace(ask(100, hard_monthly_characters=100), month="2027-02")
    assert bench.admit(later).refusal is None


def test_what_the_ledger_says_comes_first(bench: Bench) -> None:
    wanted = ask(10, hard_monthly_characters=100)
    assert bench.run(bench.store.admit(wanted)) == Answer(unknown=(0,))
    bench.run(bench.store.tell_spent(wanted, 0, 95, again=False))
    bench.run(bench.store.tell_spent(wanted, 0, 0, again=False))
    assert bench.admit(wanted).refusal.limit is Limit.BUDGET
    bench.run(bench.store.tell_spent(wanted, 0, 20, again=True))
    assert bench.admit(wanted).states[0].spent == 30


def test_a_soft_budget_only_warns(bench: Bench) -> None:
    limits = {"soft_monthly_characters": 15}
    assert bench.admit(ask(10, **limits)).states[0].is_past_soft is False
    answer = bench.admit(ask(10, **limits))
    assert (answer.refusal, answer.states[0].is_past_soft) == (None, True)


def test_a_keys_limit_beside_its_tenants(bench: Bench) -> None:
    key = Limits(requests_per_minute=1)
    assert bench.admit(ask(key=key, requests_per_minute=5)).refusal is None
    refusal = bench.admit(ask(key=key, requests_per_minute=5)).refusal
    assert (refusal.limit, refusal.subject) == (Limit.REQUESTS, 1)


def test_a_refusal_by_one_counts_with_neither(bench: Bench) -> None:
    key = Limits(requests_per_minute=1)
    for _ in range(4):
        bench.admit(ask(key=key, requests_per_minute=2))
    assert bench.admit(ask(requests_per_minute=2)).refusal is None


def test_the_longest_wait_is_told(bench: Bench) -> None:
    limits = {"requests_per_minute": 1, "concurrent_streams": 1}
    bench.admit(ask(**limits))
    refusal = bench.admit(ask(**limits)).refusal
    assert refusal.limit is Limit.REQUESTS
    assert refusal.wait_ms > 60_000


def test_one_tenants_use_is_not_anothers(bench: Bench) -> None:
    limits = {"requests_per_minute": 1, "concurrent_streams": 1, "hard_monthly_characters": 10}
    assert bench.admit(ask(name="alice", **limits)).refusal is None
    assert bench.admit(ask(name="alice", **limits)).refusal is not None
    assert bench.admit(ask(name="bob", **limits)).refusal is None
    assert bench.admit(ask(name="mallory", **limits)).states[0].requests == 1


STEPS = st.lists(
    st.tuples(st.integers(0, 40_000), st.integers(1, 60), st.booleans()), min_size=1, max_size=40
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, requests=st.integers(1, 5), characters=st.integers(60, 150))
def test_never_more_than_allowed(
    benches: Bench, steps: list[tuple[int, int, bool]], requests: int, characters: int
) -> None:
    bench = benches.fresh()
    limits = {
        "requests_per_minute": requests,
        "characters_per_minute": characters,
        "concurrent_streams": 3,
        "hard_monthly_characters": 400,
    }
    admitted: list[tuple[int, int]] = []
    living: dict[Ask, int] = {}
    spent = 0
    for pause, size, ends in steps:
        bench.wait(pause)
        living = {one: since for one, since in living.items() if bench.now - since < 30_000}
        wanted = ask(size, **limits)
        if bench.admit(wanted).refusal is None:
            admitted.append((bench.now, size))
            living[wanted] = bench.now
        if ends and living:
            ended = next(iter(living))
            del living[ended]
            bench.end(ended, charged=ended.characters)
            spent += ended.characters
        lately = [size for at, size in admitted if at > bench.now - 60_000]
        assert len(lately) <= requests
        assert sum(lately) <= characters
        assert len(living) <= 3
        assert spent + sum(one.characters for one in living) <= 400


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, requests=st.integers(1, 5), characters=st.integers(60, 150))
def test_never_starved(
    benches: Bench, steps: list[tuple[int, int, bool]], requests: int, characters: int
) -> None:
    """Who waits as long as he is told, and no longer, is served."""
    bench = benches.fresh()
    limits = {"requests_per_minute": requests, "characters_per_minute": characters}
    for pause, size, _ in steps:
        bench.wait(pause)
        wanted = ask(size, **limits)
        refusal = bench.admit(wanted).refusal
        if refusal is not None:
            assert 0 < refusal.wait_ms <= 65_000
            bench.wait(refusal.wait_ms - 1)
            assert bench.admit(wanted).refusal is not None
            bench.wait(1)
            assert bench.admit(wanted).refusal is None
        bench.end(wanted)


@pytest.mark.services
@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_both_stores_answer_alike(benches: Bench, steps: list[tuple[int, int, bool]]) -> None:
    limits = {"requests_per_minute": 4, "characters_per_minute": 150, "concurrent_streams": 2}
    budget = {"soft_monthly_characters": 200, "hard_monthly_characters": 500}
    key = Limits(requests_per_minute=3, hard_monthly_characters=300)

    def end(bench: Bench, one: Ask) -> None:
        bench.end(one, charged=one.characters // 2, more=3)

    def grown(one: Ask, size: int) -> Ask:
        return replace(one, characters=one.characters + size)

    answer_alike(benches, steps, lambda size: ask(size, key, **limits, **budget), end, grown)
