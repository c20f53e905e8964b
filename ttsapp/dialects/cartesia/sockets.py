"""`/tts/websocket`: any number of contexts at a time, each named by its client."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from uuid import UUID

from ttsapp import ids
from ttsapp.dialects.cartesia import messages
from ttsapp.dialects.cartesia import request as asked
from ttsapp.dialects.cartesia import socket_request as incoming
from ttsapp.dialects.cartesia.dialect import CARTESIA
from ttsapp.dialects.cartesia.socket_request import Message
from ttsapp.dialects.cartesia.speaking import Voice, frame
from ttsapp.dialects.socket import DialectSocket
from ttsapp.errors import ApiError
from ttsapp.speech.prepared import live_text
from ttsapp.speech.text.markup import Markup
from ttsapp.voices.selectors import catalogue

MOST_CONTEXTS = 100


class ContextsSocket(DialectSocket):
    """A context lives from its first message until its done. Its name is then free again."""

    dialect = CARTESIA
    idle_seconds = 300.0
    # Whose message is in hand, and which request that is: for an answer to one that is wrong.
    _named: str | None = None
    _request_id: UUID | None = None

    async def opening(self) -> None:
        self._voices: dict[str, Voice] = {}
        # Of which clients must not be told twice that they are over: one that reads several
        # contexts would take it for the end of another.
        self._over: deque[str] = deque(maxlen=MOST_CONTEXTS)

    async def take(self, message: str) -> None:
        self._named, self._request_id = incoming.context_id(message), None
        parsed = incoming.parse(message)
        name = parsed.context_id
        voice = self._voices.get(name) if name is not None else None
        if parsed.is_cancel:
            self._cancel(voice)
        elif parsed.is_only_an_end and (voice is None or not voice.context.is_text_open):
            if name not in (*self._voices, *self._over):
                await self.send_frame(frame(messages.done(), name))
        elif voice is None or voice.context.is_over:
            await self._begin(name or str(ids.uuid7()), parsed)
        else:
            self._go_on(voice, parsed)

    async def complain(self, error: ApiError) -> None:
        request_id = str(self._request_id or ids.uuid7())
        await self.send_frame(frame(messages.failure(error, request_id), self._named))

    async def _begin(self, name: str, message: Message) -> None:
        caller, request_id = await self.caller(), self.fresh_id()
        self._named, self._request_id = name, request_id
        try:
            self._check_room()
            wanted = message.wanted()
            order = asked.order(request_id, caller, wanted, await catalogue(caller), "ws")
            read_in = replace(order, language=asked.reading_language(wanted, order))
            is_normalised = wanted.normalization != "off"
            prepare = await live_text(read_in, is_normalised=is_normalised, markup=Markup.PAUSES)
            voice = Voice(name, order, message, prepare)
            try:
                voice.begin(message)
            except ApiError:
                voice.context.close()
                raise
        except ApiError as error:
            self._over.append(name)
            self.note_refusal(request_id, caller, error)
            raise

        async def forget() -> None:
            if self._voices.get(name) is voice:
                self._forget(voice)

        self._voices[name] = voice
        self.speak(voice.context, voice.render, forget)

    def _go_on(self, voice: Voice, message: Message) -> None:
        self._request_id = voice.context.order.id
        # Clients that only end a context do so with settings of their own.
        if not message.is_only_an_end:
            voice.check_same(message)
        voice.take(message)

    def _cancel(self, voice: Voice | None) -> None:
        """Nothing more is sent for it; one that is over already needs no answer either."""
        if voice is not None:
            self._forget(voice)
            voice.context.cancel()

    def _forget(self, voice: Voice) -> None:
        del self._voices[voice.name]
        self._over.append(voice.name)

    def _check_room(self) -> None:
        if len(self._voices) >= MOST_CONTEXTS:
            message = f"{MOST_CONTEXTS} contexts are open on this socket: end or cancel one first."
            raise ApiError(429, "too_many_contexts", message, field="context_id")
