"""What the core's memory is for, by part, and what is left beside it."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from gpu_engine import messages as m
from gpu_engine.runner import Device
from gpu_engine.runner.memory import nbytes, tensors_of

# Looking takes the host a millisecond or so: not with every heartbeat.
EVERY_S = 10.0
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes: what this process holds, what is free, and what there is in all."""

    held: int
    free: int
    total: int


class Meter:
    """Measures weights and graphs once, the rest from time to time; voices are told by their
    caches. `beside`: what else holds weights, such as an aligner."""

    def __init__(self, device: Device, *beside: object) -> None:
        self._footprint, self._kept = device.footprint, device.kept
        self._is_gpu = self._footprint.kv[0].device.type == "cuda"
        self._weights = nbytes(self._footprint.weights) + nbytes(tensors_of(*beside))
        self._at = float("-inf")
        self._parts: dict[str, int] = {}
        self._room = Room(0, 0, 0)

    def told(self, now: float) -> m.MemoryUse:
        if now - self._at >= EVERY_S:
            self._at = now
            self._look()
        voices = sum(stats.nbytes for stats in self._kept.stats().values())
        parts = self._parts | {"voices": voices}
        rest = max(0, self._room.held - sum(parts.values()))
        return m.MemoryUse(parts | {"rest": rest}, self._room.free, self._room.total)

    def _look(self) -> None:
        footprint = self._footprint
        self._parts = {
            "weights": self._weights,
            "kv": nbytes(footprint.kv),
            "state": nbytes(footprint.state),
            "graphs": footprint.graphs,
        }
        self._room = of_gpu() if self._is_gpu else of_host()


def of_gpu() -> Room:
    free, total = torch.cuda.mem_get_info()
    return Room(torch.cuda.memory_reserved(), free, total)


def of_host() -> Room:
    """Of the machine, or of the container where that has less."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    machine = _machine()
    free, total = machine["MemAvailable"], machine["MemTotal"]
    limit, used = _container()
    if limit is not None and limit < total:
        free, total = min(free, max(0, limit - used)), limit
    return Room(pages * mmap.PAGESIZE, free, total)


def _machine() -> Mapping[str, int]:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return {name: 1024 * int(rest.split()[0]) for name, rest in (line.split(":") for line in lines)}


def _container() -> tuple[int | None, int]:
    """Its bound and what of that is used, files that could be dropped aside."""
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        stats = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
    except OSError:
        return None, 0
    return (None if limit == "max" else int(limit)), used - int(stats.get("inactive_file", 0))
