"""One context on the socket: its text from messages, its events told in messages."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from ttsapp.dialects.cartesia import messages
from ttsapp.dialects.cartesia.socket_request import Message
from ttsapp.dialects.speaking import Frame
from ttsapp.errors import invalid
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import Encoding
from ttsapp.speech.events import Audio, Done, Event, Failed, Flushed, Words
from ttsapp.speech.order import Order
from ttsapp.speech.text.prepare import Prepared


class Voice:
    """`first`: the message that opens it, whose settings all others repeat."""

    def __init__(
        self, name: str, order: Order, first: Message, prepare: Callable[[str], Prepared]
    ) -> None:
        hold = first.longest_hold
        self.name = name
        self.context = Context(order, max_hold=hold or None, prepare=prepare)
        self._settings = first.settings
        self._is_unbuffered = hold == 0
        self._has_words = first.settings.get("add_timestamps", False)
        self._encoding = Encoding(order.audio, order.speed, order.volume)
        self._flushes = 0
        self._flushed = 0
        self._told_at = time.perf_counter()

    def check_same(self, message: Message) -> None:
        """Raises ApiError 400 for a field whose value the context did not begin with."""
        for field, value in message.settings.items():
            if self._settings.get(field) != value:
                text = f"{field} cannot change in a context: send what it began with, or begin one."
                raise invalid(text, field, "context_changed")

    def begin(self, message: Message) -> None:
        """The first message. Raises ApiError 400."""
        if message.has_more or message.is_flush:
            self.take(message)
        else:
            self.context.say(message.transcript)

    def take(self, message: Message) -> None:
        """Raises ApiError 400."""
        if not message.is_only_an_end:
            self.context.append(message.transcript)
            if self._is_unbuffered:
                self.context.flush()
        if message.is_flush:
            self.context.flush(str(self._flushes + 1))
            self._flushes += 1
        if not message.has_more:
            self.context.finish()

    async def render(self, event: Event) -> list[Frame]:
        match event:
            case Audio():
                return self._chunk(await self._encoding.push(event.pcm))
            case Words() if self._has_words:
                told = messages.timestamps(event.words, self.context.order.speed)
                return [self._frame({**told, "flush_id": self._flushed + 1})]
            case Flushed():
                self._flushed = int(event.id)
                return [self._frame(messages.flush_done(self._flushed))]
            case Done() if event.reason != "cancelled":
                rest = self._chunk(await self._encoding.finish())
                return [*rest, self._frame(messages.done())]
            case Failed() if event.error.code == "empty_input":
                return [self._frame(messages.done())]
            case Failed():
                request_id = str(self.context.order.id)
                return [self._frame(messages.failure(event.error, request_id))]
        return []

    def _chunk(self, audio: bytes) -> list[Frame]:
        if not audio:
            return []
        now = time.perf_counter()
        step, self._told_at = now - self._told_at, now
        told = messages.chunk(audio, step * 1000)
        return [self._frame({**told, "flush_id": self._flushed + 1})]

    def _frame(self, message: messages.Message) -> str:
        return frame(message, self.name)


def frame(message: messages.Message, name: str | None) -> str:
    """Every message says whose it is: some clients look for that first."""
    return msgspec.json.encode({**message, "context_id": name}).decode()
