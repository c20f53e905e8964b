"""A context being spoken on a socket: its events rendered, sent, and what arrived counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

import structlog

from ttsapp import background
from ttsapp.errors import ApiError
from ttsapp.server.connection import Connection
from ttsapp.speech.context import Context
from ttsapp.speech.delivery import Delivery
from ttsapp.speech.events import Audio, Done, Event

log = structlog.get_logger()

Frame = str | bytes
Render = Callable[[Event], Awaitable[Sequence[Frame]]]


def binary(data: bytes) -> list[Frame]:
    """Encoded audio as frames: none while the encoder holds it back."""
    return [data] if data else []


class Speaking:
    """Begins at once. `render` turns an event into the dialect's messages, `send` sends one of
    them, `ended` is called once the last is sent. `refuse` tells of an ApiError that either raises;
    `on_broken` is called when the socket takes no more."""

    def __init__(
        self,
        context: Context,
        render: Render,
        send: Callable[[Frame], Awaitable[None]],
        ended: Callable[[], Awaitable[None]] | None,
        refuse: Callable[[ApiError], Awaitable[None]],
        on_broken: Callable[[], None],
        connection: Connection | None,
    ) -> None:
        self.context = context
        self._render, self._send = render, send
        self._ended, self._refuse, self._on_broken = ended, refuse, on_broken
        self._delivery = Delivery(connection)
        context.arrived = lambda: self._delivery.taken
        # Encoders hold audio back: it counts with the bytes that carry it.
        self._pending_pcm = 0
        self._task: asyncio.Task[None] = background.spawn(self._speak())

    def abandon(self, *, is_our_stop: bool = False) -> None:
        """The connection is gone: the engine is freed, and the usage settled, at once."""
        self.context.close(is_our_stop=is_our_stop)
        self._task.cancel()

    async def _speak(self) -> None:
        try:
            try:
                await self._to_the_end()
            except ApiError as error:
                await self._refuse(error)
        except Exception as error:  # noqa: BLE001  servers tell of lost connections in many ways
            log.info("socket broke", error=repr(error))
            self._on_broken()

    async def _to_the_end(self) -> None:
        async with aclosing(self.context.events()) as events:
            async for event in events:
                await self._pass_on(event)
        if self._ended is not None:
            await self._ended()

    async def _pass_on(self, event: Event) -> None:
        frames = await self._render(event)
        if isinstance(event, Audio):
            self._pending_pcm += len(event.pcm)
        for frame in frames:
            await self._send(frame)
        if frames and self._pending_pcm and isinstance(event, Audio | Done):
            self._delivery.hand_over(self._pending_pcm, sum(len(frame) for frame in frames))
            self._pending_pcm = 0
