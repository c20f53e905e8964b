"""One utterance of a speech socket: a context, and its events as the socket's messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import structlog

from ttsapp import background
from ttsapp.speech import messages
from ttsapp.speech.context import Context
from ttsapp.speech.delivery import Delivery
from ttsapp.speech.encoders import Encoding
from ttsapp.speech.events import Audio, Done, Event
from ttsapp.speech.feed import TextMode
from ttsapp.speech.order import Order
from ttsapp.speech.text.prepare import Prepared

log = structlog.get_logger()

SendText = Callable[[str], Awaitable[None]]
SendBytes = Callable[[bytes], Awaitable[None]]


class Utterance:
    """`on_broken` is called when the socket takes nothing more."""

    def __init__(
        self,
        order: Order,
        mode: TextMode,
        send_text: SendText,
        send_bytes: SendBytes,
        on_broken: Callable[[], None],
        delivery: Delivery,
        prepare: Callable[[str], Prepared] | None = None,
    ) -> None:
        self.context = Context(order, mode=mode, prepare=prepare)
        self.context.arrived = lambda: delivery.taken
        self._delivery = delivery
        self._encoded_bytes = 0
        self._encoding = Encoding(order.audio, order.speed)
        self._send_text, self._send_bytes = send_text, send_bytes
        self._on_broken = on_broken
        self._speaking: asyncio.Task[None] | None = None

    @property
    def order(self) -> Order:
        return self.context.order

    def speak(self) -> None:
        self._speaking = background.spawn(self._speak())

    def abandon(self, *, is_our_stop: bool) -> None:
        """The connection is gone: the engine is freed, and the usage settled, at once."""
        self.context.close(is_our_stop=is_our_stop)
        if self._speaking is not None:
            self._speaking.cancel()

    async def _speak(self) -> None:
        try:
            async with aclosing(self.context.events()) as events:
                async for event in events:
                    await self._send(event)
        except Exception as error:  # noqa: BLE001  servers tell of lost connections in many ways
            log.info("socket broke", error=repr(error))
            self._on_broken()

    async def _send(self, event: Event) -> None:
        if isinstance(event, Audio):
            await self._send_audio(await self._encoding.push(event.pcm), len(event.pcm))
            return
        if isinstance(event, Done) and event.reason != "cancelled":
            await self._send_audio(await self._encoding.finish())
        await self._send_text(messages.of_event(event, self.order))

    async def _send_audio(self, data: bytes, pcm_bytes: int = 0) -> None:
        self._encoded_bytes += pcm_bytes
        if data:
            await self._send_bytes(data)
            self._delivery.hand_over(self._encoded_bytes, len(data))
            self._encoded_bytes = 0
