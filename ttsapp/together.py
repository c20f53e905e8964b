"""Items that come together are handled together.

While one group is being handled the next gathers, so that a busy process makes few transactions,
and one item alone never waits for another."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ttsapp import background

Item = TypeVar("Item")
# For each item of a group, in its order: how it failed, if it did.
Handler = Callable[[list[Item]], Awaitable[list[Exception | None]]]

# A transaction that is as long again holds up more than it saves.
MOST_TOGETHER = 100


class Together(Generic[Item]):
    """May be called in any event loop; each has groups of its own."""

    def __init__(self, handle: Handler[Item]) -> None:
        self._handle = handle
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue[Item]] = (
            WeakKeyDictionary()
        )

    async def add(self, item: Item) -> None:
        """Comes back when it has been handled. Raises what the handler says of it."""
        loop = asyncio.get_running_loop()
        await self._queues.setdefault(loop, _Queue()).add(item, self._handle)


class _Queue(Generic[Item]):
    def __init__(self) -> None:
        self._waiting: deque[tuple[Item, asyncio.Future[None]]] = deque()
        self._is_busy = False

    async def add(self, item: Item, handle: Handler[Item]) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if not self._is_busy:
            self._is_busy = True
            background.spawn(self._work(handle))
        await done

    async def _work(self, handle: Handler[Item]) -> None:
        try:
            while self._waiting:
                count = min(len(self._waiting), MOST_TOGETHER)
                group = [self._waiting.popleft() for _ in range(count)]
                try:
                    errors = await handle([item for item, _ in group])
                except Exception as failure:  # noqa: BLE001  whoever waits hears of it
                    errors = [failure] * count
                for (_, done), error in zip(group, errors, strict=True):
                    _tell(done, error)
        finally:
            self._is_busy = False


def _tell(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
