"""`stream-input`, one text on a socket, and what it shares with `multi-stream-input`."""

from __future__ import annotations

from urllib.parse import parse_qsl

from ttsapp import background
from ttsapp.dialects.elevenlabs import messages, socket_request
from ttsapp.dialects.elevenlabs import request as asked
from ttsapp.dialects.elevenlabs.dialect import ELEVENLABS
from ttsapp.dialects.elevenlabs.messages import Message
from ttsapp.dialects.elevenlabs.speaking import Voice
from ttsapp.dialects.socket import NORMAL, POLICY, DialectSocket, is_of_the_key
from ttsapp.errors import ApiError
from ttsapp.keys import single_use
from ttsapp.keys.authentication import Caller
from ttsapp.speech.prepared import live_text
from ttsapp.speech.timer import Timer
from ttsapp.voices.selectors import catalogue

# A key that comes with the first message has to come so soon.
LATE_KEY_SECONDS = 10.0


class ElevenLabsSocket(DialectSocket):
    """Voice and options stand in the address; the key may come in the first message."""

    dialect = ELEVENLABS
    takes_late_key = True
    _late: Timer | None = None

    async def opening(self) -> None:
        query = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        self._wanted = socket_request.parse(dict(query))
        self.idle_seconds = self._wanted.timeout
        self._voice_id = self.scope["url_route"]["kwargs"]["voice_id"]
        # Whose voice it may be is not known before the key is.
        if self.authorization:
            served = await catalogue(await self.caller())
            asked.served(self._wanted.speech, self._voice_id, served)

    async def opened(self) -> None:
        if not self.authorization:
            self._late = Timer(LATE_KEY_SECONDS, self._refuse_late)
            self._late.start()

    async def caller(self) -> Caller:
        """A single-use token is used up by the socket that it opens."""
        if single_use.is_token(self.authorization):
            self.authorization = await single_use.exchange(self.authorization)
        return await super().caller()

    async def complain(self, error: ApiError) -> None:
        """What breaks the rules of the socket ends it."""
        await self.send_frame(messages.failure(error))
        if not is_of_the_key(error):
            await self.close(code=messages.close_code(error))

    async def disconnect(self, code: int) -> None:
        if self._late is not None:
            self._late.stop()
        await super().disconnect(code)

    async def let_in(self, message: Message) -> None:
        """Raises ApiError 401 where neither the handshake nor this, the first message, has a
        valid key."""
        if not self.authorization:
            self.authorization = message.key
            await self.caller()
            if self._late is not None:
                self._late.stop()

    async def begin(self, message: Message, context_id: str | None) -> Voice:
        """Raises ApiError; one for a caller who is known is in the tenant's request log."""
        caller, request_id = await self.caller(), self.fresh_id()
        speech = self._wanted.speech.with_settings(message.settings)
        try:
            served = await catalogue(caller)
            order = asked.order(
                request_id, caller, self._voice_id, speech, served, "ws", has_words=True
            )
            wish = speech.wish
            prepare = await live_text(order, is_normalised=wish.is_normalised, markup=wish.markup)
        except ApiError as error:
            self.note_refusal(request_id, caller, error)
            raise
        voice = Voice(
            context_id,
            order,
            message,
            prepare,
            self._wanted.timeout,
            is_auto=self._wanted.is_auto,
        )
        try:
            voice.take(message, is_first=True)
        except ApiError as error:
            voice.context.close()
            self.note_refusal(request_id, caller, error)
            raise
        return voice

    def _refuse_late(self) -> None:
        background.spawn(self.quietly(self._say_that_it_is_late()))

    async def _say_that_it_is_late(self) -> None:
        message = "You didn't provide an API key: send xi-api-key with the first message."
        await self.send_frame(messages.failure(ApiError(401, "invalid_api_key", message)))
        await self.close(code=POLICY)


class StreamInputSocket(ElevenLabsSocket):
    """An empty text ends it; then the socket closes."""

    _voice: Voice | None = None

    async def take(self, message: str) -> None:
        parsed = messages.parse(message)
        await self.let_in(parsed)
        if self._voice is not None:
            await self._go_on(self._voice, parsed)
        elif parsed.text:
            self._voice = await self.begin(parsed, None)
            self.speak(self._voice.context, self._voice.render, self._end)
        elif parsed.text == "":
            await self.send_frame(messages.final(None))
            await self.close(code=NORMAL)

    async def _go_on(self, voice: Voice, message: Message) -> None:
        voice.check_same(message)
        if voice.context.is_text_open:
            if message.text == "":
                voice.finish()
            else:
                voice.take(message)
        elif (message.text or "").strip():
            await self.send_frame(messages.failure(messages.text_is_over()))

    async def _end(self) -> None:
        """Some clients wait for ever for a socket that does not close."""
        failure = None if self._voice is None else self._voice.failure
        await self.close(code=NORMAL if failure is None else messages.close_code(failure))
