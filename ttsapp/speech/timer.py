"""A clock that can be set back to zero."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Timer:
    """Calls `action` once `seconds` have passed since the last `start`, unless stopped."""

    def __init__(self, seconds: float, action: Callable[[], None]) -> None:
        self._seconds = seconds
        self._action = action
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.stop()
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(self._seconds, self._action)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
