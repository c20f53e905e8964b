"""What the database says of things that are asked for again and again, at most 0.5 s old."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ttsapp import background, database
from ttsapp.errors import ApiError

Key = TypeVar("Key")
Value = TypeVar("Value")

# A change must be seen within one second everywhere: half of that may be spent here.
FRESH_SECONDS = 0.5
# An answer in use is asked for again at this age: a query is far quicker than what is left.
RENEW_SECONDS = 0.3
IN_USE_SECONDS = 10.0
MOST_RENEWED = 500


@dataclass(slots=True)
class _Answer(Generic[Value]):
    """`asked_at`: before the query, or a slow one would stretch the half second."""

    asked_at: float
    used_at: float
    value: Value


class Recent(Generic[Key, Value]):
    """A bounded memory of what `find`, called in a reading thread, says of some keys.

    Keys that were asked for lately are looked up again behind the requests' backs, all of them in
    one query: a request waits for the database only where its key has been idle. What is not found
    is not remembered."""

    def __init__(self, find: Callable[[list[Key]], Mapping[Key, Value]], size: int) -> None:
        self._find, self._size = find, size
        self._memories: WeakKeyDictionary[asyncio.AbstractEventLoop, _Memory[Key, Value]] = (
            WeakKeyDictionary()
        )

    async def get(self, key: Key, *, afresh: bool = False) -> Value | None:
        """None for what there is not. Raises ApiError 503 while the database is away."""
        loop = asyncio.get_running_loop()
        memory = self._memories.get(loop)
        if memory is None:
            memory = self._memories[loop] = _Memory(self._find, self._size)
        if afresh or not memory.is_fresh(key):
            await memory.look_up([key])
        return memory.use(key)


class _Memory(Generic[Key, Value]):
    """One event loop's; the last one used is at the end."""

    def __init__(self, find: Callable[[list[Key]], Mapping[Key, Value]], size: int) -> None:
        self._find, self._size = find, size
        self._answers: OrderedDict[Key, _Answer[Value]] = OrderedDict()
        self._renewal: asyncio.TimerHandle | None = None

    def is_fresh(self, key: Key) -> bool:
        found = self._answers.get(key)
        return found is not None and time.monotonic() - found.asked_at <= FRESH_SECONDS

    async def look_up(self, keys: list[Key]) -> None:
        asked_at = time.monotonic()
        found = await database.read(self._find, keys)
        for key in keys:
            known = self._answers.get(key)
            if known is not None and known.asked_at > asked_at:
                continue  # a later question was answered sooner
            if key in found:
                used_at = asked_at if known is None else known.used_at
                self._answers[key] = _Answer(asked_at, used_at, found[key])
            elif known is not None:
                del self._answers[key]

    def use(self, key: Key) -> Value | None:
        found = self._answers.get(key)
        if found is None:
            return None
        found.used_at = time.monotonic()
        self._answers.move_to_end(key)
        if len(self._answers) > self._size:
            self._answers.popitem(last=False)
        self._renew_later()
        return found.value

    def _renew_later(self) -> None:
        if self._renewal is None:
            loop = asyncio.get_running_loop()
            self._renewal = loop.call_later(RENEW_SECONDS, self._renew)

    def _renew(self) -> None:
        since = time.monotonic() - IN_USE_SECONDS
        latest_first = takewhile(
            lambda key: self._answers[key].used_at >= since, reversed(self._answers)
        )
        keys = list(islice(latest_first, MOST_RENEWED))
        if keys:
            background.spawn(self._look_up_quietly(keys))
        else:
            self._renewal = None

    async def _look_up_quietly(self, keys: list[Key]) -> None:
        """Who asks while the database is away is told by a question of its own."""
        try:
            with suppress(ApiError):
                await self.look_up(keys)
        finally:
            self._renewal = None
            self._renew_later()
