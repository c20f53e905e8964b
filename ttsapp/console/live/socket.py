"""The engines page's socket: one message a second while its person may look."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from channels.generic.websocket import AsyncJsonWebsocketConsumer

from ttsapp import database
from ttsapp.console.live import cells
from ttsapp.console.live.sampler import look
from ttsapp.errors import ApiError
from ttsapp.tenants import selectors

EVERY_SECONDS = 1.0
# A role that was taken away ends the view after so many messages.
CHECK_EVERY = 30
FORBIDDEN = 4403


class EnginesSocket(AsyncJsonWebsocketConsumer):
    """Behind Channels' session and origin checks: see `ttsapp/asgi.py`."""

    _sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        if not await self._may_look():
            await self.close(FORBIDDEN)
            return
        await self.accept()
        self._sending = asyncio.create_task(self._send())

    async def disconnect(self, code: int) -> None:
        if self._sending is not None:
            self._sending.cancel()
            with suppress(asyncio.CancelledError):
                await self._sending

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Nothing is asked of it."""

    async def _send(self) -> None:
        sent = 0
        while sent % CHECK_EVERY or await self._may_look():
            with suppress(ApiError):  # the database is away: the next second may have it back
                await self.send_json(cells.snapshot(await look()))
            sent += 1
            await asyncio.sleep(EVERY_SECONDS)
        await self.close(FORBIDDEN)

    async def _may_look(self) -> bool:
        user = self.scope["user"]
        return user is not None and await database.read(selectors.platform_role, user) is not None
