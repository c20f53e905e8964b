"""One context's way through the limits: asked once, before the engine is."""

from __future__ import annotations

import calendar
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import structlog
from django.conf import settings

from billing.prices.rates import Price
from ttsapp import database
from ttsapp.keys.authentication import Caller
from ttsapp.limits import headers, known, purse, refusals, selectors
from ttsapp.limits.fields import NAMES
from ttsapp.limits.purse import Wanted
from ttsapp.limits.rules import Answer, Ask, Limit, Limits, Store, Subject
from ttsapp.limits.stores import stores

log = structlog.get_logger()

# The soft budgets whose passing this process has told of, by subject and month.
_told: set[tuple[str, str]] = set()


class Admission:
    """`wanted`: whose price holds, for who pays ahead. `headers`: what is left, once it was
    admitted."""

    def __init__(
        self, caller: Caller, request_id: UUID, text_field: str, wanted: Wanted | None = None
    ) -> None:
        self._caller = caller
        self._id = str(request_id)
        self._text_field = text_field
        self._wanted = wanted
        self._price: Price | None = None
        self._held: tuple[Store, Ask] | None = None
        self.headers: dict[str, str] = {}

    async def enter(self, characters: int) -> None:
        """Raises ApiError 429 that names the limit, and 400 for what would never fit."""
        ask = await self._ask(characters)
        refusals.check_size(ask, self._text_field)
        ask, store, answer = await known.answer(self._caller, ask)
        if (cheaper := await self._cheaper(ask, answer)) is not None:
            ask, store, answer = await known.answer(self._caller, cheaper)
        if answer.refusal is not None:
            limit = refusals.name(answer.refusal.limit, answer.refusal.subject)
            log.info("refused by a limit", limit=limit, wait_ms=answer.refusal.wait_ms)
            raise refusals.error(ask, answer)
        self._held = (store, ask)
        stores().hold(store, ask)
        self.headers = headers.of(ask, answer)
        _warn(ask, answer)
        known.read_again(self._caller, store, ask, answer)

    @property
    def characters(self) -> int:
        """Of its text, that are held."""
        return self._held[1].characters if self._held is not None else 0

    @property
    def is_paid_ahead(self) -> bool:
        return self._held is not None and self._held[1].purse is not None

    @property
    def is_bound(self) -> bool:
        """Whether its text is to be held as it comes: by credit, or by a budget."""
        if self._held is None:
            return False
        ask = self._held[1]
        budgets = (subject.limits.hard_monthly_characters for subject in ask.subjects)
        return ask.purse is not None or any(budget is not None for budget in budgets)

    async def grow(self, characters: int) -> None:
        """More text has come, so many characters in all. Raises ApiError 429."""
        assert self._held is not None
        store, ask = self._held
        wanted = replace(ask, characters=characters)
        if ask.purse and self._price:
            cost = max(ask.purse.cost, self._price.cost(characters))
            wanted = replace(wanted, purse=replace(ask.purse, cost=cost))
        more = characters - ask.characters
        wanted, answer = await known.grown(self._caller, store, wanted, more)
        if (cheaper := await self._cheaper(wanted, answer)) is not None:
            wanted, answer = await known.grown(self._caller, store, cheaper, more)
        if answer.refusal is not None:
            limit = refusals.name(answer.refusal.limit, answer.refusal.subject)
            log.info("more text refused by a limit", limit=limit)
            raise refusals.refused(wanted, answer.refusal, {})
        self._held = (store, wanted)
        stores().hold(store, wanted)

    async def look(self) -> dict[str, str]:
        """What is left now. A stream where none is allowed is refused, and with a refusal come
        the counts, of which it is none."""
        ask = await self._ask(0)
        closed = tuple(_without_streams(subject) for subject in ask.subjects)
        _, _, answer = await known.answer(self._caller, replace(ask, subjects=closed))
        # By the limits that hold, and not by those that the question was put with.
        return headers.of(ask, answer)

    async def leave(self, characters: int, charged: int) -> None:
        """The context has ended: with so many characters of text, of which so many are charged."""
        if self._held is not None:
            (store, ask), self._held = self._held, None
            more = max(0, characters - ask.characters)
            micros = self._price.cost(charged) if self._price else 0
            await stores().release(store, ask, more, charged, micros)

    async def _cheaper(self, ask: Ask, answer: Answer) -> Ask | None:
        """Before anybody is refused for want of credit: by the tiers that may still apply now. None
        where that is no reason, or it costs as much."""
        is_broke = answer.refusal is not None and answer.refusal.limit is Limit.CREDIT
        if not is_broke or ask.purse is None or self._wanted is None:
            return None
        self._price = await purse.price(self._caller.tenant_id, self._wanted, anew=True)
        if self._price is not None and self._price.per_million >= ask.purse.per_million:
            return None
        funds = {ask.purse.currency: ask.purse.funds}
        return replace(ask, purse=purse.of(self._price, funds, ask.characters))

    async def _ask(self, characters: int) -> Ask:
        caller, key, funds = self._caller, None, self._caller.funds
        if caller.limits is not None:
            tenant, key = caller.limits
        else:
            tenant, funds = await database.read(selectors.of_tenant, caller.tenant_id)
        subjects = [Subject(f"t{caller.tenant_id}", with_defaults(tenant))]
        if caller.key_id is not None and key is not None:
            subjects.append(Subject(f"k{caller.key_id}", key))
        ask = Ask(self._id, tuple(subjects), characters, *_month(datetime.now(UTC)))
        if funds is None or self._wanted is None:
            return ask
        self._price = await purse.price(caller.tenant_id, self._wanted)
        return replace(ask, purse=purse.of(self._price, funds, characters))


def with_defaults(limits: Limits) -> Limits:
    """A tenant without a limit of its own has the installation's."""
    own = {name: getattr(limits, name) for name in NAMES}
    usual: dict[str, int] = settings.TENANT_LIMITS
    return Limits(**{name: usual.get(name) if own[name] is None else own[name] for name in NAMES})


def _warn(ask: Ask, answer: Answer) -> None:
    for subject, state in zip(ask.subjects, answer.states, strict=True):
        if state.is_past_soft and (subject.name, ask.month) not in _told:
            _told.add((subject.name, ask.month))
            log.warning("soft budget passed", subject=subject.name, characters=state.spent)


def _without_streams(subject: Subject) -> Subject:
    return replace(subject, limits=replace(subject.limits, concurrent_streams=0))


def _month(now: datetime) -> tuple[str, int]:
    """The calendar month in UTC, and the milliseconds left of it."""
    days = calendar.monthrange(now.year, now.month)[1]
    passed = now - now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    left = days * 86_400_000 - int(passed.total_seconds() * 1000)
    return now.strftime("%Y-%m"), left
