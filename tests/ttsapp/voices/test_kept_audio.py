"""Audio that is told as an address goes with the voice that said it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings

from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_calls import get, refused
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from tests.ttsapp.voices.conftest import clone, consent, made, speak
from ttsapp import background, database
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.speech import kept
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.services import keep_audio
from ttsapp.voices.own import OwnVoice, Preset

PATH = "/api/v1/services/aigc/multimodal-generation/generation"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "DATA", tmp_path)
    return tmp_path / "answers"


def address(http: httpx.Client, party: Party, voice: str) -> str:
    body = {"model": "qwen3-tts-flash", "input": {"text": "Hello there.", "voice": voice}}
    answer = http.post(PATH, json=body, headers=party.headers)
    assert answer.status_code == 200, answer.text
    return urlsplit(answer.json()["output"]["audio"]["url"]).path


def test_deleting_a_voice_deletes_what_it_said(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, folder: Path
) -> None:
    voice, other = made(http, alice), made(http, alice, name="Bea")
    said = [address(http, alice, each) for each in (voice, other, "Cherry")]
    before = [http.get(each).status_code for each in said]
    gone = http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers)
    after = [http.get(each).status_code for each in said]

    assert (before, gone.status_code, after) == ([200, 200, 200], 200, [404, 200, 200])
    assert len(list(folder.iterdir())) == 2


def test_an_address_does_not_tell_the_voice(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    assert voice not in address(http, alice, voice)


def while_it_speaks(
    http: httpx.Client, engine: ScriptedEngine, party: Party, **headers: str
) -> httpx.Response:
    """What is answered where the voice is deleted before its audio has ended."""
    voice = made(http, party)
    engine.script.hold_after = 1
    body = {"model": "qwen3-tts-flash", "input": {"text": "Hello there.", "voice": voice}}
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(http.post, PATH, json=body, headers={**party.headers, **headers})
        engine.wait_for_stream()
        http.delete(f"/v1/audio/voices/{voice}", headers=party.headers).raise_for_status()
        engine.release.set()
        return asked.result(30)


def test_what_it_says_while_it_is_deleted_is_told_and_not_kept(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, folder: Path
) -> None:
    answer = while_it_speaks(http, cloning, alice)
    audio = answer.json()["output"]["audio"]
    assert (answer.status_code, audio["url"]) == (200, "")
    assert b64decode(audio["data"])[44:] == spoken(5)
    assert list(folder.iterdir()) == []


def test_what_it_says_in_events_while_it_is_deleted_is_not_kept(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, folder: Path
) -> None:
    answer = while_it_speaks(http, cloning, alice, **{"X-DashScope-SSE": "enable"})
    last = json.loads(answer.text.strip().rpartition("data:")[2])
    assert last["output"]["audio"]["url"] == ""
    assert list(folder.iterdir()) == []


def test_a_recording_for_its_tenant_is_not_kept_either(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, folder: Path
) -> None:
    keep_audio(SYSTEM, alice.tenant, 1)
    while_it_speaks(http, cloning, alice)
    eventually(lambda: RequestLog.objects.exists() and not background._running)
    recordings = folder.with_name("recordings")
    assert (recordings.is_dir(), list(recordings.iterdir())) == (True, [])


def test_a_recording_is_not_given_out_once_its_speakers_consent_has_ended(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    keep_audio(SYSTEM, alice.tenant, 1)
    agreed = consent(http, alice)
    voice = clone(http, alice, consent=agreed).json()["id"]
    item = speak(http, alice, voice).headers["x-request-id"]
    path = f"/v1/history/{item}/audio"
    eventually(lambda: get(http, alice, path).status_code == 200)

    where = f"/v1/audio/voice_consents/{agreed}/withdraw"
    http.post(where, headers=alice.headers).raise_for_status()

    refused(get(http, alice, path), 404, "audio_not_kept")
    assert AuditEntry.objects.filter(action="request.heard", target=item).count() == 1


def test_it_is_not_kept_where_nobody_can_tell(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    async def away(*_: object) -> bool:
        raise database.unavailable()

    monkeypatch.setattr(database, "read", away)
    own = OwnVoice("voice_1", "english", "", "Ann", "x_vector", "base", "f", "digest")
    preset = Preset("Anna", "english", "")
    assert asyncio.run(kept.keep(b"RIFF", own)) is None
    assert asyncio.run(kept.keep(b"RIFF", preset)) is not None
    assert len(list(folder.iterdir())) == 1
