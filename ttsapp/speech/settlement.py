"""The ledger's side of a context: one reservation, then one event with its log row, once."""

from __future__ import annotations

import asyncio

from billing import services as billing
from ttsapp import background, database
from ttsapp.errors import ApiError
from ttsapp.speech import services
from ttsapp.speech.order import Order


class Settlement:
    """Everything is written in tasks that a vanished client cannot cancel."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._reservation: asyncio.Task[None] | None = None

    @property
    def is_reserved(self) -> bool:
        return self._reservation is not None

    def reserve(self) -> None:
        """The reservation is written while the engine works, never before."""
        request = services.metered(self._order)
        self._reservation = background.spawn(database.write(billing.reserve, request))

    def settle(self, usage: billing.Usage, record: services.Record) -> asyncio.Task[None]:
        return background.spawn(self._settle(usage, record))

    def refuse(self, error: ApiError) -> asyncio.Task[None]:
        """For what never reached the engine."""
        order = self._order
        note = database.write_surely(
            services.log_refusal, order.id, order.caller, order.transport, error
        )
        return background.spawn(note)

    async def _settle(self, usage: billing.Usage, record: services.Record) -> None:
        if self._reservation is not None:
            await asyncio.wait({self._reservation})
        await database.write_surely(services.close, self._order, usage, record)
