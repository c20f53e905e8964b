"""One response of the realtime socket: what it says, in its order."""

from __future__ import annotations

import base64
from typing import Any

from django.conf import settings

from ttsapp.dialects.dashscope import events
from ttsapp.dialects.speaking import Frame
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import Encoding
from ttsapp.speech.events import Audio, Done, Event, Failed, Report

_PART = {"type": "audio", "text": ""}
_OUTPUT = {"output_index": 0}
_CONTENT = {"output_index": 0, "content_index": 0}


class Response:
    """One context's answer. Its id is the request's, so that it is found in the log.

    It is announced with its first audio: what fails before has nothing to be taken back."""

    def __init__(self, context: Context, item_id: str) -> None:
        self.context = context
        order = context.order
        self._encoding = Encoding(order.audio, order.speed, order.volume)
        self.item_id = item_id
        self.id = f"resp_{context.order.id.hex}"
        self.is_committed = False
        self.has_broken = False
        self._is_announced = False
        self._voice = context.order.voice.name

    def add(self, text: str) -> bool:
        """Speaks so much more. Without room for it, the response ends, and False."""
        if not self._has_room(text):
            self.context.finish()
            return False
        self.context.append(text)
        self.context.flush()
        return True

    def end(self, text: str) -> str:
        """Ends it with this text, or without where there is no room. Returns what is left."""
        has_room = self._has_room(text)
        if has_room:
            self.context.append(text)
        self.context.finish()
        return "" if has_room else text

    async def render(self, event: Event) -> list[Frame]:
        match event:
            case Audio():
                return self._delta(await self._encoding.push(event.pcm))
            case Done(reason="cancelled"):
                return self._closing("cancelled", event.report)
            case Done():
                tail = self._delta(await self._encoding.finish())
                status = "completed" if event.reason == "stop" else "incomplete"
                return [*tail, *self._closing(status, event.report)]
            case Failed():
                self.has_broken = event.error.status >= 500
                ending = self._closing("failed", event.report) if self._is_announced else []
                return [events.failure(event.error), *ending]
        return []

    def _has_room(self, text: str) -> bool:
        return self.context.tally.characters + len(text) <= settings.MAX_INPUT_CHARACTERS

    def _opening(self) -> list[Frame]:
        """Nothing the second time."""
        if self._is_announced:
            return []
        self._is_announced = True
        was_committed, self.is_committed = self.is_committed, True
        begun = [] if was_committed else [events.committed(self.item_id)]
        return [
            *begun,
            events.event("response.created", response=self._document("in_progress")),
            self._event("output_item.added", **_OUTPUT, item=self._item("in_progress", [])),
            self._event("content_part.added", item_id=self.item_id, **_CONTENT, part=_PART),
        ]

    def _delta(self, audio: bytes) -> list[Frame]:
        if not audio:
            return []
        text = base64.b64encode(audio).decode()
        delta = self._event("audio.delta", item_id=self.item_id, **_CONTENT, delta=text)
        return [*self._opening(), delta]

    def _closing(self, status: str, report: Report) -> list[Frame]:
        item = self._item("completed" if status == "completed" else "incomplete", [_PART])
        usage = {"characters": report.billed_characters}
        done = self._document(status, output=[item], usage=usage)
        return [
            *self._opening(),
            self._event("audio.done", item_id=self.item_id, **_CONTENT),
            self._event("content_part.done", item_id=self.item_id, **_CONTENT, part=_PART),
            self._event("output_item.done", **_OUTPUT, item=item),
            events.event("response.done", response=done),
        ]

    def _event(self, kind: str, **fields: Any) -> str:
        return events.event(f"response.{kind}", response_id=self.id, **fields)

    def _document(self, status: str, **fields: Any) -> dict[str, Any]:
        named = {"id": self.id, "object": "realtime.response", "status": status}
        return {**named, "voice": self._voice, "output": [], **fields}

    def _item(self, status: str, content: list[Any]) -> dict[str, Any]:
        kind = {"object": "realtime.item", "type": "message", "role": "assistant"}
        return {"id": self.item_id, **kind, "status": status, "content": content}
