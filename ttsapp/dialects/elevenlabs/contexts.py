"""`multi-stream-input`: many contexts on one socket, each with its own text, voice and end."""

from __future__ import annotations

from collections import deque

from ttsapp.dialects.elevenlabs import messages
from ttsapp.dialects.elevenlabs.messages import Message
from ttsapp.dialects.elevenlabs.sockets import ElevenLabsSocket
from ttsapp.dialects.elevenlabs.speaking import Voice
from ttsapp.dialects.socket import NORMAL, is_of_the_key
from ttsapp.errors import ApiError, invalid

MOST_OPEN = 20
# With those that get no more text but are still speaking.
MOST_SPEAKING = 100
MOST_WAITING = 256


class MultiStreamSocket(ElevenLabsSocket):
    """A context is known until its last message is sent. Text for the next one of the same name
    waits until then, so that the two are not mixed up."""

    _is_closing = False

    async def opening(self) -> None:
        await super().opening()
        self._voices: dict[str, Voice] = {}
        self._waiting: dict[str, deque[Message]] = {}

    async def take(self, message: str) -> None:
        parsed = messages.parse(message)
        await self.let_in(parsed)
        if self._is_closing:
            if (parsed.text or "").strip():
                refusal = messages.failure(messages.text_is_over(), parsed.context_id)
                await self.send_frame(refusal)
            return
        if parsed.closes_socket:
            await self._close_socket()
            return
        voice = self._voices.get(parsed.context_id)
        if voice is not None and voice.context.is_text_open:
            voice.check_same(parsed)
        await self._try(parsed)

    async def _try(self, message: Message) -> None:
        """What one context may not do ends no other."""
        try:
            await self._do(message)
        except ApiError as error:
            if is_of_the_key(error):
                raise
            await self.send_frame(messages.failure(error, message.context_id))
            if message.context_id not in self._voices:
                await self.send_frame(messages.final(message.context_id))

    async def _do(self, message: Message) -> None:
        name = message.context_id
        voice = self._voices.get(name)
        if voice is None:
            await self._without_context(message)
        elif not voice.context.is_text_open:
            self._wait(message)
        elif message.closes_context:
            voice.finish()
        else:
            voice.take(message)

    async def _without_context(self, message: Message) -> None:
        name = message.context_id
        if message.closes_context:
            await self.send_frame(messages.final(name))
        elif message.text:
            self._check_room()
            voice = await self.begin(message, name)
            self._voices[name] = voice
            self.speak(voice.context, voice.render, lambda: self._end(name))

    def _check_room(self) -> None:
        open_now = sum(voice.context.is_text_open for voice in self._voices.values())
        if open_now >= MOST_OPEN or len(self._voices) >= MOST_SPEAKING:
            message = f"At most {MOST_OPEN} contexts may be open: close one first."
            raise ApiError(429, "too_many_contexts", message)

    def _wait(self, message: Message) -> None:
        waiting = self._waiting.get(message.context_id)
        if waiting is None:
            # Nothing but text begins another context.
            if not message.text or message.closes_context:
                return
            waiting = self._waiting[message.context_id] = deque()
        if len(waiting) >= MOST_WAITING:
            text = "Too many messages wait for the context of that name to end."
            raise invalid(text, "context_id", "too_many_flushes")
        waiting.append(message)

    async def _end(self, name: str) -> None:
        del self._voices[name]
        await self._go_on(name, self._waiting.pop(name, deque()))
        if self._is_closing:
            await self._close_socket()

    async def _go_on(self, name: str, waiting: deque[Message]) -> None:
        while waiting:
            voice = self._voices.get(name)
            if voice is not None and not voice.context.is_text_open:
                self._waiting[name] = waiting
                return
            await self._try(waiting.popleft())

    async def _close_socket(self) -> None:
        """What has been said is spoken first."""
        self._is_closing = True
        for voice in self._voices.values():
            if voice.context.is_text_open:
                voice.finish()
        if not self._voices:
            await self.close(code=NORMAL)
