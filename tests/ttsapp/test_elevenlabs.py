"""ElevenLabs' dialect over HTTP: the four calls that speak."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_calls import (
    ADAM,
    CALLS,
    RACHEL,
    audio_of,
    say,
    xi,
)
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp.dialects.elevenlabs import alignment
from ttsapp.dialects.elevenlabs.formats import FORMATS
from ttsapp.speech.events import Word
from ttsapp.speech.models import RequestLog

# What LiveKit asks for unless told otherwise.
BELLA = "hpp4J3VqNfWAUOO0d1Us"


@pytest.mark.parametrize("call", CALLS)
def test_it_works(http: httpx.Client, alice: Party, engine: ScriptedEngine, call: str) -> None:
    answer = say(http, alice, call)
    assert answer.status_code == 200
    assert audio_of(call, answer) == spoken(5)
    assert engine.heard[0].start.text == "Hello there."
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.billed_characters) == (alice.tenant.id, 12)
    assert str(event.id) == answer.headers["history-item-id"]


@pytest.mark.parametrize("call", CALLS)
def test_a_body_of_text_alone(http: httpx.Client, alice: Party, call: str) -> None:
    """Frames of mp3 begin with eleven set bits."""
    answer = say(http, alice, call, output_format="")
    assert answer.status_code == 200
    assert audio_of(call, answer).startswith(b"\xff")


@pytest.mark.parametrize("prefix", ["", "/elevenlabs"])
@pytest.mark.parametrize("voice", [RACHEL, "Rachel", "bella", BELLA, "Anna", "alloy"])
def test_voices(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, prefix: str, voice: str
) -> None:
    path = f"{prefix}/v1/text-to-speech/{voice}"
    assert http.post(path, json={"text": "Hi."}, headers=xi(alice)).status_code == 200
    assert engine.heard[0].start.voice.preset == "Anna"


def test_a_mans_voice(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    assert say(http, alice, voice=ADAM).status_code == 200
    assert engine.heard[0].start.voice.preset == "Ben"


@pytest.mark.parametrize("model", ["eleven_multilingual_v2", "eleven_flash_v2_5", "tts-1"])
def test_models(http: httpx.Client, alice: Party, engine: ScriptedEngine, model: str) -> None:
    assert say(http, alice, model_id=model).status_code == 200
    assert engine.heard[0].start.model == "scripted-voices"


def test_the_output_formats_that_clients_may_name() -> None:
    rates, kilobits = (8000, 16000, 22050, 24000, 32000, 44100, 48000), (32, 64, 96, 128, 192)
    assert set(FORMATS) == {
        *("mp3_22050_32", "mp3_24000_48", "mp3_44100", "ulaw_8000", "alaw_8000"),
        *(f"{name}_{rate}" for name in ("pcm", "wav") for rate in rates),
        *(f"{name}_{bits}" for name in ("mp3_44100", "opus_48000") for bits in kilobits),
    }


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_output_format_is_audio(http: httpx.Client, alice: Party, name: str) -> None:
    answer = say(http, alice, output_format=name)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("audio/")
    beginnings = {"wav": b"RIFF", "opu": b"OggS", "mp3": b"\xff"}
    assert answer.content.startswith(beginnings.get(name[:3], b""))


@pytest.mark.parametrize(
    ("name", "size"), [("pcm_8000", 6400), ("ulaw_8000", 3200), ("pcm_48000", 38_400)]
)
def test_sizes(http: httpx.Client, alice: Party, name: str, size: int) -> None:
    """400 ms each."""
    answer = say(http, alice, output_format=name)
    assert len(answer.content) == size
    if name == "ulaw_8000":
        assert answer.headers["content-type"] == "audio/basic"


def test_headers_that_pages_may_read(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice)
    assert answer.headers["character-cost"] == "12"
    assert answer.headers["request-id"] == answer.headers["x-trace-id"]
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"request-id", "character-cost", "history-item-id"} <= set(exposed)


def test_a_browser_asks_first(http: httpx.Client) -> None:
    headers = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    answer = http.options(f"/v1/text-to-speech/{RACHEL}", headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert "xi-api-key" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"


def test_without_an_aligner_there_is_no_alignment(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, "/with-timestamps").json()
    assert set(answer) == {"audio_base64", "alignment", "normalized_alignment"}
    assert answer["alignment"] is None
    assert answer["normalized_alignment"] is None


def test_lines_come_as_they_are_made(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=1)
    path = f"/v1/text-to-speech/{RACHEL}/stream/with-timestamps?output_format=pcm_24000"
    with http.stream("POST", path, json={"text": "Hello."}, headers=xi(alice)) as answer:
        lines = answer.iter_lines()
        first = json.loads(next(lines))
        assert not engine.heard[0].ended.is_set()
        engine.release.set()
        rest = [json.loads(line) for line in lines if line]
    assert base64.b64decode(first["audio_base64"]) == spoken(1)
    assert len(rest) == 4


def test_alignment_of_words() -> None:
    """Three arrays of the same length, a blank between two words, at half the speed."""
    words = [Word("Hi", 100, 300), Word("you.", 300, 700)]
    found = alignment.AnswerClock(0.5).alignment(words)
    assert found == {
        "characters": ["H", "i", " ", "y", "o", "u", "."],
        "character_start_times_seconds": [0.2, 0.4, 0.6, 0.6, 0.8, 1.0, 1.2],
        "character_end_times_seconds": [0.4, 0.6, 0.6, 0.8, 1.0, 1.2, 1.4],
    }


def test_alignment_of_messages_begins_anew() -> None:
    clock = alignment.MessageClock(1.0)
    assert clock.alignment([Word("Hi", 100, 300)]) == {
        "chars": ["H", "i", " "],
        "charStartTimesMs": [100, 200, 300],
        "charDurationsMs": [100, 100, 0],
    }
    second = clock.alignment([Word("Yo", 350, 450)])
    assert second is not None
    assert second["charStartTimesMs"] == [50, 100, 150]
    assert clock.alignment([]) is None


def test_usage_stays_with_its_tenant(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    for party, text in ((alice, "One."), (bob, "Three.")):
        assert say(http, party, text=text).status_code == 200
    billed = {event.tenant_id: event.billed_characters for event in UsageEvent.objects.all()}
    assert billed == {alice.tenant.id: 4, bob.tenant.id: 6}
    assert not RequestLog.objects.filter(tenant=mallory.tenant).exists()
