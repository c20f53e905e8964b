"""The product as `make run` starts it: one launcher process, a data folder, a port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import httpx

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from tests.ttsapp.conftest import eventually
from ttsapp.launch import access
from ttsapp.launch.plan import ROOT, Plan, free_port

PATIENCE = 90.0
SERVICES = ("DATABASE_URL", "REDIS_URL")


def launch(*arguments: str) -> list[str]:
    """A launcher's command line."""
    return [sys.executable, "-m", "ttsapp.launch", *arguments]


def outside(**environment: str) -> dict[str, str]:
    """A person's environment: no services but those that are named."""
    kept = {name: value for name, value in os.environ.items() if name not in SERVICES}
    return {**kept, "NO_COLOR": "1", **environment}


class Running:
    """`with Running(folder) as product:` serves inside the block."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.plan = Plan(folder, port=free_port())
        self.base = self.plan.url
        self.output = folder / "output.txt"
        self.environment = outside(**environment)
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> Running:
        self.start()
        self.until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.plan.data.mkdir(parents=True, exist_ok=True)
        where = ["--port", str(self.plan.port), "--data", str(self.plan.data)]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                launch("run", *where),
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=output,
            )

    def until_ready(self) -> None:
        eventually(lambda: self.process.poll() is not None or self._has_welcomed(), PATIENCE)
        assert self.process.poll() is None, self.said()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def said(self) -> str:
        return self.output.read_text("utf-8")

    @property
    def key(self) -> str:
        key = access.read(self.plan.data / access.FILE).key
        assert key
        return key

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.base}/readyz", timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def say(self, text: str = "Good morning, everyone.", **fields: object) -> httpx.Response:
        body = {"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm"}
        url = f"{self.base}/v1/audio/speech"
        sent = {name: value for name, value in {**body, **fields}.items() if value is not ...}
        return httpx.post(url, json=sent, headers=self.headers, timeout=PATIENCE)

    def settled(self, response: httpx.Response) -> dict[str, object]:
        """How the ledger has that request."""
        url = f"{self.base}/v1/audio/speech/requests/{response.headers['x-request-id']}"

        def row() -> dict[str, object] | None:
            answer = httpx.get(url, headers=self.headers, timeout=10).json()
            return answer if answer.get("state") == "ended" else None

        found = eventually(row)
        assert isinstance(found, dict)
        return found

    def streams(self) -> int:
        """How many the engine holds now."""
        with grpc.insecure_channel(next(iter(self.plan.engines))) as channel:
            stub = engine_pb2_grpc.EngineStub(channel)
            status: pb.EngineStatus = stub.Status(pb.StatusRequest(), timeout=5)
            return status.streams

    def processes(self) -> dict[int, str]:
        """Every process of this product but the launcher: their ids and command lines."""
        marker = f"PARLANCE_DATA={self.plan.data}".encode()
        return {pid: command for pid, command in _processes(marker) if pid != self.process.pid}

    def find(self, word: str) -> int:
        """The oldest of its processes whose command line has the word."""
        return min(pid for pid, command in self.processes().items() if word in command)

    def _has_welcomed(self) -> bool:
        return "Hear it:" in self.said()


def _processes(marker: bytes) -> list[tuple[int, str]]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append((int(folder.name), command))
        except (OSError, ValueError):
            continue
    return found
