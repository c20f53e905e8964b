"""The end of the process: what is still being answered then is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from ttsapp.errors import ApiError

RETRY_AFTER_MS = 1000


class _Loop:
    """One event loop's answers under way."""

    def __init__(self) -> None:
        self.is_ending = self.is_cut = False
        self.tasks: set[asyncio.Task[object]] = set()


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()


@contextmanager
def cut_short() -> Iterator[None]:
    """Inside, the current task is cancelled when the time that open answers get is over."""
    task = asyncio.current_task()
    assert task is not None
    loop = _here()
    loop.tasks.add(task)
    try:
        yield
    finally:
        loop.tasks.discard(task)


def is_cut() -> bool:
    """Whether a cancellation now is the server's doing and not a client's."""
    return _here().is_cut


def begin(grace: float) -> None:
    """Ends every answer of this loop that is still under way when the grace is over."""
    loop = _here()
    if not loop.is_ending:
        loop.is_ending = True
        asyncio.get_running_loop().call_later(grace, _cut, loop)


def error() -> ApiError:
    message = "The server is being stopped. Please try again."
    return ApiError(503, "server_stopping", message, retry_after_ms=RETRY_AFTER_MS)


def _cut(loop: _Loop) -> None:
    loop.is_cut = True
    for task in tuple(loop.tasks):
        task.cancel()


def _here() -> _Loop:
    return _loops.setdefault(asyncio.get_running_loop(), _Loop())
