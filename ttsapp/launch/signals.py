"""Signals as something to wait for: a handler that does nothing, and a pipe that wakes the waiter.

A KeyboardInterrupt may strike between a process's start and its registration, and leave an orphan.
"""

from __future__ import annotations

import os
import select
import signal
import time
from types import FrameType

from ttsapp.launch.errors import Stopped

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_WAKING = (*ENDING, signal.SIGCHLD)


class Signals:
    """Installed for as long as the `with` block lasts; main thread only."""

    def __enter__(self) -> Signals:
        self._reader, self._writer = os.pipe()
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)
        self._handlers = {number: signal.signal(number, _nothing) for number in _WAKING}
        self._previous = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._previous)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self._reader)
        os.close(self._writer)

    def wait(self, seconds: float) -> None:
        """Returns after that time, or sooner when a child ends. Raises Stopped."""
        limit = time.monotonic() + seconds
        while (left := limit - time.monotonic()) > 0:
            if not select.select([self._reader], [], [], left)[0]:
                return
            arrived = set(os.read(self._reader, 256))
            if arrived & set(ENDING):
                raise Stopped
            if signal.SIGCHLD in arrived:
                return


def _nothing(number: int, frame: FrameType | None) -> None:
    """The pipe carries the news."""
