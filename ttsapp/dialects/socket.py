"""What every dialect's socket shares: who may open it, how it idles, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, cast
from uuid import UUID

import structlog
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from ttsapp import background, context, database, ids
from ttsapp.dialects.dialect import Dialect
from ttsapp.dialects.speaking import Frame, Render, Speaking
from ttsapp.edge import Send, refuse_handshake
from ttsapp.errors import ApiError
from ttsapp.hosts import check_host
from ttsapp.keys import credentials
from ttsapp.keys.authentication import Caller, authenticate
from ttsapp.keys.tokens import Scope
from ttsapp.limits.places import SOCKETS, Place
from ttsapp.server import connection
from ttsapp.speech import services
from ttsapp.speech.context import Context
from ttsapp.speech.timer import Timer

log = structlog.get_logger()

NORMAL, POLICY, SERVER_FAULT, SERVER_STOPS = 1000, 1008, 1011, 1012


def is_of_the_key(error: ApiError) -> bool:
    """Whether the key is good for nothing more, rather than not for this field's value."""
    return error.status == 401 or (error.status == 403 and error.field is None)


class DialectSocket(AsyncWebsocketConsumer):
    """A dialect says what opens it (`opening`), what a message means (`take`), and how it tells of
    a refusal (`complain`). Each context is spoken by `speak`, and ends with the socket."""

    # Nothing of this socket passes through the channel layer.
    channel_layer_alias = ""

    dialect: ClassVar[Dialect]
    idle_seconds: float | None = None
    # Whether the key may still come in a message, where the handshake has none.
    takes_late_key: ClassVar[bool] = False
    _speaking: list[Speaking]

    async def opening(self) -> None:
        """Reads path and query; raises ApiError to refuse the handshake."""

    async def opened(self) -> None:
        """What the server says first."""

    async def take(self, message: str) -> None:
        """One text message. Raises ApiError, which `complain` then tells of."""
        raise NotImplementedError

    async def complain(self, error: ApiError) -> None:
        raise NotImplementedError

    # ---- for the dialects

    async def caller(self) -> Caller:
        """Asked for each context, so that a revoked key ends with its socket still open. A token
        opens the socket: it may expire while that is in use."""
        caller = await authenticate(
            self.authorization,
            Scope.SPEECH,
            token_at=self._opened_at,
            key_header=self.dialect.key_header,
        )
        await self._place.take(caller.tenant_id)
        return caller

    def fresh_id(self) -> UUID:
        """A context's id, bound to the log lines that follow."""
        request_id = ids.uuid7()
        context.request_id.set(request_id)
        structlog.contextvars.bind_contextvars(request_id=str(request_id))
        return request_id

    def speak(
        self, spoken: Context, render: Render, ended: Callable[[], Awaitable[None]] | None = None
    ) -> Speaking:
        link = connection.of(self.scope)
        speaking = Speaking(spoken, render, self.send_frame, ended, self.refuse, self._broke, link)
        self._speaking = [one for one in self._speaking if not one.context.is_over]
        self._speaking.append(speaking)
        return speaking

    async def refuse(self, error: ApiError) -> None:
        """Tells of it, whether a message is to blame or what followed from none. A revoked key
        makes no more contexts, and its client need not wait for a sentence."""
        await self.complain(error)
        if is_of_the_key(error):
            await self.close(code=POLICY)

    def note_refusal(self, request_id: UUID, caller: Caller, error: ApiError) -> None:
        """A refused request to speak goes into the tenant's request log."""
        note = database.write_surely(services.log_refusal, request_id, caller, "ws", error)
        background.spawn(note)

    async def send_frame(self, frame: Frame) -> None:
        if isinstance(frame, str):
            await self.send(text_data=frame)
        else:
            await self.send(bytes_data=frame)

    async def quietly(self, telling: Awaitable[None]) -> None:
        """For what follows from no message: the connection may be gone by then."""
        try:
            await telling
        except Exception as error:  # noqa: BLE001  servers tell of lost connections in many ways
            log.debug("socket was closed already", error=repr(error))

    # ---- Channels

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._place = Place(SOCKETS)
        try:
            await super().__call__(scope, receive, send)
        finally:
            background.spawn(self._place.leave())

    async def connect(self) -> None:
        """Another host's name and bad credentials are refused in the handshake, before there is a
        socket."""
        self._speaking, self._opened_at = [], time.time()
        context.origin.set(context.origin_of(self.scope))
        self.authorization = credentials.of_socket(self.scope)
        try:
            check_host(self.scope)
            if self.authorization or not self.takes_late_key:
                await self.caller()
            await self.opening()
        except ApiError as error:
            await self._refuse(error)
            raise StopConsumer from None
        await self.accept(credentials.subprotocol(self.scope))
        log.info("socket opened", path=self.scope["path"])
        self._idle = Timer(self.idle_seconds or settings.SOCKET_IDLE_SECONDS, self._close_idle)
        self._idle.start()
        await self.opened()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self._idle.start()
        try:
            if text_data is None:
                raise ApiError(400, "invalid_json", "Messages are JSON text.")
            await self.take(text_data)
        except ApiError as error:
            await self.refuse(error)

    async def disconnect(self, code: int) -> None:
        self.leave(is_our_stop=code == SERVER_STOPS)

    def leave(self, *, is_our_stop: bool = False) -> None:
        self._idle.stop()
        for speaking in self._speaking:
            speaking.abandon(is_our_stop=is_our_stop)

    # ---- inside

    def _broke(self) -> None:
        """Nobody may be left waiting at a socket whose clock no longer runs."""
        self.leave()
        background.spawn(self.quietly(self.close(code=SERVER_FAULT)))

    def _close_idle(self) -> None:
        """A context has deadlines of its own."""
        if any(not one.context.is_over for one in self._speaking):
            self._idle.start()
        else:
            background.spawn(self.quietly(self.close(code=NORMAL)))

    async def _refuse(self, error: ApiError) -> None:
        """A true status where the server can answer a handshake with one, else its 403."""
        log.info("socket refused", path=self.scope["path"], code=error.code)
        send, rendered = cast(Send, self.base_send), self.dialect.render(error)
        await refuse_handshake(self.scope, send, rendered, self.fresh_id())
