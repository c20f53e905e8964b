"""DashScope's `SpeechSynthesizer` over HTTP, and the client of that name."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import dashscope
import httpx
import numpy as np
import pytest
from dashscope.audio.http_tts import HttpSpeechSynthesizer
from django.conf import settings

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.test_dashscope_http import SSE, events, pcm, refused
from ttsapp.speech import kept
from ttsapp.speech.models import RequestLog

PATH = "/api/v1/services/audio/tts/SpeechSynthesizer"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    monkeypatch.setattr(kept, "_sweeps", kept._Sweeps())


@pytest.fixture(params=["", "/dashscope"])
def client(
    request: pytest.FixtureRequest, base: str, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> type[HttpSpeechSynthesizer]:
    """DashScope's own, with Alice's key."""
    monkeypatch.setattr(dashscope, "api_key", alice.secret)
    monkeypatch.setattr(dashscope, "base_http_api_url", f"{base}{request.param}/api/v1")
    return HttpSpeechSynthesizer


def body(text: object = "Hello there.", **said: object) -> dict:
    return {"model": "cosyvoice-v3-flash", "input": {"text": text, "voice": "longanyang", **said}}


def say(http: httpx.Client, party: Party, asked: dict, **headers: str) -> httpx.Response:
    return http.post(PATH, json=asked, headers={**party.headers, **headers})


def test_the_client_is_told_of_a_file(client: type[HttpSpeechSynthesizer], alice: Party) -> None:
    found = client.call(model="cosyvoice-v3-flash", text="Hello there.", voice="longxiaochun_v2")
    assert found.status_code == 200
    assert pcm(httpx.get(found.audio_url).content) == spoken(5)
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)
    assert (found.request_id, found.audio_id) == (str(event.id), f"audio_{event.id.hex}")


def test_the_client_hears_a_stream(client: type[HttpSpeechSynthesizer]) -> None:
    asked = {"text": "Hello there.", "voice": "longanyang", "audio_format": "pcm", "stream": True}
    *parts, last = client.call(model="cosyvoice-v3-flash", **asked)
    assert b"".join(part.audio_data for part in parts) == last.audio_data == spoken(5)
    assert httpx.get(last.audio_url).content == spoken(5)


def test_events(http: httpx.Client, alice: Party) -> None:
    heard = events(say(http, alice, body(format="pcm"), **SSE))
    told = [json.loads(event["data"])["output"] for event in heard]
    assert [each.get("type") for each in told] == ["sentence-synthesis"] * 5 + [None]
    assert [each["finish_reason"] for each in told] == ["null"] * 5 + ["stop"]
    assert b"".join(base64.b64decode(each["audio"]["data"]) for each in told) == spoken(5)
    assert RequestLog.objects.get().transport == "sse"


@pytest.mark.parametrize(
    ("name", "kind", "magic"),
    [
        ("wav", "audio/wav", b"RIFF"),
        ("mp3", "audio/mpeg", b"\xff"),
        ("opus", "audio/ogg", b"OggS"),
        ("pcm", "audio/pcm", spoken(5)[:2]),
    ],
)
def test_the_file_is_of_the_format(
    http: httpx.Client, alice: Party, name: str, kind: str, magic: bytes
) -> None:
    url = say(http, alice, body(format=name)).json()["output"]["audio"]["url"]
    file = httpx.get(url)
    assert (file.headers["content-type"], file.content[: len(magic)]) == (kind, magic)


def test_rate_volume_language_and_seed(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    how = {"rate": 2.0, "volume": 25, "language_hints": ["de"], "seed": 7, "pitch": 1.0}
    url = say(http, alice, body(format="pcm", **how)).json()["output"]["audio"]["url"]
    heard = np.frombuffer(httpx.get(url).content, "<i2")
    usual = np.frombuffer(spoken(5), "<i2")
    assert len(heard) == len(usual) // 2
    assert abs(int(np.abs(heard).max()) - int(np.abs(usual).max()) // 2) < 300
    assert (engine.heard[0].start.language, engine.heard[0].start.seed) == ("german", 7)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"model": "cosyvoice-v3-flash"}, "The field input is required"),
        (body(5), "input.text is a number"),
        (body(" "), "There is nothing to say"),
        (body("x" * 5000), "The text has 5000 characters"),
        (body(voice="Nobody"), "Unknown voice 'Nobody'"),
        (body(format="ogg"), "input.format 'ogg' is not offered"),
        (body(sample_rate=1), "input.sample_rate"),
        (body(rate=9), "input.rate may be"),
        (body(volume=101), "input.volume 101 is out of range"),
        (body(language_hints=["tlh"]), "input.language_hints: Unknown language 'tlh'"),
        (body(instruction="x" * 5000), "input.instruction: Instructions may have 4096"),
    ],
)
def test_a_bad_request(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, asked: dict, message: str
) -> None:
    said = say(http, alice, asked)
    assert message in refused(said, 400, said.json()["code"])
    assert engine.heard == []
    eventually(lambda: RequestLog.objects.exists())


def test_another_model(http: httpx.Client, alice: Party) -> None:
    refused(say(http, alice, {**body(), "model": "whisper-1"}), 404, "ModelNotFound")


def test_a_failure_after_audio_breaks_the_connection(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hang_up_after=2)
    with pytest.raises(httpx.RemoteProtocolError):
        say(http, alice, body(), **SSE)
