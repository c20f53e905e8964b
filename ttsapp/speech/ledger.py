"""Settlements that come together are written together.

While one transaction is under way the next gathers what ends meanwhile, so that a busy process pays
for few commits, and one request alone never waits for another."""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

import structlog
from django.db import DataError, IntegrityError

from ttsapp import background, database
from ttsapp.speech import services
from ttsapp.speech.services import Closing

log = structlog.get_logger()

Waiting = tuple[Closing, asyncio.Future[None]]

# A transaction that is as long again holds up more than it saves.
MOST_TOGETHER = 100


class Ledger:
    """Belongs to an event loop."""

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self._is_writing = False

    async def close(self, closing: Closing) -> None:
        """Comes back when it is written. Raises what the database raises in the end."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((closing, written))
        if not self._is_writing:
            self._is_writing = True
            background.spawn(self._write_all())
        await written

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                count = min(len(self._waiting), MOST_TOGETHER)
                await self._write([self._waiting.popleft() for _ in range(count)])
        finally:
            self._is_writing = False

    async def _write(self, group: list[Waiting]) -> None:
        try:
            await database.write_surely(services.close_all, [closing for closing, _ in group])
        except (IntegrityError, DataError) as error:
            await self._write_refused(group, error)
        except Exception as error:  # noqa: BLE001  each of them hears of it
            _tell(group, error)
        else:
            _tell(group)

    async def _write_refused(self, group: list[Waiting], error: Exception) -> None:
        """One of them has values that the database does not take: the others are not lost by it."""
        if len(group) > 1:
            for each in group:
                await self._write([each])
            return
        [(closing, written)] = group
        if closing.is_capped:
            _tell(group, error)
            return
        log.error("the ledger refuses a usage", request=str(closing.order.id), error=str(error))
        await self._write([(closing.capped(), written)])


_ledgers: WeakKeyDictionary[asyncio.AbstractEventLoop, Ledger] = WeakKeyDictionary()


def ledger() -> Ledger:
    """This loop's own."""
    return _ledgers.setdefault(asyncio.get_running_loop(), Ledger())


def _tell(group: list[Waiting], error: Exception | None = None) -> None:
    for _, written in group:
        if written.done():
            continue
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)
