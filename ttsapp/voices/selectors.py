"""The engine's catalogue, remembered for a few seconds by each process."""

from __future__ import annotations

import asyncio
import time
from weakref import WeakKeyDictionary

from ttsapp import background
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.voices.catalogue import Catalogue, read

FRESH_SECONDS = 2.0
USABLE_SECONDS = 30.0


class _Memory:
    """One loop's copy: used while fresh, renewed behind the request's back, dropped when old."""

    def __init__(self) -> None:
        self.catalogue: Catalogue | None = None
        self.read_at = 0.0
        self.renewal: asyncio.Task[Catalogue | None] | None = None

    @property
    def age(self) -> float:
        return time.monotonic() - self.read_at

    async def renew(self) -> Catalogue:
        asked_at = time.monotonic()
        self.catalogue = read(await client().models())
        self.read_at = asked_at
        return self.catalogue

    async def renew_quietly(self) -> Catalogue | None:
        """While the engine is away the old copy serves; the synthesis itself says what is wrong."""
        try:
            return await self.renew()
        except ApiError:
            return None


_memories: WeakKeyDictionary[asyncio.AbstractEventLoop, _Memory] = WeakKeyDictionary()


async def catalogue() -> Catalogue:
    """What the engine serves. Raises ApiError 503 while it is away and nothing is remembered."""
    memory = _memories.setdefault(asyncio.get_running_loop(), _Memory())
    if memory.catalogue is None or memory.age > USABLE_SECONDS:
        return await memory.renew()
    renewing = memory.renewal is not None and not memory.renewal.done()
    if memory.age > FRESH_SECONDS and not renewing:
        memory.renewal = background.spawn(memory.renew_quietly())
    return memory.catalogue
