"""A store for each test, an engine that clones, and calls as OpenAI's clients make them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx
import pytest
from django.conf import settings
from django.test import override_settings

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, base_model, pb
from tests.ttsapp.voices import recordings
from ttsapp import outgoing, recent
from ttsapp.voices import artifacts, selectors
from ttsapp.voices.artifacts import ArtifactCache
from ttsapp.voices.clips import fetching


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


@pytest.fixture
def three(cloning: ScriptedEngine) -> ScriptedEngine:
    """All three kinds of checkpoint."""
    cloning.models.append(design_model())
    return cloning


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A server that gives what it is told to; its address passes for a public one."""
    given: dict[str, Any] = {"status": 200, "headers": {}, "body": b""}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(given["status"])
            for name, value in given["headers"].items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(given["body"])

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        place = urlsplit("http://example.com/a.wav")
        monkeypatch.setattr(fetching, "_checked", lambda *_: place)
        monkeypatch.setattr(outgoing, "_address", lambda *_: "93.184.216.34")
        local = lambda *_: socket.create_connection(server.server_address)  # noqa: E731
        monkeypatch.setattr(outgoing, "_connected", local)
        yield given
        server.shutdown()


def design_model() -> pb.Model:
    return pb.Model(
        id="scripted-design", kind="voice_design", languages=["english"], fingerprint="d"
    )


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
