"""`api-ws/v1/realtime`: text events in, responses out, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

from ttsapp import background
from ttsapp.dialects.dashscope import events, messages
from ttsapp.dialects.dashscope.dialect import DASHSCOPE
from ttsapp.dialects.dashscope.messages import Message
from ttsapp.dialects.dashscope.pending import Pending
from ttsapp.dialects.dashscope.responses import Response
from ttsapp.dialects.dashscope.served import served_model
from ttsapp.dialects.dashscope.session import DEFAULT_MODEL, SERVER_COMMIT, Session
from ttsapp.dialects.socket import NORMAL, SERVER_FAULT, DialectSocket
from ttsapp.errors import ApiError, invalid
from ttsapp.speech.order import is_speakable, nothing_to_say
from ttsapp.speech.timer import Timer
from ttsapp.voices.selectors import catalogue

# Without new text for so long, what has been sent is taken to be all for now.
REST_SECONDS = 2.0


class RealtimeSocket(DialectSocket):
    """In the mode `server_commit` a response is given each sentence once it is whole, else only
    what is committed. One response speaks at a time; what is committed meanwhile waits."""

    dialect = DASHSCOPE
    _session: Session
    _response: Response | None = None
    _language = "auto"
    _is_finishing = False
    _client_event: str | None = None

    async def opening(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        self._session = Session.of_model(query.get("model", [DEFAULT_MODEL])[0])
        self._pending = Pending()
        self._rest = Timer(REST_SECONDS, self._rested)
        # Messages, rests and the ends of responses come from tasks of their own.
        self._turns = asyncio.Lock()
        self._language = "auto"
        # Its voice may be set yet: the key need not be good for the usual one.
        served_model(await catalogue(await self.caller()), self._session.model)

    async def opened(self) -> None:
        await self.send_frame(events.of_session("created", self._session))

    def leave(self, *, is_our_stop: bool = False) -> None:
        self._rest.stop()
        super().leave(is_our_stop=is_our_stop)

    async def take(self, message: str) -> None:
        self._client_event = messages.event_id(message)
        async with self._turns:
            await self._do(messages.parse(message))

    async def complain(self, error: ApiError) -> None:
        await self.send_frame(events.failure(error, self._client_event))
        if self._is_finishing and self._response is None:
            await self.close(code=events.close_code(error))

    async def _do(self, message: Message) -> None:
        if self._is_finishing and message.type != "response.cancel":
            raise invalid("The session is being finished already.", "type", "out_of_order")
        match message.type:
            case "session.update":
                await self._update(message.session)
            case "input_text_buffer.append":
                await self._append(message.text)
            case "input_text_buffer.commit":
                await self._commit()
            case "input_text_buffer.clear":
                self._pending.text = ""
                await self.send_frame(events.event("input_text_buffer.cleared"))
            case "response.cancel":
                self._cancel()
            case "session.finish":
                self._is_finishing = True
                await self._end_text()
                await self._finish()

    async def _update(self, body: bytes) -> None:
        if self._response is not None or self._pending:
            raise invalid("Set the session before its text, or once that is spoken.", "session")
        changed = self._session.updated(body)
        caller = await self.caller()
        order = changed.order(self.fresh_id(), caller, await catalogue(caller))
        self._session, self._language = changed, order.language
        await self.send_frame(events.of_session("updated", changed))

    # ---- the text

    async def _append(self, text: str) -> None:
        self._pending.add(text)
        if self._session.mode == SERVER_COMMIT:
            self._rest.start()
            await self._speak_sentences()

    async def _commit(self) -> None:
        response = self._open()
        if response is None and not is_speakable(self._pending.text):
            raise nothing_to_say("text")
        if response is not None:
            # Its client may have been told already, when audio came, and waits for an answer.
            response.is_committed = False
        await self._end_text()

    async def _speak_sentences(self) -> None:
        """What is no whole sentence yet stays."""
        if self._response is not None and self._open() is None:
            return
        parts = self._pending.sentences(self._language)
        try:
            while parts and (self._response is None or self._open() is not None):
                if self._response is None and not is_speakable(parts[0]):
                    del parts[0]
                    continue
                response = self._response or await self._begin(events.new_item())
                part = parts.popleft()
                if not response.add(part):
                    parts.appendleft(part)
        finally:
            self._pending.put_back(parts)

    async def _end_text(self) -> None:
        """What is held is all for now: the end of the response that is open, or one of its own."""
        self._rest.stop()
        if (response := self._open()) is not None:
            self._pending.text = response.end(self._pending.text)
            if not response.is_committed:
                response.is_committed = True
                await self.send_frame(events.committed(response.item_id))
        if (item_id := self._pending.commit()) is not None:
            await self.send_frame(events.committed(item_id))
        await self._speak_committed()

    def _rested(self) -> None:
        background.spawn(self.quietly(self._go_on(self._end_text)))

    # ---- the responses

    def _open(self) -> Response | None:
        """The response that takes more text."""
        is_open = self._response is not None and self._response.context.is_text_open
        return self._response if is_open else None

    async def _speak_committed(self) -> None:
        if self._pending.committed and self._response is None:
            item_id, text = self._pending.committed.popleft()
            response = await self._begin(item_id)
            response.is_committed = True
            response.context.say(text)

    async def _begin(self, item_id: str) -> Response:
        caller, request_id = await self.caller(), self.fresh_id()
        try:
            context = await self._session.context(request_id, caller)
        except ApiError as error:
            self.note_refusal(request_id, caller, error)
            raise
        self._response = response = Response(context, item_id)
        self.speak(context, response.render, lambda: self._go_on(self._next))
        return response

    def _cancel(self) -> None:
        """Where there is nothing to cancel, the response has just ended: no fault of anyone's."""
        if self._open() is not None:
            self._rest.stop()
            self._pending.text = ""
        if self._response is not None:
            self._response.context.cancel()

    async def _next(self) -> None:
        has_broken = self._response is not None and self._response.has_broken
        self._response = None
        if has_broken:
            await self.close(code=SERVER_FAULT)
            return
        await self._speak_committed()
        if self._session.mode == SERVER_COMMIT:
            await self._speak_sentences()
        await self._finish()

    async def _finish(self) -> None:
        if self._is_finishing and self._response is None:
            await self.send_frame(events.event("session.finished"))
            await self.close(code=NORMAL)

    async def _go_on(self, step: Callable[[], Awaitable[None]]) -> None:
        """What follows from no message."""
        async with self._turns:
            try:
                await step()
            except ApiError as error:
                await self.send_frame(events.failure(error))
                await self.close(code=events.close_code(error))
