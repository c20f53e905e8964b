"""What two looks at an engine's status say of the time between them: pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpu_engine.proto import engine_pb2
from gpu_engine.proto.engine_pb2 import EngineStatus

FRAME_SECONDS = 0.08
# The order in which a stream passes through them; others follow.
MODULES = ("prefill", "talker", "predictor", "codec")
# What a stream passes between, by what it waits for, in this order; then, what memory is for.
BETWEEN = {
    "place": ("request", "place"),
    "prefill": ("place", "prefill"),
    "talker": ("predictor", "Talker"),
    "predictor": ("prefill or Talker", "predictor"),
    "codec": ("predictor", "codec"),
    "sent": ("codec", "way out"),
}
PARTS = ("weights", "kv", "state", "graphs", "voices", "rest")
# Between looks that are further apart, the engine was not watched.
OLDEST_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A status and when, on the monotonic clock, it was told."""

    at: float
    status: EngineStatus


@dataclass(frozen=True, slots=True)
class Module:
    """`occupancy`: rows a step; None where it made no step. `busy`: share of the device's time."""

    name: str
    steps_per_second: float
    occupancy: float | None
    busy: float
    last_ms: float


@dataclass(frozen=True, slots=True)
class Cache:
    """`hit_share` is None until somebody asked."""

    name: str
    entries: int
    bytes: int
    most_bytes: int
    hit_share: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Before a module, over the last minute; the times are None where nobody came by."""

    before: str
    rows: int
    median_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: what is held, by part, what is free beside it, and what there is in all. Without parts
    the engine does not tell."""

    parts: tuple[tuple[str, int], ...]
    free: int
    total: int

    @property
    def held(self) -> int:
        return sum(count for _, count in self.parts)


UNTOLD = Memory((), 0, 0)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A voice that stays in the engine's caches: `entries` in all of them."""

    id: str
    name: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Reading:
    """`realtime`: seconds of speech made a second. `frame_cost`: seconds of the device a frame,
    None before the first. `fits`: how many more streams fit at that cost. `number`: its place in
    the setting, from 1 on."""

    id: str
    version: str
    device: str
    state: str
    uptime_seconds: float
    streams: int
    capacity: int
    waiting: int
    waiting_background: int
    lead_low_ms: int
    lead_median_ms: int
    frames_per_second: float
    underruns: int
    underruns_total: int
    restarts: int
    memory_bytes: int
    modules: tuple[Module, ...]
    caches: tuple[Cache, ...]
    frame_cost: float | None
    models: tuple[str, ...] = ()
    pinned: tuple[Pinned, ...] = ()
    number: int = 0
    hardware: str = ""
    memory: Memory = UNTOLD
    waits: tuple[Wait, ...] = ()

    @property
    def realtime(self) -> float:
        return self.frames_per_second * FRAME_SECONDS

    @property
    def busy(self) -> float:
        return min(1.0, sum(module.busy for module in self.modules))

    @property
    def fits(self) -> int | None:
        if self.state != "ready":
            return 0
        if self.frame_cost is None:
            return None
        most = min(self.capacity, int(FRAME_SECONDS / self.frame_cost))
        return max(0, most - self.streams)


def away(name: str) -> Reading:
    """An engine that does not answer."""
    return Reading(
        id=name,
        version="",
        device="",
        state="away",
        uptime_seconds=0.0,
        streams=0,
        capacity=0,
        waiting=0,
        waiting_background=0,
        lead_low_ms=0,
        lead_median_ms=0,
        frames_per_second=0.0,
        underruns=0,
        underruns_total=0,
        restarts=0,
        memory_bytes=0,
        modules=(),
        caches=(),
        frame_cost=None,
    )


def reading(before: Sample | None, now: Sample, known_cost: float | None = None) -> Reading:
    """`known_cost`: of a frame, from an earlier look, for times at which none is made."""
    status = now.status
    since = before if before is not None and _is_before(before, now) else None
    seconds = now.at - since.at if since else 0.0
    frames = status.frames_total - since.status.frames_total if since else 0
    names = _in_order(MODULES, status.modules)
    modules = tuple(_module(name, since, now, seconds) for name in names)
    spent = sum(module.busy for module in modules) * seconds
    return Reading(
        id=status.engine_id,
        version=status.version,
        device=status.device,
        state=state_of(status),
        uptime_seconds=status.uptime_seconds,
        streams=status.streams,
        capacity=status.capacity,
        waiting=status.waiting_first_audio,
        waiting_background=status.waiting_background,
        lead_low_ms=status.lead_low_ms,
        lead_median_ms=status.lead_median_ms,
        frames_per_second=frames / seconds if seconds else 0.0,
        underruns=status.underruns_total - since.status.underruns_total if since else 0,
        underruns_total=status.underruns_total,
        restarts=status.core_restarts,
        memory_bytes=status.memory_bytes,
        modules=modules,
        caches=tuple(_cache(name, status.caches[name]) for name in sorted(status.caches)),
        pinned=tuple(
            Pinned(held.id, held.name, held.entries, held.bytes) for held in status.pinned
        ),
        frame_cost=spent / frames if frames and spent else known_cost or _mean_cost(status),
        hardware=status.hardware,
        memory=_memory(status.memory),
        waits=tuple(_wait(name, status.waits[name]) for name in _in_order(BETWEEN, status.waits)),
    )


def state_of(status: EngineStatus) -> str:
    """One that is down with a core that may come back to itself is suspect."""
    if status.silent:
        return "suspect"
    return EngineStatus.State.Name(status.state).removeprefix("STATE_").lower()


def _mean_cost(status: EngineStatus) -> float | None:
    """Of all frames since the core started: for who has just begun to watch."""
    spent = sum(status.modules[name].busy_seconds for name in MODULES if name in status.modules)
    return spent / status.frames_total if status.frames_total and spent else None


def _is_before(before: Sample, now: Sample) -> bool:
    """Of the same core: its counters only grow."""
    same = before.status.core_restarts == now.status.core_restarts
    grown = before.status.frames_total <= now.status.frames_total
    return same and grown and 0 < now.at - before.at <= OLDEST_SECONDS


def _in_order(known: Iterable[str], told: Mapping[str, object]) -> list[str]:
    """What is told; names of a newer engine last."""
    return [*(name for name in known if name in told), *sorted(set(told) - set(known))]


def _memory(told: engine_pb2.MemoryStatus) -> Memory:
    parts = tuple((name, told.parts[name]) for name in _in_order(PARTS, told.parts))
    return Memory(parts, told.free_bytes, told.total_bytes)


def _wait(name: str, told: engine_pb2.WaitStatus) -> Wait:
    if not told.rows:
        return Wait(name, 0, None, None)
    return Wait(name, told.rows, told.median_ms, told.p95_ms)


def _module(name: str, before: Sample | None, now: Sample, seconds: float) -> Module:
    current = now.status.modules[name]
    if before is None:
        return Module(name, 0.0, None, 0.0, current.last_ms)
    earlier = before.status.modules[name]
    steps = current.steps - earlier.steps
    return Module(
        name=name,
        steps_per_second=steps / seconds,
        occupancy=(current.rows - earlier.rows) / steps if steps else None,
        busy=(current.busy_seconds - earlier.busy_seconds) / seconds,
        last_ms=current.last_ms,
    )


def _cache(name: str, kept: engine_pb2.CacheStatus) -> Cache:
    asked = kept.hits + kept.misses
    share = kept.hits / asked if asked else None
    return Cache(name, kept.entries, kept.bytes, kept.most_bytes, share)
