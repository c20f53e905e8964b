"""From a recording to a voice that speaks, through OpenAI's calls."""

from __future__ import annotations

import base64
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import clone, consent, made, speak, stored
from ttsapp import recent
from ttsapp.audit.models import AuditEntry
from ttsapp.voices import artifacts, storage
from ttsapp.voices.models import Voice, VoiceVersion
from ttsapp.voices.storage import Blob


def test_it_works(http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path) -> None:
    allowed = consent(http, alice)

    answer = clone(http, alice, consent=allowed, description="Calm", language="en-GB")

    voice = answer.json()
    assert answer.status_code == 200
    assert (voice["object"], voice["name"], voice["type"]) == ("audio.voice", "Ann", "audio_sample")
    assert stored(store) == ["artifact", "clip", "evidence"]
    assert speak(http, alice, voice["id"]).status_code == 200
    start = cloning.heard[-1].start
    version = VoiceVersion.objects.get()
    assert (start.model, start.language) == ("scripted-base", "english")
    kept = storage.get(Blob.ARTIFACT, version.artifact)
    assert start.voice.artifact.data == kept
    entry = AuditEntry.objects.get(action="voice.created")
    assert entry.actor == f"key:{alice.key.public_id}"
    assert entry.detail["artifact"] == version.artifact


def test_a_transcript_makes_a_clone_in_context(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    text = "The train to the coast leaves at nine, so we still have time for coffee."
    made(http, alice, ref_text=text)
    assert cloning.encoded[-1].text == text
    assert Voice.objects.get().kind == "in_context"


def test_a_long_recording_is_cut_to_its_best_stretch(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    sample = np.concatenate((np.zeros(20 * recordings.RATE, np.float32), recordings.speech(25.0)))
    answer = clone(http, alice, recordings.wav(sample), consent=consent(http, alice))
    version = VoiceVersion.objects.get()
    assert answer.status_code == 200
    assert version.start_ms >= 19_000
    assert 10_000 <= version.end_ms - version.start_ms <= 15_000
    sent = len(cloning.encoded[-1].pcm) // 4 / recordings.RATE
    assert sent * 1000 == pytest.approx(version.end_ms - version.start_ms, abs=20)


def test_the_same_recording_under_two_names_is_one_entry(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party, store: Path
) -> None:
    made(http, alice)
    made(http, bob, name="Berta")
    assert stored(store) == ["artifact", "clip", "evidence"]


def test_a_voice_is_looked_up_once_a_request(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    for _ in range(3):
        assert speak(http, alice, voice).status_code == 200
    found = artifacts.cache.counters()
    assert (found.misses, found.hits, found.entries) == (1, 2, 1)


def test_a_ready_embedding(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    fields = {"name": "Ann", "embedding": str([0.25] * 8), "consent": consent(http, alice)}
    answer = http.post("/v1/audio/voices", json=fields, headers=alice.headers)
    assert answer.status_code == 200, answer.text
    assert list(cloning.encoded[-1].embedding.values) == [0.25] * 8
    assert speak(http, alice, "ann").status_code == 200


def test_a_data_url(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    encoded = base64.b64encode(recordings.wav(recordings.speech())).decode()
    address = f"data:audio/wav;base64,{encoded}"
    fields = {"name": "Ann", "ref_audio": address, "consent": consent(http, alice)}
    answer = http.post("/v1/audio/voices", json=fields, headers=alice.headers)
    assert answer.status_code == 200, answer.text


def test_a_request_without_language_and_speed_takes_the_voices_own(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice, language="de", speed="2.0")
    usual, slower = speak(http, alice, voice), speak(http, alice, voice, speed=0.5)
    assert cloning.heard[-2].start.language == "german"
    assert len(usual.content) * 3 < len(slower.content)


def test_voices_are_listed_for_their_owner_alone(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    voice = made(http, alice)
    listed = http.get("/v1/audio/voices", headers=alice.headers).json()["data"]
    others = http.get("/v1/audio/voices", headers=mallory.headers).json()["data"]
    assert listed[0]["id"] == voice
    assert voice not in {each["id"] for each in others}
    refused = speak(http, mallory, voice)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unknown_voice")
    assert http.delete(f"/v1/audio/voices/{voice}", headers=mallory.headers).status_code == 404
    assert speak(http, alice, voice).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        (
            "/v1/audio/speech",
            {"model": "tts-1", "voice": "VOICE", "input": "Hi.", "response_format": "pcm"},
            {"code": "unknown_voice", "param": "voice"},
        ),
        (
            "/elevenlabs/v1/text-to-speech/VOICE?output_format=pcm_24000",
            {"text": "Hi."},
            {"status": "voice_not_found", "param": "voice_id"},
        ),
    ],
)
def test_a_voice_that_was_deleted_a_moment_ago_is_unknown(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: dict[str, str],
    told: dict[str, str],
) -> None:
    # given a process that will not look again what there is
    voice = made(http, alice)
    sent = {name: value.replace("VOICE", voice) for name, value in body.items()}
    address = path.replace("VOICE", voice)
    assert http.post(address, json=sent, headers=alice.headers).status_code == 200
    monkeypatch.setattr(recent, "FRESH_SECONDS", 600.0)
    # when the voice is deleted
    assert http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers).status_code == 200
    # then its id is one that there is not
    answer = http.post(address, json=sent, headers=alice.headers)
    assert answer.status_code == 400
    (refusal,) = answer.json().values()
    assert refusal.items() >= told.items()
    assert refusal["message"].startswith("The voice 'Ann' was deleted")


def test_a_model_that_does_not_speak_the_voice_is_named(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    answer = speak(http, alice, voice, model="scripted-voices")
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "model", "wrong_model")
    assert "'scripted-base'" in error["message"]
