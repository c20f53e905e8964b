"""`v1/speak` as a socket: words in, one turn of binary audio after the other out."""

from __future__ import annotations

from collections import deque
from urllib.parse import parse_qsl

from django.conf import settings

from ttsapp.dialects.deepgram import messages
from ttsapp.dialects.deepgram import request as asked
from ttsapp.dialects.deepgram.dialect import DEEPGRAM
from ttsapp.dialects.deepgram.messages import Message
from ttsapp.dialects.socket import NORMAL, POLICY, SERVER_FAULT, DialectSocket, is_of_the_key
from ttsapp.dialects.speaking import Frame, binary
from ttsapp.errors import ApiError, invalid
from ttsapp.keys import credentials
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import Encoding
from ttsapp.speech.events import Audio, Done, Event, Failed
from ttsapp.speech.prepared import live_text
from ttsapp.voices.selectors import catalogue

MOST_WAITING = 256


class SpeakSocket(DialectSocket):
    """Audio carries no id, so one context speaks at a time: a turn, from its first Speak to its
    Flush. What comes for the next turn meanwhile waits."""

    dialect = DEEPGRAM
    _turn: Context | None = None
    _flushes = _clears = 0
    # Close is taken at once, and done when what came before it has been spoken.
    _has_said_close = _is_clearing = _is_closing = False

    async def opening(self) -> None:
        query = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = {
            name: value
            for name, value in query
            if name not in ("token", *credentials.KEY_PARAMETERS)
        }
        self._wanted = asked.parse(given, is_socket=True)
        self._waiting: deque[Message] = deque()
        caller = await self.caller()
        served = await catalogue(caller)
        self._first = asked.order(self.fresh_id(), caller, self._wanted, served, "ws")

    async def opened(self) -> None:
        await self.send_frame(messages.metadata(self._first))

    async def take(self, message: str) -> None:
        parsed = messages.parse(message)
        if self._has_said_close:
            if parsed.text.strip():
                text = "The text has ended with Close: this is not spoken."
                raise invalid(text, "text", "out_of_order")
            return
        self._has_said_close = parsed.type == "Close"
        if parsed.type == "Clear":
            await self._clear()
        elif self._turn is not None and not self._turn.is_text_open:
            self._wait(parsed)
        else:
            await self._do(parsed)

    async def complain(self, error: ApiError) -> None:
        await self.send_frame(messages.warning(error))

    async def _do(self, message: Message) -> None:
        match message.type:
            case "Speak":
                await self._say(message.text)
            case "Flush" if self._turn is not None:
                self._turn.finish()
            case "Flush":
                await self.send_frame(self._flushed())
            case "Close" if self._turn is not None:
                self._is_closing = True
                self._turn.finish()
            case "Close":
                await self.close(code=NORMAL)

    async def _say(self, text: str) -> None:
        if self._turn is None:
            await self._begin()
        assert self._turn is not None
        self._turn.append(text)

    async def _begin(self) -> None:
        caller, request_id = await self.caller(), self.fresh_id()
        try:
            order = asked.order(request_id, caller, self._wanted, await catalogue(caller), "ws")
            prepare = await live_text(order)
        except ApiError as error:
            self.note_refusal(request_id, caller, error)
            raise
        self._turn = Context(order, prepare=prepare)
        self._encoding = Encoding(order.audio, order.speed)
        self.speak(self._turn, self._render, self._next_turn)

    async def _render(self, event: Event) -> list[Frame]:
        match event:
            case Audio():
                return binary(await self._encoding.push(event.pcm))
            case Done(reason="cancelled"):
                return []
            case Done():
                return [*binary(await self._encoding.finish()), self._flushed()]
            case Failed() if event.error.code == "empty_input":
                return [self._flushed()]
            case Failed():
                await self._fail(event.error)
        return []

    def _flushed(self) -> str:
        self._flushes += 1
        return messages.flushed(self._flushes - 1)

    async def _clear(self) -> None:
        self._waiting.clear()
        if self._turn is None:
            await self._tell_cleared()
        else:
            self._is_clearing = True
            self._turn.cancel()

    async def _tell_cleared(self) -> None:
        self._is_clearing = False
        await self.send_frame(messages.cleared(self._clears))
        self._clears += 1

    def _wait(self, message: Message) -> None:
        length = sum(len(waiting.text) for waiting in self._waiting) + len(message.text)
        if len(self._waiting) >= MOST_WAITING or length > settings.MAX_INPUT_CHARACTERS:
            text = "Too much text waits for its turn: wait for Flushed before sending more."
            raise invalid(text, "text", "string_above_max_length")
        self._waiting.append(message)

    async def _next_turn(self) -> None:
        """Here nothing of the old text can follow any more, which Cleared promises."""
        self._turn = None
        if self._is_clearing:
            await self._tell_cleared()
        if self._is_closing:
            await self.close(code=NORMAL)
        while self._waiting and (self._turn is None or self._turn.is_text_open):
            try:
                await self._do(self._waiting.popleft())
            except ApiError as error:
                if is_of_the_key(error):
                    raise
                await self.complain(error)

    async def _fail(self, error: ApiError) -> None:
        assert self._turn is not None
        self._waiting.clear()
        await self.send_frame(messages.failure(error, self._turn.order))
        await self.close(code=POLICY if error.status < 500 else SERVER_FAULT)
