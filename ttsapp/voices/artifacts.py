"""Artifacts on their way to the engine: remembered by each process, the least used forgotten."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from dataclasses import dataclass

import structlog
from django.conf import settings

from ttsapp.errors import ApiError
from ttsapp.voices import storage
from ttsapp.voices.storage import Blob, DamagedError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class CacheCounters:
    """As an engine tells them of its own caches."""

    hits: int
    misses: int
    evictions: int
    entries: int
    nbytes: int
    most: int


class ArtifactCache:
    """By digest, so that a voice under two names is held once. Bounded by bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = self._evictions = self._nbytes = 0

    def get(self, digest: str) -> bytes | None:
        """Counts as a hit or a miss."""
        found = self.peek(digest)
        with self._lock:
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
        return found

    def peek(self, digest: str) -> bytes | None:
        """For who has been counted already."""
        with self._lock:
            found = self._held.get(digest)
            if found is not None:
                self._held.move_to_end(digest)
            return found

    def put(self, digest: str, content: bytes) -> None:
        """What is larger than the whole cache is not kept."""
        with self._lock:
            if digest in self._held or len(content) > self._most:
                return
            self._held[digest] = content
            self._nbytes += len(content)
            while self._nbytes > self._most:
                _, dropped = self._held.popitem(last=False)
                self._nbytes -= len(dropped)
                self._evictions += 1

    def forget(self, *digests: str) -> None:
        """What was deleted leaves memory too."""
        with self._lock:
            for digest in digests:
                if (dropped := self._held.pop(digest, None)) is not None:
                    self._nbytes -= len(dropped)

    def digests(self) -> list[str]:
        with self._lock:
            return list(self._held)

    def counters(self) -> CacheCounters:
        with self._lock:
            return CacheCounters(
                self._hits,
                self._misses,
                self._evictions,
                len(self._held),
                self._nbytes,
                self._most,
            )


cache = ArtifactCache(settings.VOICE_CACHE_BYTES)


async def warm(digest: str, *, is_counted: bool = True) -> None:
    """Has the artifact in memory, so that a stream need not wait for the store. `is_counted`: as a
    hit or a miss, once a request, however many parts that has.

    Raises ApiError 503: the voice is there, but its artifact cannot be read."""
    if (cache.get if is_counted else cache.peek)(digest) is None:
        await asyncio.to_thread(_read, digest)


def held(digest: str) -> bytes:
    """After `warm`, for each of its streams. Read again if it was forgotten meanwhile."""
    return cache.peek(digest) or _read(digest)


def _read(digest: str) -> bytes:
    try:
        content = storage.get(Blob.ARTIFACT, digest)
    except DamagedError as error:
        log.error("a voice cannot be read", error=str(error))
        message = "This voice cannot be read from the store right now: tell whoever runs this."
        raise ApiError(503, "voice_unreadable", message, field="voice") from None
    cache.put(digest, content)
    return content
