"""DashScope's own client, unmodified, against the running server."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from pathlib import Path

import dashscope
import pytest
import requests
from dashscope import AioMultiModalConversation, MultiModalConversation
from dashscope.api_entities.aio_session import close_shared_aio_session
from dashscope.audio.qwen_tts import SpeechSynthesizer
from dashscope.audio.qwen_tts_realtime import (
    AudioFormat,
    QwenTtsRealtime,
    QwenTtsRealtimeCallback,
)
from dashscope.audio.tts_v2 import VoiceEnrollmentService
from dashscope.audio.tts_v2.enrollment import VoiceEnrollmentException
from django.conf import settings

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.test_dashscope_http import pcm


@pytest.fixture(params=["", "/dashscope"])
def place(
    request: pytest.FixtureRequest, base: str, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Where the client's requests go, with Alice's key."""
    monkeypatch.setattr(dashscope, "api_key", alice.secret)
    monkeypatch.setattr(dashscope, "base_http_api_url", f"{base}{request.param}/api/v1")
    return base + request.param


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DATA", tmp_path)


class Heard(QwenTtsRealtimeCallback):
    def __init__(self) -> None:
        self.events: list[dict] = []
        self.closed = threading.Event()
        self.code: int | None = None

    def on_event(self, message: dict) -> None:
        self.events.append(message)

    def on_close(self, close_status_code: int, close_msg: str) -> None:
        self.code = close_status_code
        self.closed.set()

    def audio(self) -> bytes:
        deltas = [each["delta"] for each in self.events if each["type"] == "response.audio.delta"]
        return b"".join(base64.b64decode(delta) for delta in deltas)


@pytest.fixture
def heard(place: str) -> Iterator[tuple[QwenTtsRealtime, Heard]]:
    callback = Heard()
    client = QwenTtsRealtime(
        model="qwen3-tts-flash-realtime",
        callback=callback,
        workspace="mine",
        url=place.replace("http:", "ws:") + "/api-ws/v1/realtime",
    )
    client.connect()
    yield client, callback
    client.close()


def test_realtime_server_commit(
    heard: tuple[QwenTtsRealtime, Heard], engine: ScriptedEngine
) -> None:
    client, callback = heard
    client.update_session(
        voice="Cherry",
        response_format=AudioFormat.PCM_24000HZ_MONO_16BIT,
        volume=50,
        pitch_rate=1.0,
        language_type="English",
    )
    for piece in ("Hello ", "there. How ", "are you?"):
        client.append_text(piece)
    client.finish()
    assert callback.closed.wait(10)
    assert (callback.code, callback.audio()) == (1000, spoken(5) * 2)
    kinds = [event["type"] for event in callback.events]
    assert (kinds[0], kinds[-1]) == ("session.created", "session.finished")
    assert client.get_session_id() == callback.events[0]["session"]["id"]
    assert client.get_last_response_id().startswith("resp_")
    assert client.get_first_audio_delay() > 0
    assert engine.heard[0].start.language == "english"


def test_realtime_commit(heard: tuple[QwenTtsRealtime, Heard]) -> None:
    client, callback = heard
    client.update_session(voice="Ethan", mode="commit")
    client.append_text("Never mind.")
    client.clear_appended_text()
    client.append_text("Hello there.")
    client.commit()
    client.cancel_response()
    client.append_text("Bye.")
    client.finish()
    assert callback.closed.wait(10)
    done = [each["response"] for each in callback.events if each["type"] == "response.done"]
    assert [each["status"] for each in done] == ["cancelled", "completed"]
    assert callback.code == 1000


@pytest.mark.parametrize("call", [SpeechSynthesizer.call, MultiModalConversation.call])
def test_whole(place: str, engine: ScriptedEngine, call) -> None:
    answer = call(
        model="qwen3-tts-flash", text="Hello there.", voice="Cherry", language_type="German"
    )
    assert (answer.status_code, answer.output.finish_reason) == (200, "stop")
    assert answer.usage.characters == 12
    assert pcm(requests.get(answer.output.audio["url"], timeout=10).content) == spoken(5)
    assert engine.heard[0].start.language == "german"


@pytest.mark.parametrize("call", [SpeechSynthesizer.call, MultiModalConversation.call])
def test_stream(place: str, call) -> None:
    parts = list(call(model="qwen3-tts-flash", text="Hello there.", voice="Cherry", stream=True))
    assert {part.status_code for part in parts} == {200}
    audio = b"".join(base64.b64decode(part.output.audio["data"]) for part in parts)
    assert audio == spoken(5)
    reasons = [part.output.finish_reason for part in parts]
    assert reasons == ["null"] * (len(parts) - 1) + ["stop"]
    assert parts[-1].output.audio["expires_at"] > 0


async def test_asynchronous_stream(place: str) -> None:
    asked = {"model": "qwen3-tts-flash", "text": "Hello there.", "voice": "Cherry"}
    parts = [part async for part in await AioMultiModalConversation.call(**asked, stream=True)]
    audio = b"".join(base64.b64decode(part.output.audio["data"]) for part in parts)
    assert (audio, parts[-1].output.finish_reason) == (spoken(5), "stop")
    await close_shared_aio_session()


def test_errors_are_fields(place: str) -> None:
    answer = SpeechSynthesizer.call(model="qwen3-tts-flash", text="Hello.", voice="Nobody")
    assert (answer.status_code, answer.code) == (400, "InvalidParameter.UnknownVoice")
    assert answer.request_id


def test_a_wrong_key(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashscope, "api_key", "nonsense")
    answer = SpeechSynthesizer.call(model="qwen3-tts-flash", text="Hello.", voice="Cherry")
    assert (answer.status_code, answer.code) == (401, "InvalidApiKey")


def test_a_stream_that_fails(place: str, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"), error_after=1)
    parts = list(
        SpeechSynthesizer.call(model="qwen3-tts-flash", text="Hello.", voice="Cherry", stream=True)
    )
    assert [part.status_code for part in parts] == [200, 500]
    assert parts[-1].code == "InternalError.Internal"


def test_enrolment_asks_for_consent(place: str) -> None:
    service = VoiceEnrollmentService()
    with pytest.raises(VoiceEnrollmentException, match="no voice is cloned without its speaker's"):
        service.create_voice("qwen3-tts-vc-2026-01-22", "me", "https://example.com/me.wav")
