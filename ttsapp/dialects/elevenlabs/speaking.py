"""One context on a socket: its text from messages, its events told in messages."""

from __future__ import annotations

from collections.abc import Callable

from ttsapp.dialects.elevenlabs import messages
from ttsapp.dialects.elevenlabs.alignment import MessageClock
from ttsapp.dialects.elevenlabs.messages import Message
from ttsapp.dialects.elevenlabs.schedule import Schedule
from ttsapp.dialects.speaking import Frame
from ttsapp.errors import ApiError, invalid
from ttsapp.speech.clocks import Deadlines
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import BYTES_PER_SAMPLE, SAMPLE_RATE, Encoding
from ttsapp.speech.events import Audio, Done, Event, Failed, Flushed, Word, Words
from ttsapp.speech.order import Order
from ttsapp.speech.text.prepare import Prepared

# A second: some clients take messages of a megabyte at most.
_MOST_PCM = SAMPLE_RATE * BYTES_PER_SAMPLE
_TURN = "turn"


class Voice:
    """`context_id`: None on the socket that has but one. `first`: the message that begins it, whose
    settings hold for all. `failure` is why it failed."""

    def __init__(
        self,
        context_id: str | None,
        order: Order,
        first: Message,
        prepare: Callable[[str], Prepared],
        timeout: int,
        *,
        is_auto: bool,
    ) -> None:
        deadlines = Deadlines(timeout, timeout)
        self.context = Context(order, deadlines=deadlines, prepare=prepare)
        self.failure: ApiError | None = None
        self._id = context_id
        self._settings = first.settings
        self._schedule = Schedule(first.schedule)
        self._is_auto = is_auto
        self._encoding = Encoding(order.audio, order.speed)
        self._clock = MessageClock(order.speed)
        self._words: list[Word] = []

    def check_same(self, message: Message) -> None:
        """Settings may be said again. Raises ApiError 400 for others."""
        if message.settings is not None and message.settings != self._settings:
            text = "voice_settings cannot change: send them with a context's first message."
            raise invalid(text, "voice_settings")

    def take(self, message: Message, *, is_first: bool = False) -> None:
        """Raises ApiError 400."""
        text = message.text or ""
        # Clients open a context with a blank that is none of its text.
        is_text = bool(text) and not (is_first and text.isspace())
        is_flush = message.is_flush or (bool(text) and self._is_auto)
        due = self._schedule.push(text if is_text else "")
        if is_flush or message.is_trigger:
            due += self._schedule.release()
        if due:
            self.context.append(due)
        elif is_text or not is_first:
            self.context.keep_alive()
        if is_flush:
            self.context.flush(_TURN)

    def finish(self) -> None:
        """No more text follows. Raises ApiError 400 for too much, and ends all the same."""
        try:
            if due := self._schedule.release():
                self.context.append(due)
        finally:
            self.context.finish()

    async def render(self, event: Event) -> list[Frame]:
        match event:
            case Audio():
                return await self._audio(event.pcm)
            case Words():
                self._words.extend(event.words)
            case Flushed():
                # Its last words: the audio that they would come with may be long in coming.
                return self._message(b"")
            case Done(reason="cancelled"):
                return [messages.final(self._id)]
            case Done():
                tail = await self._encoding.finish()
                return [*self._message(tail), messages.final(self._id)]
            case Failed() if event.error.code == "empty_input":
                return [messages.final(self._id)]
            case Failed():
                self.failure = event.error
                # Nobody need wait for more of it.
                ended = [] if self._id is None else [messages.final(self._id)]
                return [messages.failure(event.error, self._id), *ended]
        return []

    async def _audio(self, pcm: bytes) -> list[Frame]:
        frames: list[Frame] = []
        for start in range(0, len(pcm), _MOST_PCM):
            data = await self._encoding.push(pcm[start : start + _MOST_PCM])
            frames += self._message(data) if data else []
        return frames

    def _message(self, data: bytes) -> list[Frame]:
        if not (data or self._words):
            return []
        words, self._words = self._words, []
        return [messages.audio(data, self._clock.alignment(words), self._id)]
