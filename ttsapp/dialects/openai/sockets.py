"""`/v1/audio/speech/ws`: text in, binary audio out. docs/live-text.md describes the messages."""

from __future__ import annotations

from typing import Any

from ttsapp.dialects.openai import messages
from ttsapp.dialects.openai.dialect import OPENAI
from ttsapp.dialects.socket import DialectSocket
from ttsapp.dialects.speaking import Frame, binary
from ttsapp.errors import ApiError, invalid
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import Encoding
from ttsapp.speech.events import Audio, Done, Event
from ttsapp.speech.feed import TextMode
from ttsapp.voices.selectors import catalogue


class SpeechSocket(DialectSocket):
    """One utterance at a time, any number in a row. Audio goes from the engine straight out."""

    dialect = OPENAI
    _utterance: Context | None = None
    _encoding: Encoding

    async def take(self, message: str) -> None:
        parsed = messages.parse(message)
        if parsed["type"] == "start":
            await self._start(parsed)
            return
        utterance = self._current()
        if utterance is None:
            raise invalid("Send start first.", "type", "out_of_order")
        if parsed["type"] != "cancel" and not utterance.is_text_open:
            raise invalid("The text has ended already.", "type", "out_of_order")
        match parsed["type"]:
            case "text":
                utterance.append(parsed["text"])
            case "flush":
                utterance.flush(parsed.get("flush_id", ""))
            case "end":
                utterance.finish()
            case "cancel":
                utterance.cancel(parsed.get("played_ms"))

    async def complain(self, error: ApiError) -> None:
        utterance = self._current()
        await self.send_frame(messages.error(error, utterance.order.id if utterance else None))

    async def _start(self, message: dict[str, Any]) -> None:
        if self._current() is not None:
            raise invalid("One utterance at a time: end or cancel it.", "type", "out_of_order")
        caller, request_id = await self.caller(), self.fresh_id()
        try:
            order = messages.order(request_id, caller, message, await catalogue(caller))
            prepare = await messages.prepare(message, order)
        except ApiError as error:
            self.note_refusal(request_id, caller, error)
            await self.send_frame(messages.error(error, request_id))
            return
        mode = TextMode(message.get("mode", TextMode.SENTENCE))
        self._utterance = Context(order, mode=mode, prepare=prepare)
        self._encoding = Encoding(order.audio, order.speed)
        await self.send_frame(messages.accepted(order))
        self.speak(self._utterance, self._render)

    async def _render(self, event: Event) -> list[Frame]:
        assert self._utterance is not None
        if isinstance(event, Audio):
            return binary(await self._encoding.push(event.pcm))
        said = messages.of_event(event, self._utterance.order)
        if isinstance(event, Done) and event.reason != "cancelled":
            return [*binary(await self._encoding.finish()), said]
        return [said]

    def _current(self) -> Context | None:
        is_live = self._utterance is not None and not self._utterance.is_over
        return self._utterance if is_live else None
