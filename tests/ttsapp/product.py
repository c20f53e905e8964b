"""The whole product as its own processes: engine, web server, database file."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import grpc
import httpx

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from tests.ttsapp.conftest import eventually

PATIENCE = 60.0


class Product:
    """`folder` keeps its database and sockets; `with` starts it and stops it."""

    def __init__(self, folder: Path, checkpoint: Path, **environment: str) -> None:
        self.folder = folder
        self.checkpoint = checkpoint
        self.engine_target = f"unix:{folder}/engine.sock"
        self.environment = {
            **os.environ,
            "PARLANCE_DATA": str(folder),
            "PARLANCE_ENGINE": self.engine_target,
            "DATABASE_URL": f"sqlite://{folder}/parlance.sqlite3",
            "DJANGO_SETTINGS_MODULE": "ttsapp.settings",
            **environment,
        }
        self.environment.pop("REDIS_URL", None)
        self.base = f"http://127.0.0.1:{_free_port()}"
        self._stack = ExitStack()

    def __enter__(self) -> Product:
        self.manage("migrate", "-v", "0")
        self.key = json.loads(self.manage("bootstrap", "--json"))["key"]
        self.headers = {"Authorization": f"Bearer {self.key}"}
        self.engine = self.start_engine()
        self.web = self.start_web()
        eventually(self.is_ready, PATIENCE)
        channel = self._stack.enter_context(grpc.insecure_channel(self.engine_target))
        self.stub = engine_pb2_grpc.EngineStub(channel)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        run = subprocess.run(
            command, env=self.environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return run.stdout

    def start_engine(self) -> subprocess.Popen[bytes]:
        arguments = ["serve", "--checkpoint", str(self.checkpoint), "--device", "cpu"]
        arguments += ["--listen", self.engine_target, "--threads", "1", "--max-positions", "512"]
        return self._start([sys.executable, "-m", "gpu_engine", *arguments], "engine.log")

    def start_web(self) -> subprocess.Popen[bytes]:
        port = self.base.rsplit(":", 1)[1]
        return self._start([sys.executable, "manage.py", "serve", "--port", port], "web.log")

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.base}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def streams(self) -> int:
        """How many the engine holds now."""
        return self.stub.Status(pb.StatusRequest(), timeout=5).streams

    def core(self) -> int:
        """The process id of the engine's core, the front's only child."""
        front = self.engine.pid
        return int(Path(f"/proc/{front}/task/{front}/children").read_text().split()[0])

    def usage(self) -> list[tuple[str, int, int]]:
        """(outcome, billed characters, audio ms) of every event, oldest first."""
        return [
            tuple(row)
            for row in self._query(
                "SELECT outcome, billed_characters, audio_ms FROM billing_usageevent ORDER BY id"
            )
        ]

    def reservations(self) -> int:
        return self._query("SELECT count(*) FROM billing_reservation")[0][0]

    def _query(self, sql: str) -> list[tuple]:
        import sqlite3

        with sqlite3.connect(self.folder / "parlance.sqlite3") as connection:
            return connection.execute(sql).fetchall()

    def _start(self, command: list[str], log: str) -> subprocess.Popen[bytes]:
        file = self._stack.enter_context((self.folder / log).open("ab"))
        process = subprocess.Popen(command, env=self.environment, stdout=file, stderr=file)
        self._stack.callback(_stop, process)
        return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
