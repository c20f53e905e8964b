"""`make bench-gateway`: what the control plane adds to first audio.

The real web server, with a database, keys and metering, stands in front of an engine that answers
at once. The same open-loop load goes through it and, in turns, straight to that engine: the
difference is the control plane's. Load, web server and engine share this machine."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import uvloop
from rich.console import Console
from rich.table import Table

from gpu_engine.bench.first_audio import Grpc, Http, Window, window
from gpu_engine.bench.machine import describe
from gpu_engine.bench.scripted import MODEL, VOICE

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60.0
PERCENTILES = (50, 95, 99)
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running pair of engine and web server."""

    engine: str
    port: int
    key: str
    web: int  # process id

    def cpu_seconds(self) -> float:
        """Of the web process so far: unlike latency it hardly knows what runs beside."""
        fields = Path(f"/proc/{self.web}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=float, nargs="+", default=[1.0, 10.0, 50.0])
    parser.add_argument("--requests", type=int, default=600, help="about so many in each window")
    parser.add_argument("--longest", type=float, default=30.0, help="seconds of a window at most")
    parser.add_argument("--rounds", type=int, default=3, help="windows each way, in turns")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/gateway.json"))
    arguments = parser.parse_args()
    with running() as gateway:
        results = uvloop.run(_measure(gateway, arguments))
    machine = {**describe(), "command": "make bench-gateway"}
    report = {"machine": machine, "rounds": arguments.rounds, "rates": results}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    _show(results)
    return 0


async def _measure(gateway: Gateway, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    raw = Grpc(gateway.engine, MODEL, VOICE)
    http = Http(HOST, gateway.port, gateway.key, VOICE)
    for ask in (raw.ask, http.ask) * 2:
        await window(ask, 20.0, 2.0, 0)  # does not count
    results = []
    for rate in arguments.rates:
        seconds = min(arguments.longest, arguments.requests / rate)
        rounds = []
        for seed in range(arguments.rounds):
            straight = await window(raw.ask, rate, seconds, seed)
            cpu = gateway.cpu_seconds()
            through = await window(http.ask, rate, seconds, seed)
            cpu = (gateway.cpu_seconds() - cpu) * 1000 / len(through.first_audio_ms)
            rounds.append({**_round(straight, through), "web_cpu_ms_a_request": round(cpu, 2)})
        best = min(rounds, key=lambda entry: float(entry["added_ms"]["p50"]))
        results.append({"rate": rate, "seconds": seconds, "best": best, "rounds": rounds})
    await raw.close()
    await http.close()
    return results


def _round(straight: Window, through: Window) -> dict[str, Any]:
    engine, gateway = (_percentiles(taken.first_audio_ms) for taken in (straight, through))
    return {
        "requests": len(through.first_audio_ms),
        "engine_ms": engine,
        "gateway_ms": gateway,
        "added_ms": {name: round(gateway[name] - engine[name], 3) for name in engine},
        "load_late_ms": _percentiles(through.late_ms),
        "load_average": round(os.getloadavg()[0], 2),
    }


def _percentiles(values: list[float]) -> dict[str, float]:
    found = np.percentile(values, PERCENTILES)
    return {
        f"p{name}": round(float(value), 3) for name, value in zip(PERCENTILES, found, strict=True)
    }


@contextmanager
def running() -> Iterator[Gateway]:
    """Both processes in a folder of their own; neither outlives the block."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        engine = f"unix:{folder}/engine.sock"
        port = _free_port()
        environment = {
            **{name: value for name, value in os.environ.items() if name != "REDIS_URL"},
            "DJANGO_SETTINGS_MODULE": "ttsapp.settings",
            "DATABASE_URL": os.environ.get("DATABASE_URL", f"sqlite://{folder}/bench.sqlite3"),
            "PARLANCE_DATA": folder,
            "PARLANCE_ENGINE": engine,
        }
        log = stack.enter_context((Path(folder) / "log").open("wb"))

        def start(*command: str) -> int:
            process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
            stack.callback(_stop, process)
            return process.pid

        def manage(*command: str) -> str:
            run = [sys.executable, "manage.py", *command]
            done = subprocess.run(
                run, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            return done.stdout

        start("-m", "gpu_engine.bench.scripted", "--listen", engine)
        manage("migrate", "-v", "0")
        key = json.loads(manage("bootstrap", "--json", "--new-key"))["key"]
        web = start("manage.py", "serve", "--port", str(port))
        _wait(engine, port)
        yield Gateway(engine, port, key, web)


def _wait(engine: str, port: int) -> None:
    with grpc.insecure_channel(engine) as channel:
        grpc.channel_ready_future(channel).result(START_SECONDS)
    limit = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        if time.monotonic() > limit:
            raise TimeoutError("the web server did not start")
        time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _show(results: list[dict[str, Any]]) -> None:
    table = Table(title="First audio in ms: straight from the engine, through the gateway, added")
    for heading in ("requests/s", "engine p50", "p95", "gateway p50", "p95", "added p50", "p95"):
        table.add_column(heading, justify="right")
    for entry in results:
        best = entry["best"]
        parts = ("engine_ms", "gateway_ms", "added_ms")
        cells = [f"{best[part][name]:.2f}" for part in parts for name in ("p50", "p95")]
        table.add_row(f"{entry['rate']:g}", *cells)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
