"""The product at work on the filled database, and its pages opened one after the other."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

from django.db import connection

from gpu_engine.bench.summary import percentile
from ttsapp.launch.plan import ROOT, Plan

PATIENCE = 120.0
WARM = 2


@contextmanager
def product(plan: Plan) -> Iterator[list[int]]:
    """An engine and one web process; the id of the latter."""
    commands = [*plan.engine_commands(), plan.web_command()]
    started = [subprocess.Popen(command, cwd=ROOT) for command in commands]
    try:
        _until_ready(plan)
        yield [started[-1].pid]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(PATIENCE)


def visits(
    plan: Plan, session: str, addresses: Sequence[str], repeats: int, processes: Sequence[int]
) -> dict[str, dict[str, float]]:
    """Milliseconds until all of a page has arrived; and of processor time, of the web process and
    its database connections (but not of Postgres' parallel workers), whatever else is running."""
    client = HTTPConnection(plan.host, plan.port, timeout=PATIENCE)
    headers = {"Cookie": f"sessionid={session}"}
    measured = {}
    for address in addresses:
        for _ in range(WARM):
            size = _visit(client, address, headers)
        times = [_timed(client, address, headers, processes) for _ in range(repeats)]
        waits, work = zip(*times, strict=True)
        measured[address] = {
            "p50_ms": round(percentile(waits, 50), 1),
            "p95_ms": round(percentile(waits, 95), 1),
            "cpu_p50_ms": round(percentile(work, 50), 1),
            "cpu_p95_ms": round(percentile(work, 95), 1),
            "kib": round(size / 1024, 1),
        }
    return measured


def _timed(
    client: HTTPConnection, address: str, headers: dict[str, str], processes: Sequence[int]
) -> tuple[float, float]:
    working = [*processes, *_backends()]
    before, began = _processor_ms(working), time.perf_counter()
    _visit(client, address, headers)
    took = (time.perf_counter() - began) * 1000
    return took, _processor_ms(working) - before


def _visit(client: HTTPConnection, address: str, headers: dict[str, str]) -> int:
    client.request("GET", address, headers=headers)
    response = client.getresponse()
    content = response.read()
    if response.status != 200:
        raise SystemExit(f"{address} answered {response.status}: it is no page to measure")
    return len(content)


def _backends() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return [pid for (pid,) in cursor.fetchall()]


def _processor_ms(processes: Sequence[int]) -> float:
    """Of all their threads. What runs on another machine, or has ended, counts nothing."""
    total = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with suppress(OSError):
                total += int(thread.read_text("ascii").split()[0])
    return total / 1e6


def _until_ready(plan: Plan) -> None:
    """Pages that tell of the engine are to find one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(OSError):
            client = HTTPConnection(plan.host, plan.port, timeout=5)
            client.request("GET", "/readyz")
            if client.getresponse().status == 200:
                return
        time.sleep(0.5)
    raise SystemExit("the product did not become ready")
