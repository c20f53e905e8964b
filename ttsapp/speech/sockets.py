"""`/v1/audio/speech/ws`: text in, binary audio out. docs/live-text.md describes the messages."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import msgspec
import structlog
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from ttsapp import background, context, database, ids
from ttsapp.dialects.openai import codec
from ttsapp.edge import Send
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller, authenticate
from ttsapp.server import connection
from ttsapp.speech import messages, services
from ttsapp.speech.delivery import Delivery
from ttsapp.speech.feed import TextMode
from ttsapp.speech.timer import Timer
from ttsapp.speech.utterance import Utterance
from ttsapp.voices.selectors import catalogue

log = structlog.get_logger()

_NORMAL, _SERVER_STOPS = 1000, 1012


class SpeechConsumer(AsyncWebsocketConsumer):
    """One utterance at a time, any number in a row. Audio goes from the engine straight out."""

    # Nothing of this socket passes through the channel layer.
    channel_layer_alias = ""

    _utterance: Utterance | None = None
    _idle: Timer

    async def connect(self) -> None:
        """Bad credentials are refused in the handshake, before there is a socket."""
        try:
            caller = await authenticate(self._authorization())
        except ApiError as error:
            await self._refuse(error)
            raise StopConsumer from None
        await self.accept()
        log.info("socket opened", path=self.scope["path"], caller=caller.label)
        self._idle = Timer(settings.SOCKET_IDLE_SECONDS, self._close_idle)
        self._idle.start()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self._idle.start()
        try:
            if text_data is None:
                raise invalid("Messages are JSON text.", None, "invalid_json")
            await self._take(messages.parse(text_data))
        except ApiError as error:
            utterance = self._current()
            request_id = utterance.order.id if utterance else None
            await self._send_text(messages.error(error, request_id))

    async def disconnect(self, code: int) -> None:
        self._leave(is_our_stop=code == _SERVER_STOPS)

    def _leave(self, *, is_our_stop: bool = False) -> None:
        self._idle.stop()
        if self._utterance is not None:
            self._utterance.abandon(is_our_stop=is_our_stop)

    async def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "start":
            await self._start(message)
            return
        utterance = self._current()
        if utterance is None:
            raise invalid("Send start first.", "type", "out_of_order")
        context = utterance.context
        if message["type"] != "cancel" and not context.is_text_open:
            raise invalid("The text has ended already.", "type", "out_of_order")
        match message["type"]:
            case "text":
                context.append(message["text"])
            case "flush":
                context.flush(message.get("flush_id", ""))
            case "end":
                context.finish()
            case "cancel":
                context.cancel()

    async def _start(self, message: dict[str, Any]) -> None:
        if self._current() is not None:
            raise invalid("One utterance at a time: end or cancel it.", "type", "out_of_order")
        # Asked again each time, so that a revoked key ends with its socket still open.
        caller = await authenticate(self._authorization())
        request_id = ids.uuid7()
        context.request_id.set(request_id)
        structlog.contextvars.bind_contextvars(request_id=str(request_id))
        try:
            order = messages.order(request_id, caller, message, await catalogue())
            prepare = await messages.prepare(message, order)
        except ApiError as error:
            self._log_refusal(request_id, caller, error)
            await self._send_text(messages.error(error, request_id))
            return
        mode = TextMode(message.get("mode", TextMode.SENTENCE))
        delivery = Delivery(connection.of(self.scope))
        self._utterance = Utterance(
            order, mode, self._send_text, self._send_bytes, self._leave, delivery, prepare
        )
        await self._send_text(messages.accepted(order))
        self._utterance.speak()

    def _current(self) -> Utterance | None:
        is_live = self._utterance is not None and not self._utterance.context.is_over
        return self._utterance if is_live else None

    def _log_refusal(self, request_id: UUID, caller: Caller, error: ApiError) -> None:
        note = database.write_surely(services.log_refusal, request_id, caller, "ws", error)
        background.spawn(note)

    def _close_idle(self) -> None:
        """An utterance has deadlines of its own."""
        if self._current() is not None:
            self._idle.start()
        else:
            background.spawn(self.close(code=_NORMAL))

    async def _refuse(self, error: ApiError) -> None:
        """A true 401 where the server can answer a handshake with one, else its 403."""
        log.info("socket refused", path=self.scope["path"], code=error.code)
        if "websocket.http.response" not in (self.scope.get("extensions") or {}):
            await self.close()
            return
        send = cast(Send, self.base_send)
        headers = [(b"content-type", b"application/json"), (b"x-request-id", _fresh_id())]
        start = {"type": "websocket.http.response.start", "status": error.status}
        await send({**start, "headers": headers})
        body = msgspec.json.encode(codec.error_body(error))
        await send({"type": "websocket.http.response.body", "body": body})

    def _authorization(self) -> str:
        for name, value in self.scope["headers"]:
            if name == b"authorization":
                return value.decode("latin-1")
        return ""

    async def _send_text(self, text: str) -> None:
        await self.send(text_data=text)

    async def _send_bytes(self, data: bytes) -> None:
        await self.send(bytes_data=data)


def _fresh_id() -> bytes:
    return str(ids.uuid7()).encode()
