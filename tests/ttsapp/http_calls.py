"""The calls that speak, of every dialect: what each is sent, and how it tells of a refusal."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.ttsapp.cartesia_calls import RAW
from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_calls import RACHEL

Body = dict[str, Any]
Told = tuple[str, str]  # a refusal's code, and what has to name the field


def openai(answer: Body) -> Told:
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    return answer["error"]["code"], str(answer["error"]["param"])


def elevenlabs(answer: Body) -> Told:
    assert set(answer["detail"]) <= {"status", "message", "param"}
    return answer["detail"]["status"], str(answer["detail"].get("param"))


def cartesia(answer: Body) -> Told:
    assert set(answer) == {"error_code", "title", "message", "request_id"}
    return answer["error_code"], answer["message"]


def dashscope(answer: Body) -> Told:
    assert set(answer) == {"code", "message", "request_id"}
    return answer["code"], answer["message"]


def deepgram(answer: Body) -> Told:
    assert set(answer) == {"err_code", "err_msg", "request_id"}
    return answer["err_code"], answer["err_msg"]


@dataclass(frozen=True)
class Call:
    """`text`, `voice`, `language`: where they stand in the body, with dots; empty where they stand
    in the address."""

    path: str
    body: Body
    told: Callable[[Body], Told]
    text: str = "text"
    voice: str = ""
    language: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, http: httpx.Client, party: Party, content: bytes) -> httpx.Response:
        headers = {**party.headers, **self.headers, "Content-Type": "application/json"}
        return http.post(self.path, content=content, headers=headers)

    def content(self, place: str = "", value: object = None) -> bytes:
        """A body that is right, but for the one field."""
        body = copy.deepcopy(self.body)
        if place:
            *outer, last = place.split(".")
            inner = body
            for name in outer:
                inner = inner[name]
            inner[last] = value
        return json.dumps(body).encode()


TEXT = "Hello there."
SSE = {"X-DashScope-SSE": "enable"}
_PATH, _PCM = f"/v1/text-to-speech/{RACHEL}", "?output_format=pcm_24000"
_CARTESIA = {"model_id": "sonic-3", "transcript": TEXT, "voice": "Anna", "output_format": RAW}
_CARTESIA_PLACES = {"text": "transcript", "voice": "voice", "language": "language"}
_SERVICES = "/api/v1/services"
_GENERATION = (
    f"{_SERVICES}/aigc/multimodal-generation/generation",
    {"model": "qwen3-tts-flash", "input": {"text": TEXT, "voice": "Cherry"}},
    dashscope,
)
_GENERATION_PLACES = {
    "text": "input.text",
    "voice": "input.voice",
    "language": "input.language_type",
}
_SYNTHESIZER = (
    f"{_SERVICES}/audio/tts/SpeechSynthesizer",
    {"model": "cosyvoice-v3-flash", "input": {"text": TEXT, "voice": "longanyang"}},
    dashscope,
)
_SYNTHESIZER_PLACES = {
    "text": "input.text",
    "voice": "input.voice",
    "language": "input.language_hints",
}

CALLS = {
    "openai": Call(
        "/v1/audio/speech",
        {"model": "tts-1", "voice": "alloy", "input": TEXT, "response_format": "pcm"},
        openai,
        **{"text": "input", "voice": "voice", "language": "language"},
    ),
    **{
        f"elevenlabs {end}": Call(
            f"{_PATH}{end}{_PCM}", {"text": TEXT}, elevenlabs, language="language_code"
        )
        for end in ("", "/stream", "/with-timestamps", "/stream/with-timestamps")
    },
    "cartesia bytes": Call("/tts/bytes", _CARTESIA, cartesia, **_CARTESIA_PLACES),
    "cartesia sse": Call("/tts/sse", _CARTESIA, cartesia, **_CARTESIA_PLACES),
    "dashscope": Call(*_GENERATION, **_GENERATION_PLACES),
    "dashscope sse": Call(*_GENERATION, **_GENERATION_PLACES, headers=SSE),
    "cosyvoice": Call(*_SYNTHESIZER, **_SYNTHESIZER_PLACES),
    "cosyvoice sse": Call(*_SYNTHESIZER, **_SYNTHESIZER_PLACES, headers=SSE),
    "deepgram": Call("/v1/speak?encoding=linear16&container=none", {"text": TEXT}, deepgram),
}
