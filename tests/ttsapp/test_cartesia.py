"""Cartesia's dialect: speech as bytes, keys, voices, containers, errors."""

from __future__ import annotations

import httpx
import numpy as np
import pytest

from billing.models import UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.cartesia_calls import CARSON, KATIE, RAW, body, refused, say
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    answer = say(http, alice)
    assert (answer.status_code, answer.content) == (200, spoken(5))
    assert engine.heard[0].start.text == "Hello there."
    assert engine.heard[0].start.voice.preset == "Anna"
    event = UsageEvent.objects.get()
    assert str(event.id) == answer.headers["x-request-id"]
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)
    assert RequestLog.objects.get().transport == "http"


# ---- bearer and X-API-Key; header or query version; four voice shapes


@pytest.mark.parametrize("prefix", ["", "/cartesia"])
@pytest.mark.parametrize("name", ["Authorization", "X-API-Key"])
def test_bearer_and_x_api_key(http: httpx.Client, alice: Party, prefix: str, name: str) -> None:
    key = alice.headers["Authorization"] if name == "Authorization" else alice.secret
    headers = {name: key, "cartesia-version": "2026-03-01", "Accept": "audio/wav"}
    assert http.post(f"{prefix}/tts/bytes", json=body(), headers=headers).content == spoken(5)


@pytest.mark.parametrize(
    "query", [{}, {"cartesia_version": "2025-04-16"}, {"cartesia_version": "nonsense"}]
)
def test_header_or_query_version(http: httpx.Client, alice: Party, query: dict[str, str]) -> None:
    answer = http.post("/tts/bytes", params=query, json=body(), headers=alice.headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("voice", "preset"),
    [
        ("Ben", "Ben"),
        ({"id": "ben"}, "Ben"),
        ({"mode": "id", "id": "Ben"}, "Ben"),
        ({"mode": "id", "id": "Ben", "__experimental_controls": {"speed": "slow"}}, "Ben"),
        (KATIE, "Anna"),
        ({"id": CARSON.upper()}, "Ben"),
    ],
)
def test_four_voice_shapes(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, voice: object, preset: str
) -> None:
    assert say(http, alice, voice=voice).status_code == 200
    assert engine.heard[0].start.voice.preset == preset


def test_four_voice_shapes_embedding(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, voice={"mode": "embedding", "embedding": [0.5, 0.5]})
    assert "chosen by id" in refused(answer, 400, "unsupported_voice_mode")


# ---- bytes raw/wav/mp3


@pytest.mark.parametrize(
    ("encoding", "width"),
    [("pcm_s16le", 2), ("pcm_f32le", 4), ("pcm_mulaw", 1), ("pcm_alaw", 1)],
)
@pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100, 48000])
def test_bytes_raw(http: httpx.Client, alice: Party, encoding: str, width: int, rate: int) -> None:
    """400 ms of it."""
    wanted = {"container": "raw", "encoding": encoding, "sample_rate": rate}
    assert len(say(http, alice, output_format=wanted).content) == rate * width * 2 // 5


def test_bytes_raw_floats_are_the_engines_samples(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, output_format={**RAW, "encoding": "pcm_f32le"})
    samples = np.frombuffer(answer.content, "<f4")
    assert (samples * 32768).astype("<i2").tobytes() == spoken(5)


@pytest.mark.parametrize(("encoding", "tag"), [("pcm_s16le", 1), ("pcm_f32le", 3)])
def test_bytes_wav(http: httpx.Client, alice: Party, encoding: str, tag: int) -> None:
    wanted = {"container": "wav", "encoding": encoding, "sample_rate": 24000}
    answer = say(http, alice, output_format=wanted)
    assert answer.headers["content-type"] == "audio/wav"
    assert (answer.content[:4], answer.content[20]) == (b"RIFF", tag)


@pytest.mark.parametrize("rate", [8000, 22050, 44100])
@pytest.mark.parametrize("bits", [32000, 64000, 96000, 128000, 192000])
def test_bytes_mp3(http: httpx.Client, alice: Party, rate: int, bits: int) -> None:
    wanted = {"container": "mp3", "sample_rate": rate, "bit_rate": bits}
    answer = say(http, alice, output_format=wanted)
    assert answer.headers["content-type"] == "audio/mpeg"
    assert answer.content[0] == 0xFF


# ---- errors: status mapped, JSON body


def test_errors_no_key(http: httpx.Client, engine: ScriptedEngine) -> None:
    refused(http.post("/tts/bytes", json=body()), 401, "invalid_api_key")
    assert engine.heard == []


def test_errors_a_form(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/tts/bytes", data={"transcript": "Hi."}, headers=alice.headers)
    refused(answer, 415, "unsupported_media_type")


def test_errors_the_wrong_method(http: httpx.Client, alice: Party) -> None:
    refused(http.get("/tts/sse", headers=alice.headers), 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/cartesia/stt", "/tts/infill", "/cartesia/voices/a/b"])
def test_errors_another_address(http: httpx.Client, alice: Party, path: str) -> None:
    refused(http.get(path, headers=alice.headers), 404, "unknown_url")


def test_errors_a_full_engine(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    engine.script = Script(
        error=pb.Error(code="engine_full", message="full", retryable=True, retry_after_ms=1500)
    )
    answer = say(http, alice)
    refused(answer, 503, "engine_full")
    assert (answer.headers["Retry-After"], answer.headers["retry-after-ms"]) == ("2", "1500")


def test_status(http: httpx.Client) -> None:
    for path in ("/cartesia", "/cartesia/"):
        said = http.get(path).json()
        assert (said["ok"], set(said)) == (True, {"ok", "version"})


def test_usage_stays_with_its_tenant(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        assert say(http, party, transcript=text).status_code == 200
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
