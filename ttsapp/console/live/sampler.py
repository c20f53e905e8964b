"""Looks at the engines for everybody who watches, once a second at most in each process."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from weakref import WeakKeyDictionary

from django.utils import timezone

from gpu_engine.proto.engine_pb2 import EngineStatus
from ttsapp import database
from ttsapp.console.live.readings import OLDEST_SECONDS, Reading, Sample, away, reading
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.speech import history
from ttsapp.speech.history import FirstAudio

FRESH_SECONDS = 0.9
# Who was not watched has no earlier look: the first two come so soon after each other.
FIRST_PAUSE_SECONDS = 0.25
WAITS_EVERY_SECONDS = 5.0
WAITS_WINDOW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`waits`: to first audio, over all tenants and WAITS_WINDOW."""

    engines: tuple[Reading, ...]
    waits: FirstAudio | None


class Sampler:
    """Belongs to one event loop. What it keeps are looks a moment old, never a truth."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._samples: dict[int, Sample] = {}
        self._costs: dict[int, float] = {}
        self._latest = Snapshot((), None)
        self._looked_at = self._waits_at = float("-inf")

    async def now(self) -> Snapshot:
        async with self._lock:
            since = time.monotonic() - self._looked_at
            if since < FRESH_SECONDS:
                return self._latest
            if since > OLDEST_SECONDS:
                await self._look()
                await asyncio.sleep(FIRST_PAUSE_SECONDS)
            engines = await self._look()
            self._latest = Snapshot(engines, await self._waits())
            self._looked_at = time.monotonic()
            return self._latest

    async def _look(self) -> tuple[Reading, ...]:
        told, models = await asyncio.gather(client().statuses(), client().model_names())
        at = time.monotonic()
        return tuple(
            replace(self._read(place, at, status), models=names, number=place + 1)
            for place, (status, names) in enumerate(zip(told, models, strict=True))
        )

    def _read(self, place: int, at: float, status: EngineStatus | ApiError) -> Reading:
        if isinstance(status, ApiError):
            self._samples.pop(place, None)
            return away(f"engine {place + 1}")
        before, sample = self._samples.get(place), Sample(at, status)
        self._samples[place] = sample
        found = reading(before, sample, self._costs.get(place))
        if found.frame_cost is not None:
            self._costs[place] = found.frame_cost
        return found

    async def _waits(self) -> FirstAudio | None:
        if time.monotonic() - self._waits_at < WAITS_EVERY_SECONDS:
            return self._latest.waits
        self._waits_at = time.monotonic()
        return await database.read(history.first_audio_of_all, timezone.now() - WAITS_WINDOW)

    def forget(self) -> None:
        """Somebody has just changed an engine: what was seen before counts no more."""
        self._looked_at = float("-inf")


_samplers: WeakKeyDictionary[asyncio.AbstractEventLoop, Sampler] = WeakKeyDictionary()


async def look() -> Snapshot:
    """By this loop's sampler."""
    return await _sampler().now()


async def look_again() -> None:
    _sampler().forget()


def _sampler() -> Sampler:
    return _samplers.setdefault(asyncio.get_running_loop(), Sampler())
