"""What was deleted by another process leaves this one's memory too, whoever asks for what."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ttsapp import background, database
from ttsapp.errors import ApiError
from ttsapp.voices import artifacts, selectors

LOOK_SECONDS = 0.5
# Who began to read an artifact before it was deleted holds it a moment later.
AFTER_SECONDS = 2.0


@dataclass(slots=True)
class _Seen:
    """The last deletion that is known of, and until when it may not be over."""

    mark: tuple[int, int] | None = None
    until: float = 0.0


_timers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.TimerHandle] = WeakKeyDictionary()
_seen = _Seen()


def begin() -> None:
    """Every half second, in this loop, until `end`; without a query while nothing is held."""
    loop = asyncio.get_running_loop()
    _timers[loop] = loop.call_later(LOOK_SECONDS, lambda: background.spawn(_look_again()))


def end() -> None:
    if (timer := _timers.pop(asyncio.get_running_loop(), None)) is not None:
        timer.cancel()


async def look() -> None:
    """Raises ApiError 503 while the database is away."""
    held = artifacts.cache.digests()
    if not held:
        return
    mark = await database.read(selectors.removals_mark)
    if mark != _seen.mark:
        _seen.mark, _seen.until = mark, time.monotonic() + AFTER_SECONDS
    if time.monotonic() < _seen.until:
        artifacts.cache.forget(*await database.read(selectors.unused, held))


async def _look_again() -> None:
    try:
        await look()
    except ApiError:
        return  # another time
    finally:
        if asyncio.get_running_loop() in _timers:
            begin()
