"""The sockets of every dialect: how each is sent a text, and what it says."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.ttsapp.cartesia_calls import body
from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_calls import RACHEL

Message = dict[str, Any]


@dataclass(frozen=True)
class Wire:
    """`text`: the messages of a whole text. `is_end`: whether a message is its last; `audio`: what
    is in one that is no binary frame; `refusal`: code, and what has to name the field. `ends`: the
    messages after which no text may follow, where that is not the text's end."""

    path: str
    text: Callable[[str], list[Message]]
    more: Callable[[str], Message]
    is_end: Callable[[Message], bool]
    refusal: Callable[[Message], tuple[str, str]]
    audio: str = ""
    greets: bool = False
    ends: tuple[Message, ...] = ()
    is_closed_by_error: bool = False

    @contextmanager
    def opened(self, base: str, party: Party) -> Iterator[ClientConnection]:
        address = base.replace("http:", "ws:") + self.path
        with connect(address, additional_headers=party.headers) as socket:
            if self.greets:
                json.loads(socket.recv(10))
            yield socket

    def say(self, socket: ClientConnection, text: str) -> None:
        for message in self.text(text):
            socket.send(json.dumps(message))

    def hear(
        self, socket: ClientConnection, is_last: Callable[[Message], bool] | None = None
    ) -> tuple[bytes, list[Message]]:
        """All audio of a text, or up to a message, and the messages beside it."""
        heard, told = b"", list[Message]()
        while not (told and (is_last or self.is_end)(told[-1])):
            piece = socket.recv(10)
            if isinstance(piece, bytes):
                heard += piece
                continue
            told.append(json.loads(piece))
            if self.audio and told[-1].get(self.audio):
                heard += base64.b64decode(told.pop()[self.audio])
        return heard, told


def _openai(text: str) -> list[Message]:
    start = {"type": "start", "voice": "alloy"}
    return [start, {"type": "text", "text": text}, {"type": "end"}]


def _single(text: str) -> list[Message]:
    return [{"text": " "}, {"text": text}, {"text": ""}]


def _multi(text: str) -> list[Message]:
    return [{"text": text, "context_id": "a"}, {"context_id": "a", "close_context": True}]


def _dashscope(text: str) -> list[Message]:
    append = {"type": "input_text_buffer.append", "text": text}
    return [append, {"type": "input_text_buffer.commit"}]


_VOICE, _PCM = f"/v1/text-to-speech/{RACHEL}", "?output_format=pcm_24000"

WIRES = {
    "openai": Wire(
        "/v1/audio/speech/ws",
        _openai,
        lambda text: {"type": "text", "text": text},
        lambda told: told["type"] == "finished",
        lambda told: (told["error"]["code"], told["error"]["param"]),
    ),
    "elevenlabs stream-input": Wire(
        f"{_VOICE}/stream-input{_PCM}",
        _single,
        lambda text: {"text": text},
        lambda told: told.get("isFinal") is True,
        lambda told: (told["error"], told["message"]),
        audio="audio",
        is_closed_by_error=True,
    ),
    "elevenlabs multi-stream-input": Wire(
        f"{_VOICE}/multi-stream-input{_PCM}",
        _multi,
        lambda text: {"text": text, "context_id": "a"},
        lambda told: told.get("isFinal") is True,
        lambda told: (told["error"], told["message"]),
        audio="audio",
        ends=({"close_socket": True},),
        is_closed_by_error=True,
    ),
    "cartesia": Wire(
        "/tts/websocket",
        lambda text: [body(transcript=text, context_id="a")],
        lambda text: body(transcript=text, context_id="a"),
        lambda told: told["type"] == "done",
        lambda told: (told["error_code"], told["message"]),
        audio="data",
    ),
    "dashscope": Wire(
        "/api-ws/v1/realtime?model=qwen3-tts-flash-realtime",
        _dashscope,
        lambda text: {"type": "input_text_buffer.append", "text": text},
        lambda told: told["type"] == "response.done",
        lambda told: (told["error"]["code"], told["error"]["param"]),
        audio="delta",
        greets=True,
        ends=({"type": "session.finish"},),
    ),
    "deepgram": Wire(
        "/v1/speak",
        lambda text: [{"type": "Speak", "text": text}, {"type": "Flush"}],
        lambda text: {"type": "Speak", "text": text},
        lambda told: told["type"] == "Flushed",
        lambda told: (told["code"], told["description"]),
        greets=True,
        ends=({"type": "Close"},),
    ),
}
