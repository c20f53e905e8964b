"""One utterance of a speech socket: text comes in while audio goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from django.conf import settings

from ttsapp import background
from ttsapp.errors import ApiError, invalid
from ttsapp.speech import messages
from ttsapp.speech.answers import encoded
from ttsapp.speech.order import Order, is_speakable
from ttsapp.speech.session import Session

SendText = Callable[[str], Awaitable[None]]
SendBytes = Callable[[bytes], Awaitable[None]]


class Utterance:
    """The engine is called on once the text holds something to say."""

    def __init__(self, order: Order, send_text: SendText, send_bytes: SendBytes) -> None:
        self.order = order
        self.is_over = False
        self.is_text_open = True
        self._send_text = send_text
        self._send_bytes = send_bytes
        self._held = ""
        self._characters = 0
        self._session: Session | None = None
        self._speaking: asyncio.Task[None] | None = None

    async def add(self, text: str) -> None:
        """Raises ApiError 400 when the text is closed or grows too long."""
        if not self.is_text_open:
            raise invalid("No text may follow end.", "type", "out_of_order")
        if self._characters + len(text) > settings.MAX_INPUT_CHARACTERS:
            message = f"The text may have {settings.MAX_INPUT_CHARACTERS} characters in all."
            raise invalid(message, "text", "string_above_max_length")
        self._characters += len(text)
        if self._session is not None:
            await self._session.append(text)
            return
        self._held += text
        if is_speakable(self._held):
            self._session = Session(self.order, self._held, is_last=False)
            self._speaking = background.spawn(self._speak(self._session))

    async def end(self) -> None:
        """Raises ApiError 400 when there was nothing to say."""
        if not self.is_text_open:
            raise invalid("The text has ended already.", "type", "out_of_order")
        self.is_text_open = False
        if self._session is None:
            self.is_over = True
            raise invalid("There is nothing to say in this text.", "text", "empty_input")
        await self._session.finish()

    async def cancel(self) -> None:
        self.is_text_open = False
        if self._session is None:
            self.is_over = True
            await self._send_text(messages.silent(self.order))
        else:
            await self._session.cancel()

    def abandon(self, *, is_our_stop: bool) -> None:
        """The connection is gone: the engine is freed, and the usage settled, at once."""
        self.is_over = True
        if self._session is not None:
            self._session.tally.is_our_stop = is_our_stop
        if self._speaking is not None:
            self._speaking.cancel()

    async def _speak(self, session: Session) -> None:
        try:
            await self._send_audio(session)
        except ApiError as error:
            self.is_over = True
            await self._send_text(messages.error(error, self.order.id))
        else:
            self.is_over = True
            await self._send_text(messages.finished(session))

    async def _send_audio(self, session: Session) -> None:
        audio = session.audio()
        first = await anext(audio, None)
        if first is None:
            return
        async for chunk in encoded(first, audio, self.order.response_format):
            await self._send_bytes(chunk)
