"""Asking a store, which is told from the ledger what it does not know or knows of long ago."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ttsapp import background, database
from ttsapp.keys.authentication import Caller
from ttsapp.limits import selectors
from ttsapp.limits.rules import CREDIT_SPENT_MS, SPENT_MS, Answer, Ask, Limit, Store
from ttsapp.limits.stores import stores

# A refusal for want of credit stands only where the ledger was read so lately.
DOUBTFUL_MS = 1_000

# What is being read again in this process, so that only one of many requests reads it.
_reading: set[tuple[str, str]] = set()


# The question to a store, which may have to be put again.
Question = Callable[[Ask], Awaitable[tuple[Store, Answer]]]


async def answer(caller: Caller, ask: Ask) -> tuple[Ask, Store, Answer]:
    """Twice where the store does not know yet what was spent: once a month, and after it lost what
    it knew. With the ask as it was answered: a top-up may have come."""
    return await _answer(caller, ask, stores().admit)


async def grown(caller: Caller, store: Store, ask: Ask, more: int) -> tuple[Ask, Answer]:
    """The same for text that has come to a stream which lives."""
    ask, _, found = await _answer(caller, ask, partial(stores().grow, store, more))
    return ask, found


async def _answer(caller: Caller, ask: Ask, question: Question) -> tuple[Ask, Store, Answer]:
    store, found = await _known(caller, ask, question)
    if found.refusal is not None and found.refusal.limit is Limit.CREDIT:
        ask = await _funded_anew(caller, store, ask, found)
        store, found = await _known(caller, ask, question)
    return ask, store, found


def read_again(caller: Caller, store: Store, ask: Ask, found: Answer) -> None:
    """Behind the request's back, where what the store knows grows old."""
    for place, state in enumerate(found.states):
        if state.spent_age_ms is not None and state.spent_age_ms > SPENT_MS // 2:
            name = (ask.subjects[place].name, "spent")
            _once(name, _tell_spent(caller, store, ask, place, again=True))
    if found.credit is not None and found.credit.age_ms > CREDIT_SPENT_MS:
        _once((ask.subjects[0].name, "used"), _tell_used(caller, store, ask, again=True))


async def _known(caller: Caller, ask: Ask, question: Question) -> tuple[Store, Answer]:
    store, found = await question(ask)
    while found.unknown or found.is_credit_unknown:
        await _restore(caller, store, ask)
        for subject in found.unknown:
            await _tell_spent(caller, store, ask, subject, again=False)
        if found.is_credit_unknown:
            await _tell_used(caller, store, ask, again=False)
        store, found = await question(ask)
    return store, found


async def _restore(caller: Caller, store: Store, ask: Ask) -> None:
    """What runs, before what is used up is read: a request that is settled between the two is
    counted twice for half a minute, and never not at all. Only Redis forgets what still lives."""
    if store is stores().shared:
        running = await database.read(selectors.running, caller.tenant_id, ask.month)
        await stores().restore(store, ask.subjects[0].name, running)


async def _funded_anew(caller: Caller, store: Store, ask: Ask, found: Answer) -> Ask:
    """Before anybody is refused: what is paid ahead by now, and what is used up of it."""
    assert ask.purse is not None
    if found.credit is None or found.credit.age_ms > DOUBTFUL_MS:
        await _tell_used(caller, store, ask, again=True)
    _, funds = await database.read(selectors.of_tenant, caller.tenant_id)
    if funds is None:
        return replace(ask, purse=None)
    return replace(ask, purse=replace(ask.purse, funds=funds.get(ask.purse.currency, 0)))


async def _tell_spent(caller: Caller, store: Store, ask: Ask, subject: int, *, again: bool) -> None:
    since = datetime.strptime(ask.month, "%Y-%m").replace(tzinfo=UTC)
    key_id = caller.key_id if subject else None
    spent = await database.read(selectors.spent, since, caller.tenant_id, key_id)
    await stores().tell_spent(store, ask, subject, spent, again=again)


async def _tell_used(caller: Caller, store: Store, ask: Ask, *, again: bool) -> None:
    assert ask.purse is not None
    micros = await database.read(selectors.used, caller.tenant_id, ask.purse.currency)
    await stores().tell_used(store, ask, micros, again=again)


def _once(name: tuple[str, str], work: Coroutine[None, None, None]) -> None:
    if name in _reading:
        work.close()
        return
    _reading.add(name)
    background.spawn(work).add_done_callback(lambda _: _reading.discard(name))
