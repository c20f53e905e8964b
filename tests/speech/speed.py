"""How fast an engine with a checkpoint speaks: python -m tests.speech.speed CHECKPOINT

Starts an engine on one core, lets it say five sentences one after the other, and prints its CPU
time by seconds of speech, which other work on the machine hardly changes. The time by the clock is
only worth reading when nothing else runs: the load before it stands beside it. When the first audio
of the whole product comes is for `make bench-local`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from gpu_engine.bench.client import Take
from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.checkpoint import checkpoint_fingerprint
from tests.speech.listening import ROOT, sentences

COUNT = 5
PATIENCE = 180
TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def engine(checkpoint: Path) -> Iterator[tuple[str, int]]:
    """Its address and process, bound to one core."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/engine"
        command = ["-m", "gpu_engine", "serve", "--checkpoint", str(checkpoint), "--device", "cpu"]
        started = subprocess.Popen(
            ["taskset", "-c", "0", sys.executable, *command, "--threads", "1", "--listen", address],
            cwd=ROOT,
            env=os.environ | {"PARLANCE_DATA": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(PATIENCE)
            yield address, started.pid
        finally:
            started.terminate()
            started.wait(30)


def cpu_seconds(process: int) -> float:
    """Of a process and its children, as long as they live."""
    total, waiting = 0.0, [process]
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
        for task in (folder / "task").iterdir():
            waiting += map(int, (task / "children").read_text().split())
    return total


async def speak(address: str, process: int) -> tuple[list[Take], float]:
    """The takes, and the CPU time they took."""
    target, said, takes = EngineTarget(address), sentences(), []
    for _ in range(PATIENCE):  # the front answers before the core has loaded
        if not (await target.speak(said[-1].text, 0)).failure:
            break
        await asyncio.sleep(1)
    before = cpu_seconds(process)
    for number in range(COUNT):
        takes.append(await target.speak(said[number].text, number))
        if takes[-1].failure:
            raise SystemExit(f"the engine failed: {takes[-1].failure}")
    return takes, cpu_seconds(process) - before


def measure(checkpoint: Path) -> dict[str, Any]:
    load = os.getloadavg()[0]
    with engine(checkpoint) as (address, process):
        takes, cpu = asyncio.run(speak(address, process))
    seconds = sum(take.samples for take in takes) / SAMPLE_RATE
    return {
        "checkpoint": checkpoint_fingerprint(checkpoint),
        "load_average": round(load, 2),
        "cpu_rtf": round(cpu / seconds, 3),
        "wall_rtf": round(sum(take.total for take in takes) / seconds, 3),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    args = parser.parse_args()
    found = json.dumps(measure(args.checkpoint), indent=1)
    print(found)
    if args.out:
        args.out.write_text(found + "\n", "utf-8")


if __name__ == "__main__":
    main()
