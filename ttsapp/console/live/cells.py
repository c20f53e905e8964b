"""Readings as the words and numbers that the page shows: the same for its first view and for what
is sent afterwards, so that both have one format."""

from __future__ import annotations

from typing import Any

from ttsapp.console.live.readings import Cache, Module, Pinned, Reading
from ttsapp.console.live.sampler import Snapshot
from ttsapp.speech.history import FirstAudio

NOTHING, DRAINING = "none yet", "draining"


def snapshot(found: Snapshot) -> dict[str, Any]:
    return {"engines": [engine(each) for each in found.engines], "waits": waits(found.waits)}


def engine(found: Reading) -> dict[str, Any]:
    interactive = found.waiting - found.waiting_background
    return {
        "number": found.number,
        "id": found.id,
        "about": about(found),
        "models": ", ".join(found.models),
        "state": found.state,
        "drain": drain(found),
        "is_draining": found.state == DRAINING,
        "uptime": duration(found.uptime_seconds),
        "streams": f"{found.streams:,}",
        "capacity": f"of {found.capacity:,} at most",
        "fits": "unknown" if found.fits is None else f"{found.fits:,}",
        "waiting": f"{found.waiting:,}",
        "queue": f"{interactive:,} interactive, {found.waiting_background:,} background",
        "lead": f"{found.lead_median_ms / 1000:,.1f} s",
        "lead_low": f"{found.lead_low_ms / 1000:,.1f} s or more for 19 of 20",
        "realtime": f"{found.realtime:,.1f} times",
        "frames": f"{found.frames_per_second:,.0f} frames/s",
        "busy": percent(found.busy),
        "busy_share": round(100 * found.busy, 1),
        "streams_share": round(100 * found.streams / found.capacity, 1) if found.capacity else 0,
        "underruns": f"{found.underruns:,}",
        "underruns_total": f"{found.underruns_total:,} since it started",
        "restarts": restarts(found.restarts),
        "memory": size(found.memory_bytes),
        "modules": [module(each) for each in found.modules],
        "caches": [cache(each) for each in found.caches],
        "pinned": [pinned(each) for each in found.pinned],
    }


def about(found: Reading) -> str:
    """What it serves, on what, and of which version: as far as it is known."""
    serves = f"serves {', '.join(found.models)}" if found.models else ""
    version = f"version {found.version}" if found.version else ""
    return " · ".join(filter(None, (serves, found.device, version)))


def drain(found: Reading) -> str:
    """How far a drained engine is."""
    if found.state != DRAINING:
        return ""
    if not found.streams:
        return "Takes no new work, and nothing runs any more: it may be stopped."
    streams = (
        "1 stream still runs" if found.streams == 1 else f"{found.streams:,} streams still run"
    )
    return f"Takes no new work; {streams}."


def pinned(found: Pinned) -> dict[str, Any]:
    kept = "comes with its first use" if not found.entries else f"{found.entries:,}"
    return {"id": found.id, "name": found.name, "entries": kept, "bytes": size(found.bytes)}


def restarts(count: int) -> str:
    return "restarted once" if count == 1 else f"restarted {count:,} times"


def module(found: Module) -> dict[str, Any]:
    return {
        "name": found.name,
        "steps": f"{found.steps_per_second:,.0f}",
        "occupancy": "idle" if found.occupancy is None else f"{found.occupancy:,.1f}",
        "busy": percent(found.busy),
        "busy_share": round(100 * min(1.0, found.busy), 1),
        "last": f"{found.last_ms:,.2f}",
    }


def cache(found: Cache) -> dict[str, Any]:
    return {
        "name": found.name,
        "entries": f"{found.entries:,}",
        "bytes": size(found.bytes),
        "most": size(found.most_bytes),
        "hits": NOTHING if found.hit_share is None else percent(found.hit_share),
    }


def waits(found: FirstAudio | None) -> dict[str, Any]:
    if found is None:
        return {"p50": NOTHING, "p95": NOTHING, "p99": NOTHING, "count": "0"}
    return {
        "p50": f"{found.p50:,} ms",
        "p95": f"{found.p95:,} ms",
        "p99": f"{found.p99:,} ms",
        "count": f"{found.count:,}",
    }


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def size(count: int) -> str:
    """Binary units, as memory is sold."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"


def duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"
