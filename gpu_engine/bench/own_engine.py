"""An engine for one measurement: front and core as in production, on a socket in a folder."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.proto import engine_pb2 as pb

LOOK_S = 0.25
STOP_S = 10.0
LAST_LINES = 12
LOUD = ("warning", "error", "critical")


@asynccontextmanager
async def own_engine(
    checkpoint: Path, device: str, folder: Path, log: Path, *flags: str, within: float = 900.0
) -> AsyncIterator[str]:
    """Its address, once a synthesis has passed. Raises SystemExit with the end of its log where it
    does not come up `within` so many seconds."""
    address = f"unix:{folder}/engine.sock"
    command = [sys.executable, "-m", "gpu_engine", "serve", "--checkpoint", str(checkpoint)]
    command += ["--listen", address, "--device", device, "--aligner", "none", *flags]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(*command, stdout=out, stderr=out)
    try:
        try:
            async with asyncio.timeout(within):
                await _ready(process, EngineTarget(address, voice="-"), log)
        except TimeoutError:
            raise SystemExit(_end_of(log, f"was not ready after {within:.0f} s")) from None
        yield address
    finally:
        await _stop(process)


def warnings(log: Path) -> list[str]:
    """What an engine had to complain of: a device that fell back to slower ways says so there."""
    lines = log.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if any(f"level={level} " in line for level in LOUD)]


async def _ready(process: Process, target: EngineTarget, log: Path) -> None:
    while True:
        if process.returncode is not None:
            raise SystemExit(_end_of(log, "did not start"))
        try:
            if (await target.status()).state == pb.EngineStatus.STATE_READY:
                return
        except grpc.aio.AioRpcError:
            pass  # It does not listen yet.
        await asyncio.sleep(LOOK_S)


def _end_of(log: Path, what: str) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-LAST_LINES:]
    return "\n".join([f"the engine {what}:", *lines])


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
