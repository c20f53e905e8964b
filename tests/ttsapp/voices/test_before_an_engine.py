"""Bad input before a real engine that clones: each is a 4xx that says why, leaves no row, no file
and nothing in a cache behind, and the engine speaks the next request as it did before."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from django.apps import apps
from django.conf import settings

from gpu_engine.assemble import assemble
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from tests.ttsapp.conftest import Party
from tests.ttsapp.voices.bad import BAD, EMBEDDINGS, PATHS, high_rate_stereo, sample
from tests.ttsapp.voices.conftest import clone, made, speak
from tests.ttsapp.web_thread import WebThread
from ttsapp import background
from ttsapp.audit.models import AuditEntry
from ttsapp.voices import artifacts
from ttsapp.voices.artifacts import CacheCounters

# One engine starts for the first of them, on processors that others use too.
pytestmark = pytest.mark.timeout(300)
PATIENCE = 120.0


@dataclass
class Cloner:
    """The package's own Base checkpoint in a process of its own. `streams`: those that it was
    asked for, which it tells of a moment later."""

    stub: engine_pb2_grpc.EngineStub
    streams: int = 0

    def when(self, check: Callable[[pb.EngineStatus], bool]) -> pb.EngineStatus:
        """The first status of which that is true; an engine that starts is waited for."""
        request = pb.WatchStatusRequest(interval_ms=100)
        for status in self.stub.WatchStatus(request, timeout=PATIENCE, wait_for_ready=True):
            if check(status):
                return status
        raise AssertionError("the watch ended")

    def settled(self) -> pb.EngineStatus:
        """What it tells once it knows of the end of every stream."""
        return self.when(lambda now: (now.streams_total, now.streams) == (self.streams, 0))


@pytest.fixture(scope="module")
def cloner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloner]:
    folder = tmp_path_factory.mktemp("cloner")
    assemble(folder / "base")
    target = f"unix:{folder}/engine.sock"
    command = [sys.executable, "-m", "gpu_engine", "serve", "--listen", target]
    command += ["--checkpoint", str(folder / "base"), "--device", "cpu", "--threads", "1"]
    with (folder / "engine.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    before, settings.ENGINES = settings.ENGINES, (target,)
    try:
        with grpc.insecure_channel(target) as channel:
            started = Cloner(engine_pb2_grpc.EngineStub(channel))
            started.when(lambda status: status.state == pb.EngineStatus.STATE_READY)
            yield started
    finally:
        settings.ENGINES = before
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def web(web_thread: WebThread, cloner: Cloner) -> Iterator[WebThread]:
    """A web server whose engine that is. The session's closes what both use."""
    thread = WebThread()
    yield thread
    thread.close()


@pytest.fixture
def http(web: WebThread, transactional_db: None) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://{web.address}", timeout=PATIENCE) as client:
        yield client
    until(lambda: not background._running)


def until(check: Callable[[], object]) -> None:
    limit = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.05)


@dataclass(frozen=True)
class Kept:
    """All that is kept of voices, anywhere. `asked`: recordings that the engine was sent, by how
    often it encoded a piece of one."""

    rows: dict[str, int]
    files: list[str]
    memory: CacheCounters
    device: dict[str, tuple[int, int, int]]
    asked: int


@dataclass
class Before:
    """A voice that speaks, with what it said and what was kept then."""

    http: httpx.Client
    party: Party
    cloner: Cloner
    store: Path
    voice: str
    consent: str
    said: bytes = b""
    kept: Kept | None = None

    def says(self, voice: str) -> bytes:
        answer = speak(self.http, self.party, voice, seed=1)
        assert answer.status_code == 200, answer.text
        self.cloner.streams += 1
        return answer.content

    def now(self) -> Kept:
        status = self.cloner.settled()
        assert status.core_restarts == 0
        models = apps.get_app_config("voices").get_models()
        rows = {model.__name__: model._base_manager.count() for model in (*models, AuditEntry)}
        caches = status.caches.items()
        return Kept(
            rows=rows,
            files=sorted(str(file) for file in self.store.rglob("*") if file.is_file()),
            memory=artifacts.cache.counters(),
            device={name: (each.entries, each.bytes, each.misses) for name, each in caches},
            asked=status.modules["encode"].steps,
        )


@pytest.fixture
def before(http: httpx.Client, alice: Party, cloner: Cloner, store: Path) -> Before:
    voice = made(http, alice, name="Berta")
    listed = http.get("/v1/audio/voice_consents", headers=alice.headers).json()["data"]
    found = Before(http, alice, cloner, store, voice, listed[0]["id"])
    found.said, found.kept = found.says(voice), found.now()
    assert len(found.said) > 10_000
    return found


def same_as(before: Before) -> None:
    """Nothing came of it, and the engine speaks."""
    assert before.kept is not None
    said, after = before.says(before.voice), before.now()
    assert said == before.said
    assert (after.rows, after.files) == (before.kept.rows, before.kept.files)
    assert (after.device, after.asked) == (before.kept.device, before.kept.asked)
    held = [(each.memory.entries, each.memory.nbytes) for each in (after, before.kept)]
    assert held[0] == held[1]
    assert after.memory.misses == before.kept.memory.misses


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    assert not any(word in error["message"] for word in ("Error", "Traceback", "ttsapp", "/tmp"))
    return answer.status_code, error["param"], error["code"]


@pytest.mark.parametrize("bad", BAD)
def test_a_recording_that_is_none(before: Before, bad: str) -> None:
    answer = clone(before.http, before.party, sample(bad), consent=before.consent)
    code = BAD[bad][1]
    status = 413 if code == "file_too_large" else 400
    assert refusal(answer) == (status, "audio_sample", code)
    same_as(before)


def test_a_wrong_transcript(before: Before) -> None:
    answer = clone(before.http, before.party, consent=before.consent, ref_text="word " * 190)
    assert refusal(answer) == (400, "ref_text", "transcript_mismatch")
    same_as(before)


@pytest.mark.parametrize("name", PATHS[:3])
def test_a_name_that_is_a_path(before: Before, name: str) -> None:
    answer = clone(before.http, before.party, consent=before.consent, name=name)
    assert refusal(answer) == (400, "name", "invalid_value")
    same_as(before)


def by_address(before: Before, address: str) -> httpx.Response:
    body = {"name": "Ann", "consent": before.consent, "ref_audio": address}
    return before.http.post("/v1/audio/voices", json=body, headers=before.party.headers)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("https://127.0.0.1/ann.wav", "address_not_allowed"),
        ("https://169.254.169.254/latest/meta-data", "address_not_allowed"),
        ("https://[::ffff:10.0.0.7]/ann.wav", "address_not_allowed"),
        ("file:///etc/passwd", "invalid_value"),
    ],
)
def test_an_address_of_our_own_network(before: Before, address: str, code: str) -> None:
    assert refusal(by_address(before, address)) == (400, "ref_audio", code)
    same_as(before)


def test_a_redirect_into_our_own_network(before: Before, elsewhere: dict[str, Any]) -> None:
    elsewhere.update({"status": 302, "headers": {"Location": "https://10.0.0.1/ann.wav"}})
    answer = by_address(before, "https://example.com/ann.wav")
    assert refusal(answer) == (400, "ref_audio", "address_redirects")
    same_as(before)


@pytest.mark.parametrize("bad", EMBEDDINGS)
def test_an_embedding_that_is_none(before: Before, bad: str) -> None:
    embedding, code = EMBEDDINGS[bad]
    body = {"name": "Ann", "consent": before.consent, "embedding": embedding}
    answer = before.http.post("/v1/audio/voices", json=body, headers=before.party.headers)
    assert refusal(answer) == (400, "embedding", code)
    same_as(before)


def test_a_consent_that_was_withdrawn(before: Before) -> None:
    """Given another that has ended, when a good recording names it."""
    files = {"recording": b"%PDF-1.7 I agree that my voice is cloned."}
    post, headers = before.http.post, before.party.headers
    made = post("/v1/audio/voice_consents", data={"name": "B"}, files=files, headers=headers)
    ended = made.json()["id"]
    post(f"/v1/audio/voice_consents/{ended}/withdraw", headers=headers).raise_for_status()
    before.kept = before.now()
    answer = clone(before.http, before.party, consent=ended)
    assert refusal(answer) == (403, "consent", "consent_withdrawn")
    same_as(before)


def test_studio_quality_is_no_bad_input(before: Before) -> None:
    """96 kHz, stereo, 24 bits: mixed down, and spoken with."""
    answer = clone(before.http, before.party, high_rate_stereo(), consent=before.consent)
    assert answer.status_code == 200, answer.text
    assert len(before.says(answer.json()["id"])) > 10_000


def test_what_a_real_encoder_makes_of_a_clip_is_the_same_again(before: Before) -> None:
    """The same recording under two labels is one file, and one entry of every cache."""
    other = clone(before.http, before.party, consent=before.consent, name="Carla")
    assert other.status_code == 200, other.text
    said, after, first = before.says(other.json()["id"]), before.now(), before.kept
    assert first is not None
    assert said == before.said
    assert after.files == first.files
    assert after.device == first.device
    assert (after.memory.entries, after.memory.misses) == (1, first.memory.misses)
    assert after.memory.hits > first.memory.hits
