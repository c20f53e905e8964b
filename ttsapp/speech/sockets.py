"""`/v1/audio/speech/ws`: text in, binary audio out. docs/tenants.md describes the messages."""

from __future__ import annotations

import asyncio
from typing import Any, cast

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
from ttsapp.speech import messages, services
from ttsapp.speech.utterance import Utterance
from ttsapp.voices.selectors import catalogue

log = structlog.get_logger()

_NORMAL, _POLICY, _SERVER_STOPS = 1000, 1008, 1012


class SpeechConsumer(AsyncWebsocketConsumer):
    """One utterance at a time, any number in a row. Audio goes from the engine straight out."""

    # Nothing of this socket passes through the channel layer.
    channel_layer_alias = ""

    _utterance: Utterance | None = None
    _idle: asyncio.TimerHandle | None = None

    async def connect(self) -> None:
        """Bad credentials are refused in the handshake, before there is a socket."""
        try:
            caller = await authenticate(self._authorization())
        except ApiError as error:
            await self._refuse(error)
            raise StopConsumer from None
        await self.accept()
        log.info("socket opened", caller=caller.label)
        self._rest()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self._rest()
        try:
            if text_data is None:
                raise invalid("Messages are JSON text.", None, "invalid_json")
            await self._take(messages.parse(text_data))
        except ApiError as error:
            await self._tell(error)

    async def disconnect(self, code: int) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._utterance is not None:
            self._utterance.abandon(is_our_stop=code == _SERVER_STOPS)

    async def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "start":
            await self._start(message)
            return
        utterance = self._current()
        if utterance is None:
            raise invalid("Send start first.", "type", "out_of_order")
        if message["type"] == "text":
            await utterance.add(message["text"])
        elif message["type"] == "end":
            await utterance.end()
        else:
            await utterance.cancel()

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
        except ApiError as error:
            self._log_refusal(caller, error)
            raise
        self._utterance = Utterance(order, self._send_text, self._send_bytes)
        await self._send_text(messages.accepted(order))

    def _current(self) -> Utterance | None:
        is_live = self._utterance is not None and not self._utterance.is_over
        return self._utterance if is_live else None

    async def _tell(self, error: ApiError) -> None:
        utterance = self._utterance
        await self._send_text(messages.error(error, utterance.order.id if utterance else None))

    def _log_refusal(self, caller: Caller, error: ApiError) -> None:
        request_id = cast(Any, context.request_id.get())
        note = database.run(services.log_refusal, request_id, caller, "ws", error)
        background.spawn(note)

    def _rest(self) -> None:
        """Starts the idle clock anew."""
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(settings.SOCKET_IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        utterance = self._current()
        if utterance is not None and not utterance.is_text_open:
            self._rest()
            return
        code = _NORMAL if utterance is None else _POLICY
        background.spawn(self.close(code=code))

    async def _refuse(self, error: ApiError) -> None:
        """A true 401 where the server can answer a handshake with one, else its 403."""
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
