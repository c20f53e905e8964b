"""A store for each test, an engine that clones, and calls as OpenAI's clients make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

import httpx
import pytest
from django.conf import settings
from django.test import override_settings

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, base_model
from tests.ttsapp.voices import recordings
from ttsapp import recent
from ttsapp.voices import artifacts, selectors
from ttsapp.voices.artifacts import ArtifactCache


@pytest.fixture(autouse=True)
def store(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "store"
    backend = "django.core.files.storage.FileSystemStorage"
    options = {"location": str(folder), "allow_overwrite": True}
    stores = {**settings.STORAGES, "voices": {"BACKEND": backend, "OPTIONS": options}}
    with override_settings(STORAGES=stores):
        yield folder


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are looked up for each request, so nothing waits until all processes have done so; and
    nothing is known from the test before."""
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(selectors, "_memories", WeakKeyDictionary())
    monkeypatch.setattr(artifacts, "cache", ArtifactCache(1 << 20))


@pytest.fixture
def cloning(engine: ScriptedEngine) -> ScriptedEngine:
    engine.models.append(base_model())
    return engine


def stored(folder: Path) -> list[str]:
    """The kinds of what is in the store."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file.relative_to(folder).parts[0] for file in files)


def consent(http: httpx.Client, party: Party, **fields: str) -> str:
    sent = {"name": "Ann's consent", "language": "en", **fields}
    files = {"recording": b"%PDF-1.7 I agree that my voice is cloned."}
    made = http.post("/v1/audio/voice_consents", data=sent, files=files, headers=party.headers)
    assert made.status_code == 200, made.text
    return made.json()["id"]


def clone(
    http: httpx.Client, party: Party, sample: bytes | None = None, **fields: str
) -> httpx.Response:
    content = recordings.wav(recordings.speech()) if sample is None else sample
    return http.post(
        "/v1/audio/voices",
        data={"name": "Ann", **fields},
        files={"audio_sample": ("ann.wav", content)},
        headers=party.headers,
    )


def made(http: httpx.Client, party: Party, **fields: str) -> str:
    answer = clone(http, party, consent=consent(http, party), **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def speak(
    http: httpx.Client, party: Party, voice: str, key: str = "", **fields: object
) -> httpx.Response:
    """`key`: an idempotency key."""
    body = {"model": "tts-1", "voice": voice, "input": "Hello.", "response_format": "pcm"}
    headers = {**party.headers, "Idempotency-Key": key} if key else party.headers
    return http.post("/v1/audio/speech", json={**body, **fields}, headers=headers)
