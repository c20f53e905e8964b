"""Which store this process asks: Redis where there is one, and itself while that is away.

Speech does not stop for Redis, and is never without limits: while it does not answer, each web
process keeps the same rules by itself (so N processes allow N times as much), and says so."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable
from typing import TypeVar
from weakref import WeakKeyDictionary

import redis.asyncio
import structlog
from django.conf import settings
from redis.exceptions import RedisError

from ttsapp import background
from ttsapp.limits.local import LocalStore
from ttsapp.limits.rules import LEASE_MS, Answer, Ask, Store
from ttsapp.limits.shared import SharedStore

Result = TypeVar("Result")

log = structlog.get_logger()

# An answer takes a tenth of a millisecond. Who has waited so long goes on without, and so does
# everyone for the pause after it.
PATIENCE_SECONDS = 0.25
PAUSE_SECONDS = 1.0


class AwayError(Exception):
    """Redis does not answer."""


class Stores:
    """One event loop's: its connection to Redis, its own counts, and the streams it must renew."""

    def __init__(self, url: str) -> None:
        self.local = LocalStore()
        self._client = redis.asyncio.Redis.from_url(url) if url else None
        self.shared = None
        if self._client is not None:
            self.shared = SharedStore(self._client, prefix=prefix())
        self._away_until = 0.0
        self._living: dict[str, tuple[Store, Ask]] = {}
        self._renewal: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def admit(self, ask: Ask) -> tuple[Store, Answer]:
        """The answer, and who gave it: the same one must be told of the end."""
        if self.shared is not None and time.monotonic() >= self._away_until:
            try:
                return self.shared, await self._bounded(self.shared.admit(ask))
            except AwayError:
                pass
        return self.local, await self.local.admit(ask)

    async def grow(self, store: Store, more: int, ask: Ask) -> tuple[Store, Answer]:
        """By the store that admitted it. Speech does not stop for Redis."""
        try:
            return store, await self._bounded(store.grow(ask, more))
        except AwayError:
            return store, Answer()

    async def restore(self, store: Store, tenant: str, running: list[Ask]) -> None:
        """Counts a tenant's streams again in a store that has forgotten them: what the ledger says
        is `running`, and what this process knows better."""
        own = [ask for held_by, ask in self._living.values() if held_by is store]
        asks = {ask.id: ask for ask in [*running, *own] if ask.subjects[0].name == tenant}
        try:
            await self._bounded(store.renew(list(asks.values())))
        except AwayError:
            return

    async def tell_spent(
        self, store: Store, ask: Ask, subject: int, characters: int, *, again: bool
    ) -> None:
        """If Redis is away, the next request finds out."""
        try:
            await self._bounded(store.tell_spent(ask, subject, characters, again=again))
        except AwayError:
            return

    async def tell_used(self, store: Store, ask: Ask, micros: int, *, again: bool) -> None:
        """The same of credit."""
        try:
            await self._bounded(store.tell_used(ask, micros, again=again))
        except AwayError:
            return

    def hold(self, store: Store, ask: Ask) -> None:
        """Its stream is renewed until it is released."""
        self._living[ask.id] = (store, ask)
        self._renew_later()

    async def release(
        self, store: Store, ask: Ask, more_characters: int, charged: int, charged_micros: int = 0
    ) -> None:
        """What Redis is not told frees itself when the lease ends. A renewal that is under way
        knows the stream as living: it comes first."""
        self._living.pop(ask.id, None)
        if self._renewing is not None:
            await asyncio.wait({self._renewing})
        try:
            await self._bounded(store.release(ask, more_characters, charged, charged_micros))
        except AwayError:
            return

    async def close(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
        if self._client is not None:
            await self._client.aclose()

    async def _bounded(self, call: Awaitable[Result]) -> Result:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await call
        except (RedisError, OSError, TimeoutError) as error:
            self._away_until = time.monotonic() + PAUSE_SECONDS
            log.error(
                "limits are kept by this process alone: Redis does not answer",
                error=f"{type(error).__name__}: {error}",
            )
            raise AwayError from error

    def _renew_later(self) -> None:
        if self._renewal is None and self._living:
            loop = asyncio.get_running_loop()
            self._renewal = loop.call_later(LEASE_MS / 3000, self._renew_now)

    def _renew_now(self) -> None:
        self._renewal = None
        self._renewing = background.spawn(self._renew())
        self._renew_later()

    async def _renew(self) -> None:
        for store in (self.local, self.shared):
            asks = [ask for held_by, ask in self._living.values() if held_by is store]
            if store is not None and asks:
                try:
                    await self._bounded(store.renew(asks))
                except AwayError:
                    continue


def prefix() -> str:
    """Of all keys. Two installations that share a Redis must not share their tenants' counts; the
    secret is the same on all machines of one."""
    own = hashlib.sha256(f"limits:{settings.SECRET_KEY}".encode()).hexdigest()[:12]
    return f"parlance:{own}:limits"


_stores: WeakKeyDictionary[asyncio.AbstractEventLoop, Stores] = WeakKeyDictionary()


def stores() -> Stores:
    """This loop's."""
    loop = asyncio.get_running_loop()
    if loop not in _stores:
        _stores[loop] = Stores(settings.REDIS_URL)
    return _stores[loop]


async def close() -> None:
    found = _stores.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()
