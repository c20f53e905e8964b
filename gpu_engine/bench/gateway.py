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

from gpu_engine.bench import forms
from gpu_engine.bench.first_audio import TEXT, Grpc, Http, Window, window
from gpu_engine.bench.machine import describe
from gpu_engine.bench.scripted import MODEL, VOICE

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60.0
WARM_UP_SECONDS = 1.5
FORM_RATE = 10.0
PERCENTILES = (50, 95, 99)
HOST = "127.0.0.1"
Percentiles = dict[str, float]


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
    parser.add_argument("--requests", type=int, default=300, help="about so many in each window")
    parser.add_argument("--longest", type=float, default=12.0, help="seconds of a window at most")
    parser.add_argument("--rounds", type=int, default=2, help="windows each way, in turns")
    parser.add_argument("--form-seconds", type=float, default=2.5, help="of each API and format")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/gateway.json"))
    arguments = parser.parse_args()
    with running() as gateway:
        results = uvloop.run(_measure(gateway, arguments))
    machine = {**describe(), "command": "make bench-gateway"}
    report = {"machine": machine, "rounds": arguments.rounds, **results}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    _show(report)
    return 0


async def _measure(gateway: Gateway, arguments: argparse.Namespace) -> dict[str, Any]:
    raw = Grpc(gateway.engine, MODEL, VOICE)
    usual = Http(HOST, gateway.port, gateway.key, forms.openai(TEXT, VOICE))
    for ask in (raw.ask, usual.ask) * 2:
        await window(ask, 20.0, WARM_UP_SECONDS, 0)  # does not count
    rates = await _by_rate(raw, usual, gateway, arguments)
    by_form = await _by_form(raw, gateway, arguments.form_seconds)
    await raw.close()
    await usual.close()
    return {"rates": rates, "form_rate": FORM_RATE, "forms": by_form}


async def _by_form(raw: Grpc, gateway: Gateway, seconds: float) -> list[dict[str, Any]]:
    """Every API in PCM, and every format of OpenAI's."""
    engine = _percentiles((await window(raw.ask, FORM_RATE, seconds, 0)).first_audio_ms)
    found = []
    for form in forms.every(TEXT, VOICE):
        http = Http(HOST, gateway.port, gateway.key, form)
        await http.ask()  # opens a connection, and whatever is loaded for its format
        through = (await window(http.ask, FORM_RATE, seconds, 0)).first_audio_ms
        await http.close()
        asked = {"dialect": form.dialect, "format": form.format, "requests": len(through)}
        found.append({**asked, **_against(engine, _percentiles(through))})
    return found


async def _by_rate(
    raw: Grpc, http: Http, gateway: Gateway, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
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
    return results


def _round(straight: Window, through: Window) -> dict[str, Any]:
    engine, gateway = (_percentiles(taken.first_audio_ms) for taken in (straight, through))
    return {
        "requests": len(through.first_audio_ms),
        **_against(engine, gateway),
        "load_late_ms": _percentiles(through.late_ms),
        "load_average": round(os.getloadavg()[0], 2),
    }


def _against(engine: Percentiles, gateway: Percentiles) -> dict[str, Percentiles]:
    added = {name: round(gateway[name] - engine[name], 3) for name in engine}
    return {"engine_ms": engine, "gateway_ms": gateway, "added_ms": added}


def _percentiles(values: list[float]) -> Percentiles:
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


def _show(report: dict[str, Any]) -> None:
    rates = [(f"{entry['rate']:g} requests/s", entry["best"]) for entry in report["rates"]]
    by_form = [(f"{entry['dialect']}, {entry['format']}", entry) for entry in report["forms"]]
    table = Table(title="First audio in ms: straight from the engine, through the gateway, added")
    table.add_column(no_wrap=True)
    for heading in ("engine p50", "p95", "gateway p50", "p95", "added p50", "p95"):
        table.add_column(heading, justify="right")
    for name, row in rates + by_form:
        parts = ("engine_ms", "gateway_ms", "added_ms")
        cells = [f"{row[part][at]:.2f}" for part in parts for at in ("p50", "p95")]
        table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
