"""The formats, sample rates and speeds of `POST /v1/audio/speech` and of the socket."""

from __future__ import annotations

import httpx
import numpy as np
import pytest

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.decoding import by_ffmpeg, by_libsndfile
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken

TYPES = {
    "pcm": "audio/pcm",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "webm": "audio/webm",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "mulaw": "audio/mulaw",
    "alaw": "audio/alaw",
}
SECONDS = 0.4


def say(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    response = http.post("/v1/audio/speech", json=speech(**fields), headers=party.headers)
    assert response.status_code == 200, response.text
    return response


def seconds(name: str, body: bytes) -> float:
    if name in ("webm", "aac"):
        samples, rate = by_ffmpeg(body, name)
    elif name in ("mulaw", "alaw"):
        samples, rate = by_ffmpeg(body, name)[0], 8_000
    else:
        samples, rate = by_libsndfile(body)
    return len(samples) / rate


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("name", [name for name in TYPES if name not in ("pcm", "flac")])
def test_every_format(http: httpx.Client, alice: Party, name: str, is_streamed: bool) -> None:
    response = say(http, alice, response_format=name, stream=is_streamed)
    assert response.headers["content-type"] == TYPES[name]
    assert seconds(name, response.content) == pytest.approx(SECONDS, abs=0.1)
    assert seconds(name, response.content) >= SECONDS


@pytest.mark.parametrize("is_streamed", [True, False])
def test_flac_holds_what_the_engine_said(
    http: httpx.Client, alice: Party, is_streamed: bool
) -> None:
    response = say(http, alice, response_format="flac", stream=is_streamed)
    assert response.headers["content-type"] == TYPES["flac"]
    samples = by_ffmpeg(response.content)[0] * 32768
    assert samples.astype("<i2").tobytes() == spoken(5)


@pytest.mark.parametrize("name", [name for name in TYPES if name != "pcm"])
def test_the_first_bytes_leave_with_the_first_chunk(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, name: str
) -> None:
    engine.script.hold_after = 1
    body = speech(response_format=name)
    with http.stream("POST", "/v1/audio/speech", json=body, headers=alice.headers) as response:
        chunks = response.iter_raw()
        assert next(chunks)
        assert not engine.heard[0].ended.is_set()
        engine.release.set()
        list(chunks)


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])
def test_every_sample_rate(http: httpx.Client, alice: Party, rate: int) -> None:
    content = say(http, alice, sample_rate=rate, response_format="wav", stream=False).content
    samples, found = by_libsndfile(content)
    assert (found, len(samples)) == (rate, round(SECONDS * rate))


def test_a_bit_rate(http: httpx.Client, alice: Party) -> None:
    fields = {"response_format": "mp3", "sample_rate": 44_100, "bit_rate": 192_000}
    content = say(http, alice, **fields).content
    assert 8 * len(content) / seconds("mp3", content) == pytest.approx(192_000, rel=0.1)


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("speed", [0.25, 0.5, 1, 2.0, 4.0])
def test_speed(http: httpx.Client, alice: Party, speed: float, is_streamed: bool) -> None:
    response = say(http, alice, speed=speed, stream=is_streamed)
    assert len(response.content) // 2 == round(SECONDS * 24_000 / speed)
    if not is_streamed:
        assert response.headers["x-audio-ms"] == str(round(SECONDS * 1000 / speed))
    event = UsageEvent.objects.get()
    # What was heard, and charged; the engine worked as long as at any speed.
    assert (event.audio_ms, event.billed_characters) == (round(SECONDS * 1000 / speed), 12)
    assert event.frames == 5
    log = http.get(
        f"/v1/audio/speech/requests/{response.headers['x-request-id']}", headers=alice.headers
    )
    assert log.json()["audio_ms"] == event.audio_ms


def test_floats_are_the_same_samples(http: httpx.Client, alice: Party) -> None:
    content = say(http, alice, response_format="pcm_f32").content
    assert np.array_equal(np.frombuffer(content, "<f4") * 32768, np.frombuffer(spoken(5), "<i2"))


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        (
            {"response_format": "opus", "sample_rate": 44_100},
            "sample_rate",
            "sample_rate 44100 for opus is not offered: choose one of 8000, 16000, 24000, 48000.",
        ),
        (
            {"response_format": "m4a"},
            "response_format",
            "response_format 'm4a' is not offered: choose one of pcm, pcm_f32, wav, wav_f32, "
            "wav_mulaw, wav_alaw, mulaw, alaw, mp3, opus, webm, aac, flac, srt, vtt.",
        ),
        ({"bit_rate": 64_000}, "bit_rate", "pcm has no bit rate: leave bit_rate out."),
        ({"speed": 5}, "speed", "speed may be 0.25 to 4.0."),
    ],
)
def test_refusals(
    http: httpx.Client, alice: Party, fields: dict[str, object], field: str, message: str
) -> None:
    response = http.post("/v1/audio/speech", json=speech(**fields), headers=alice.headers)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == field
    assert response.json()["error"]["message"] == message
    assert not UsageEvent.objects.exists()
