"""Two web processes over one database, and two engines of one checkpoint that clones."""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import httpx

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from tests.ttsapp.product import PATIENCE, Product, _free_port
from tests.ttsapp.voices import recordings

TOKEN = "a-long-random-token-of-a-monitor-0123456789"
START_SECONDS = 240.0
TEXT = "Good morning, everyone."


class Fleet(Product):
    """`webs` are clients with the key, one a process; `stubs` speak to one engine each, which the
    process of the same place asks first. `fresh`: what engines keep that have only warmed up."""

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        targets = [f"unix:{folder}/engine-{place}.sock" for place in (1, 2)]
        super().__init__(
            folder,
            checkpoint,
            PARLANCE_METRICS_TOKEN=TOKEN,
        )
        self._targets = targets

    def __enter__(self) -> Fleet:
        """What has started ends where not all of it does."""
        try:
            self._start_all()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start_all(self) -> None:
        self.manage("migrate", "-v", "0")
        self.key = json.loads(self.manage("bootstrap", "--json"))["key"]
        self.headers = {"Authorization": f"Bearer {self.key}"}
        self.stubs = []
        for place, target in enumerate(self._targets, 1):
            self._start_engine(target, f"engine-{place}")
            channel = self._stack.enter_context(grpc.insecure_channel(target))
            self.stubs.append(engine_pb2_grpc.EngineStub(channel))
        self.webs = [self._start_web(place) for place in (1, 2)]
        until(lambda: all(_state(each) == pb.EngineStatus.STATE_READY for each in self.stubs))
        until(lambda: all(_is_ready(each) for each in self.webs))
        self.fresh = [self.entries(place) for place in (0, 1)]

    def start_worker(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "ttsapp.celery", "worker"]
        schedule = str(self.folder / "beat-schedule")
        self.environment["PARLANCE_ENGINE"] = ",".join(self._targets)
        self._start([*command, "--pool", "solo", "--beat", "--schedule", schedule], "worker.log")

    def status(self, place: int) -> pb.EngineStatus:
        """With what the core told in its next heartbeat when nobody was speaking."""
        watch = self.stubs[place].WatchStatus(pb.WatchStatusRequest(interval_ms=1500))
        next(watch)
        found: pb.EngineStatus = next(status for status in watch if not status.streams)
        watch.cancel()
        return found

    def streams(self) -> list[int]:
        """What each engine has counted."""
        return [self.status(place).streams_total for place in (0, 1)]

    def encode(self, place: int, pitch: float) -> None:
        """A voice that is made of a recording of its own."""
        pcm = recordings.speech(pitch=pitch).astype("<f4").tobytes()
        self.stubs[place].EncodeVoice(pb.EncodeVoiceRequest(pcm=pcm, text=TEXT), timeout=PATIENCE)

    def entries(self, place: int) -> dict[str, int]:
        return {name: cache.entries for name, cache in self.status(place).caches.items()}

    def held(self, web: httpx.Client) -> int:
        """Artifacts in a web process's memory."""
        sent = {"Authorization": f"Bearer {TOKEN}"}
        page = web.get("/metrics", headers=sent).text
        found = re.search(r"^parlance_voice_cache_entries\S* (\S+)$", page, re.MULTILINE)
        assert found is not None
        return int(float(found[1]))

    def stored(self) -> list[str]:
        """Kinds of what lies in the store of voices."""
        store = self.folder / "voices"
        files = (file for file in store.rglob("*") if file.is_file())
        return sorted(file.relative_to(store).parts[0] for file in files)

    def audit(self, action: str) -> list[dict[str, Any]]:
        """Details of an action's rows, oldest first."""
        sql = f"SELECT detail FROM audit_auditentry WHERE action = '{action}' ORDER BY id"
        return [json.loads(row[0]) for row in self._query(sql)]

    def trace(self, place: int, seconds: float) -> list[dict[str, Any]]:
        told = self.stubs[place].Trace(pb.TraceRequest(seconds=seconds))
        events: list[dict[str, Any]] = json.loads(gzip.decompress(told.json_gz))["traceEvents"]
        return events

    def _start_engine(self, target: str, name: str) -> None:
        arguments = ["serve", "--checkpoint", str(self.checkpoint), "--device", "cpu"]
        arguments += ["--listen", target, "--threads", "1", "--engine-id", name]
        self._start([sys.executable, "-m", "gpu_engine", *arguments], f"{name}.log")

    def _start_web(self, place: int) -> httpx.Client:
        port = _free_port()
        first, second = self._targets if place == 1 else reversed(self._targets)
        self.environment["PARLANCE_ENGINE"] = f"{first},{second}"
        self._start([sys.executable, "manage.py", "serve", "--port", str(port)], f"web-{place}.log")
        client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=self.headers, timeout=PATIENCE
        )
        return self._stack.enter_context(client)


def until(check: Callable[[], bool]) -> None:
    """Looks twice a second: what starts needs the processors."""
    limit = time.monotonic() + START_SECONDS
    while not check():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.5)


def agreed(web: httpx.Client) -> str:
    """A new consent's id."""
    files = {"recording": b"%PDF-1.7 I agree that my voice is cloned."}
    made = web.post("/v1/audio/voice_consents", data={"name": "Ann"}, files=files)
    assert made.status_code == 200, made.text
    return str(made.json()["id"])


def cloned(web: httpx.Client, name: str, consent: str, pitch: float = 120.0) -> str:
    """A new voice's id."""
    sample = recordings.wav(recordings.speech(pitch=pitch))
    sent = {"name": name, "consent": consent}
    files = {"audio_sample": ("ann.wav", sample)}
    made = web.post("/v1/audio/voices", data=sent, files=files)
    assert made.status_code == 200, made.text
    return str(made.json()["id"])


def speak(web: httpx.Client, voice: str, text: str = TEXT) -> httpx.Response:
    body = {"model": "tts-1", "voice": voice, "input": text, "response_format": "pcm", "seed": 1}
    return web.post("/v1/audio/speech", json=body)


def _is_ready(web: httpx.Client) -> bool:
    try:
        return web.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _state(stub: engine_pb2_grpc.EngineStub) -> int:
    try:
        return int(stub.Status(pb.StatusRequest(), timeout=5).state)
    except grpc.RpcError:
        return pb.EngineStatus.STATE_DOWN
