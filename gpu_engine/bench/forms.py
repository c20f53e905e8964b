"""The calls that the gateway bench makes: every API in PCM, and every format of OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FORMATS = ("pcm", "wav", "mp3", "opus", "aac", "flac")
_CARTESIA_PCM = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
_DASHSCOPE = "/api/v1/services/aigc/multimodal-generation/generation"


@dataclass(frozen=True, slots=True)
class Form:
    """One way to ask over HTTP for a text whose audio is streamed. `scheme`: what comes before the
    key."""

    dialect: str
    format: str
    path: str
    body: Mapping[str, Any]
    scheme: str = "Authorization: Bearer"
    headers: Mapping[str, str] = field(default_factory=dict)

    def request(self, host: str, key: str) -> bytes:
        body = json.dumps(self.body).encode()
        headers = {
            "Host": host,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **self.headers,
        }
        lines = [f"{self.scheme} {key}", *(f"{name}: {value}" for name, value in headers.items())]
        head = "\r\n".join([f"POST {self.path} HTTP/1.1", *lines])
        return f"{head}\r\n\r\n".encode() + body


def openai(text: str, voice: str, response_format: str = "pcm") -> Form:
    asked = {"model": "tts-1", "voice": voice, "input": text, "response_format": response_format}
    return Form("openai", response_format, "/v1/audio/speech", {**asked, "seed": 1})


def every(text: str, voice: str) -> list[Form]:
    cartesia = {"model_id": "sonic-3", "transcript": text, "voice": voice, "language": "en"}
    spoken = {"text": text, "voice": voice}
    eleven = f"/v1/text-to-speech/{voice}/stream?output_format=pcm_24000"
    return [
        *(openai(text, voice, name) for name in FORMATS),
        Form("elevenlabs", "pcm", eleven, {"text": text}, scheme="xi-api-key:"),
        Form("cartesia", "pcm", "/tts/bytes", {**cartesia, "output_format": _CARTESIA_PCM}),
        Form(
            "deepgram",
            "pcm",
            "/v1/speak?encoding=linear16&container=none",
            {"text": text},
            scheme="Authorization: Token",
        ),
        Form(
            "dashscope",
            "pcm in events",
            _DASHSCOPE,
            {"model": "qwen3-tts-flash", "input": spoken},
            headers={"X-DashScope-SSE": "enable"},
        ),
    ]
