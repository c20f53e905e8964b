"""The ledger's side of a context: admitted by the limits, one reservation, then one event with its
log row, once."""

from __future__ import annotations

import asyncio

from billing import services as billing
from ttsapp import background, database
from ttsapp.errors import ApiError
from ttsapp.limits.admission import Admission
from ttsapp.limits.places import LIVE, Place
from ttsapp.limits.purse import Wanted
from ttsapp.speech import ledger, services
from ttsapp.speech.order import Order

# The engine's first audio comes before: writing would take its processor from it.
RESERVE_AFTER_SECONDS = 0.02


class Settlement:
    """Everything is written in tasks that a vanished client cannot cancel. `is_live`: its text is
    spoken word by word, and may keep the engine waiting."""

    def __init__(self, order: Order, *, is_live: bool = False) -> None:
        self._order = order
        wanted = Wanted(order.model.id, services.voice_kind(order.voice).value)
        self.admission = Admission(order.caller, order.id, order.text_field, wanted)
        self._live = Place(LIVE) if is_live else None
        self._admitting: asyncio.Task[ApiError | None] | None = None
        self._to_reserve: asyncio.TimerHandle | None = None
        self._reservation: asyncio.Task[None] | None = None
        # Of the text that is there, and the task that has it held.
        self._characters = 0
        self._growth: asyncio.Task[ApiError | None] | None = None

    @property
    def is_begun(self) -> bool:
        return self._admitting is not None

    @property
    def is_refused(self) -> bool:
        """By a limit, before the engine was asked."""
        done = self._admitting is not None and self._admitting.done()
        return done and self._refusal is not None

    def begin(self, characters: int) -> None:
        """Asks the limits, with the text that is there; then, while the engine works and never
        before, the reservation is written. What ends sooner than that needs none."""
        self._characters = characters
        self._admitting = background.spawn(self._admit(characters))

    async def admitted(self) -> None:
        """Raises ApiError for what the limits refuse."""
        assert self._admitting is not None
        await asyncio.wait({self._admitting})
        if (error := self._refusal) is not None:
            raise error

    def must_hold(self, characters: int) -> bool:
        """Whether a limit may mind that the text has grown."""
        assert self._admitting is not None
        is_admitted = self._admitting.done()
        return characters > self._characters and (self.admission.is_bound or not is_admitted)

    async def hold(self, characters: int) -> None:
        """So much text is there by now; what comes together is asked for together. Raises ApiError
        where a budget or credit has no room for it."""
        self._characters = max(self._characters, characters)
        if self._growth is None or self._growth.done():
            self._growth = background.spawn(self._grow())
        await asyncio.wait({growth := self._growth})
        if (error := growth.result()) is not None:
            raise error

    async def is_held(self) -> bool:
        """Of all text that is there now: before any of it is heard."""
        if self._growth is None:
            return True
        await asyncio.wait({growth := self._growth})
        return growth.result() is None

    async def _grow(self) -> ApiError | None:
        assert self._admitting is not None
        if await self._admitting is not None:
            return None
        while self.admission.is_bound and self._characters > self.admission.characters:
            try:
                await self.admission.grow(self._characters)
            except ApiError as error:
                # Nobody's speech ends because a database is away.
                return error if error.status < 500 else None
        return None

    def settle(self, usage: billing.Usage, record: services.Record) -> asyncio.Task[None]:
        return background.spawn(self._settle(usage, record))

    def refuse(self, error: ApiError) -> asyncio.Task[None]:
        """For what never reached the engine."""
        return background.spawn(self._note(error))

    @property
    def _refusal(self) -> ApiError | None:
        return self._admitting.result() if self._admitting is not None else None

    async def _admit(self, characters: int) -> ApiError | None:
        try:
            await self._order.make_ready()
            if self._live is not None:
                await self._live.take(self._order.caller.tenant_id)
            await self.admission.enter(characters)
        except ApiError as error:
            await self._leave_live()
            return error
        request = services.metered(self._order, characters)
        loop = asyncio.get_running_loop()
        self._to_reserve = loop.call_later(RESERVE_AFTER_SECONDS, self._reserve, request)
        return None

    async def _leave_live(self) -> None:
        if self._live is not None:
            await self._live.leave()

    def _reserve(self, request: billing.Metered) -> None:
        self._reservation = background.spawn(ledger.reserve(request))

    async def _settle(self, usage: billing.Usage, record: services.Record) -> None:
        if self._admitting is not None:
            # Its client may have left before the limits had answered.
            error = await self._admitting
            if error is not None:
                await self._note(error)
                return
        if self._to_reserve is not None:
            self._to_reserve.cancel()
        if self._growth is not None:
            await asyncio.wait({self._growth})
        await self._leave_live()
        # What is used up of credit is read from the ledger before anyone is refused: what is held
        # of it ends when the ledger has it, and not before.
        if not self.admission.is_paid_ahead:
            await self.admission.leave(usage.characters, usage.billed_characters)
        if self._reservation is not None:
            await asyncio.wait({self._reservation})
        try:
            await ledger.close(services.Closing(self._order, usage, record))
        finally:
            await self.admission.leave(usage.characters, usage.billed_characters)

    async def _note(self, error: ApiError) -> None:
        order = self._order
        await database.write_surely(
            services.log_refusal, order.id, order.caller, order.transport, error
        )
