"""ElevenLabs' own client, unmodified, against the running server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from elevenlabs import VoiceSettings
from elevenlabs.client import ElevenLabs
from elevenlabs.core.api_error import ApiError

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.tls import TlsThread, certificate

RACHEL = "21m00Tcm4TlvDq8ikWAM"
PCM = "pcm_24000"


@pytest.fixture(params=["", "/elevenlabs"])
def client(base: str, alice: Party, request: pytest.FixtureRequest) -> ElevenLabs:
    return ElevenLabs(api_key=alice.secret, base_url=base + request.param)


def test_convert(client: ElevenLabs, engine: ScriptedEngine) -> None:
    speech = client.text_to_speech.convert(
        RACHEL,
        text="Hello there.",
        model_id="eleven_multilingual_v2",
        output_format=PCM,
        voice_settings=VoiceSettings(stability=0.4, similarity_boost=0.7),
    )
    assert b"".join(speech) == spoken(5)
    assert engine.heard[0].start.text == "Hello there."


def test_stream(client: ElevenLabs) -> None:
    speech = client.text_to_speech.stream(
        RACHEL,
        text="Hello there.",
        output_format=PCM,
        enable_logging=False,
        optimize_streaming_latency=3,
    )
    assert b"".join(speech) == spoken(5)


def test_headers(client: ElevenLabs) -> None:
    raw = client.text_to_speech.with_raw_response
    with raw.convert(RACHEL, text="Hello there.", output_format=PCM) as answer:
        assert answer.headers["character-cost"] == "12"
        assert answer.headers["request-id"]
        assert b"".join(answer.data) == spoken(5)


def test_convert_with_timestamps(client: ElevenLabs) -> None:
    answer = client.text_to_speech.convert_with_timestamps(
        RACHEL, text="Hello there.", output_format=PCM
    )
    assert base64.b64decode(answer.audio_base_64) == spoken(5)
    assert answer.alignment is None


def test_stream_with_timestamps(client: ElevenLabs) -> None:
    lines = client.text_to_speech.stream_with_timestamps(
        RACHEL, text="Hello there.", output_format=PCM
    )
    assert b"".join(base64.b64decode(line.audio_base_64) for line in lines) == spoken(5)


def test_voices(client: ElevenLabs) -> None:
    page = client.voices.search()
    assert [voice.name for voice in page.voices] == ["Anna", "Ben"]
    assert page.has_more is False
    assert len(client.voices.get_all(show_legacy=True).voices) > 2
    assert client.voices.get(RACHEL).name == "Rachel"
    assert client.voices.settings.get(RACHEL).speed == 1.0
    assert client.voices.settings.get_default().stability == 0.5


def test_models(client: ElevenLabs) -> None:
    models = client.models.list()
    assert models[0].model_id == "scripted-voices"
    assert models[0].languages[0].language_id == "en"


def test_user(client: ElevenLabs) -> None:
    assert client.user.get().user_id == "alice"
    plan = client.user.subscription.get()
    assert (plan.status, plan.character_count, plan.open_invoices) == ("active", 0, [])


def test_history_and_usage(client: ElevenLabs) -> None:
    list(client.text_to_speech.convert(RACHEL, text="Hello.", output_format=PCM))
    items = client.history.list().history
    assert [item.character_count_change_to for item in items] == [6]
    assert client.history.get(items[0].history_item_id).voice_name == "Anna"
    moment = items[0].date_unix * 1000
    stats = client.usage.get(start_unix=moment - 1000, end_unix=moment + 2000)
    assert sum(stats.usage["All"]) == 6.0


def test_single_use_token(client: ElevenLabs) -> None:
    assert client.tokens.single_use.create("tts_websocket").token


def test_errors(base: str, client: ElevenLabs) -> None:
    with pytest.raises(ApiError) as refusal:
        list(client.text_to_speech.convert("nobody", text="Hello."))
    assert refusal.value.status_code == 400
    assert refusal.value.body["detail"]["status"] == "voice_not_found"
    with pytest.raises(ApiError) as refusal:
        ElevenLabs(api_key="nonsense", base_url=base).user.get()
    assert refusal.value.status_code == 401
    assert refusal.value.body["detail"]["status"] == "invalid_api_key"


# ---- the socket, which this client opens with TLS alone


@pytest.fixture
def secure(
    base: str, alice: Party, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ElevenLabs]:
    files = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    front = TlsThread(httpx.URL(base).port or 0, *files)
    yield ElevenLabs(api_key=alice.secret, base_url=f"https://localhost:{front.port}")
    front.close()


def words() -> Iterator[str]:
    yield from ("Hello ", "there, ", "and ", "goodbye.")


def test_convert_realtime(secure: ElevenLabs, engine: ScriptedEngine) -> None:
    speech = secure.text_to_speech.convert_realtime(
        RACHEL, text=words(), model_id="eleven_flash_v2_5", output_format=PCM
    )
    assert b"".join(speech) == spoken(5)
    assert " ".join(engine.heard[0].text.split()) == "Hello there, and goodbye."


def test_convert_realtime_that_fails(secure: ElevenLabs, engine: ScriptedEngine) -> None:
    engine.script = Script(error=pb.Error(code="internal", message="no"))
    speech = secure.text_to_speech.convert_realtime(RACHEL, text=words(), output_format=PCM)
    with pytest.raises(ApiError) as failure:
        list(speech)
    assert failure.value.status_code == 1011
    assert failure.value.body["error"] == "internal"
