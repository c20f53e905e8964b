"""One context's way through the limits: asked once, before the engine is."""

from __future__ import annotations

import calendar
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import structlog
from django.conf import settings

from ttsapp import background, database
from ttsapp.keys.authentication import Caller
from ttsapp.limits import headers, refusals, selectors
from ttsapp.limits.fields import NAMES
from ttsapp.limits.rules import SPENT_MS, Answer, Ask, Limits, Store, Subject
from ttsapp.limits.stores import stores

log = structlog.get_logger()

# The soft budgets whose passing this process has told of, by subject and month.
_told: set[tuple[str, str]] = set()


class Admission:
    """`headers`: what is left, once it was admitted."""

    def __init__(self, caller: Caller, request_id: UUID, text_field: str) -> None:
        self._caller = caller
        self._id = str(request_id)
        self._text_field = text_field
        self._held: tuple[Store, Ask] | None = None
        self.headers: dict[str, str] = {}

    async def enter(self, characters: int) -> None:
        """Raises ApiError 429 that names the limit, and 400 for what would never fit."""
        ask = await self._ask(characters)
        refusals.check_size(ask, self._text_field)
        store, answer = await self._answer(ask)
        if answer.refusal is not None:
            limit = refusals.name(answer.refusal.limit, answer.refusal.subject)
            log.info("refused by a limit", limit=limit, wait_ms=answer.refusal.wait_ms)
            raise refusals.error(ask, answer)
        self._held = (store, ask)
        stores().hold(store, ask)
        self.headers = headers.of(ask, answer.states)
        self._look_at_budgets(store, ask, answer)

    async def look(self) -> dict[str, str]:
        """What is left now. A stream where none is allowed is refused, and with a refusal come
        the counts, of which it is none."""
        ask = await self._ask(0)
        closed = (_without_streams(subject) for subject in ask.subjects)
        _, answer = await self._answer(replace(ask, subjects=tuple(closed)))
        return headers.of(ask, answer.states)

    async def leave(self, characters: int, charged: int) -> None:
        """The context has ended: with so many characters of text, of which so many are charged."""
        if self._held is not None:
            (store, ask), self._held = self._held, None
            await stores().release(store, ask, max(0, characters - ask.characters), charged)

    async def _ask(self, characters: int) -> Ask:
        caller = self._caller
        tenant, key = caller.limits or (
            await database.read(selectors.of_tenant, caller.tenant_id),
            None,
        )
        subjects = [Subject(f"t{caller.tenant_id}", with_defaults(tenant))]
        if caller.key_id is not None and key is not None:
            subjects.append(Subject(f"k{caller.key_id}", key))
        month, left = _month(datetime.now(UTC))
        return Ask(self._id, tuple(subjects), characters, month, left)

    async def _answer(self, ask: Ask) -> tuple[Store, Answer]:
        """Twice where the store does not know yet what was spent: once a month, and after it
        lost what it knew."""
        store, answer = await stores().admit(ask)
        while answer.unknown:
            for subject in answer.unknown:
                await self._tell_spent(store, ask, subject, again=False)
            store, answer = await stores().admit(ask)
        return store, answer

    async def _tell_spent(self, store: Store, ask: Ask, subject: int, *, again: bool) -> None:
        since = datetime.strptime(ask.month, "%Y-%m").replace(tzinfo=UTC)
        key_id = self._caller.key_id if subject else None
        spent = await database.read(selectors.spent, since, self._caller.tenant_id, key_id)
        await stores().tell_spent(store, ask, subject, spent, again=again)

    def _look_at_budgets(self, store: Store, ask: Ask, answer: Answer) -> None:
        for place, state in enumerate(answer.states):
            subject = ask.subjects[place].name
            if state.is_past_soft and (subject, ask.month) not in _told:
                _told.add((subject, ask.month))
                log.warning("soft budget passed", subject=subject, characters=state.spent)
            if state.spent_age_ms is not None and state.spent_age_ms > SPENT_MS // 2:
                background.spawn(self._tell_spent(store, ask, place, again=True))


def _without_streams(subject: Subject) -> Subject:
    return replace(subject, limits=replace(subject.limits, concurrent_streams=0))


def with_defaults(limits: Limits) -> Limits:
    """A tenant without a limit of its own has the installation's."""
    own = {name: getattr(limits, name) for name in NAMES}
    usual: dict[str, int] = settings.TENANT_LIMITS
    return Limits(**{name: usual.get(name) if own[name] is None else own[name] for name in NAMES})


def _month(now: datetime) -> tuple[str, int]:
    """The calendar month in UTC, and the milliseconds left of it."""
    days = calendar.monthrange(now.year, now.month)[1]
    passed = now - now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    left = days * 86_400_000 - int(passed.total_seconds() * 1000)
    return now.strftime("%Y-%m"), left
