"""Readings as the words and numbers that the page shows: the same for its first view and for what
is sent afterwards, so that both have one format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ttsapp.console.charts import stroke
from ttsapp.console.live.kept import Past
from ttsapp.console.live.readings import BETWEEN, Cache, Memory, Module, Pinned, Reading, Wait
from ttsapp.console.live.sampler import Snapshot
from ttsapp.speech.history import FirstAudio

NOTHING, DRAINING = "none yet", "draining"
PARTS = {
    "weights": "weights",
    "kv": "keys and values",
    "state": "streams' other state",
    "graphs": "graphs and workspaces",
    "voices": "voices and beginnings",
    "rest": "all else",
}
# Minutes of a row of the table under the traces.
STEP = 5


def snapshot(found: Snapshot) -> dict[str, Any]:
    return {"engines": [engine(each) for each in found.engines], "waits": waits(found.waits)}


def engine(found: Reading) -> dict[str, Any]:
    interactive = found.waiting - found.waiting_background
    share = found.streams / found.capacity if found.capacity else 0.0
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
        "places": f"{found.capacity:,}",
        "capacity": f"of {found.capacity:,} at most",
        "fits": "unknown" if found.fits is None else f"{found.fits:,}",
        "waiting": f"{found.waiting:,}",
        "queue": f"{interactive:,} interactive, {found.waiting_background:,} background",
        "lead": f"{found.lead_median_ms / 1000:,.1f} s",
        "lead_low": f"{found.lead_low_ms / 1000:,.1f} s or more for 19 of 20",
        "realtime": f"{found.realtime:,.1f} \N{MULTIPLICATION SIGN}",
        "frames": f"{found.frames_per_second:,.0f} frames/s",
        "busy": percent(found.busy),
        "busy_share": round(100 * found.busy, 1),
        "streams_share": round(100 * share, 1),
        "streams_percent": percent(share),
        "underruns": f"{found.underruns:,}",
        "underruns_total": f"{found.underruns_total:,} since it started",
        "restarts": restarts(found.restarts),
        "memory": size(found.memory_bytes),
        "free": free(found.memory),
        "parts": parts(found.memory),
        "between": [wait(each) for each in found.waits],
        "modules": [module(each) for each in found.modules],
        "caches": [cache(each) for each in found.caches],
        "pinned": [pinned(each) for each in found.pinned],
    }


def past(found: Past) -> dict[str, Any]:
    """What the page begins with; its script goes on from there."""
    means = zip(_means(found.streams), _means(found.busy), strict=True)
    rows = [(STEP * place, *both) for place, both in enumerate(means)]
    return {"streams": _trace(found.streams), "busy": _trace(found.busy), "rows": rows}


def _trace(shares: Sequence[float | None]) -> dict[str, str]:
    path = stroke([None if share is None else 100 - share for share in shares])
    return {"path": path, "data": json.dumps(shares), "said": _said(shares)}


def _said(shares: Sequence[float | None]) -> str:
    known = [share for share in shares if share is not None]
    if not known:
        return "nothing noted yet"
    if len(known) < len(shares):
        return f"{len(shares) - len(known)} min not noted"
    return "" if any(known) else "idle all this time"


def _means(shares: Sequence[float | None]) -> Iterator[float | None]:
    """The newest first."""
    for end in range(len(shares), 0, -STEP):
        known = [share for share in shares[end - STEP : end] if share is not None]
        yield sum(known) / len(known) if known else None


def about(found: Reading) -> str:
    """What it serves, on what, and of which version: as far as it is known."""
    serves = f"serves {', '.join(found.models)}" if found.models else ""
    version = f"version {found.version}" if found.version else ""
    device = " ".join(filter(None, (found.device.upper(), found.hardware)))
    return " · ".join(filter(None, (serves, device, version)))


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
    if not count:
        return "never restarted"
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


def parts(found: Memory) -> list[dict[str, Any]]:
    """As rows of a table and as pieces of one bar, from `start` on, in per cent of what is held."""
    told, start = [], 0.0
    for name, count in found.parts:
        share = count / found.held if found.held else 0.0
        told.append(
            {
                "part": name,
                "name": PARTS.get(name, name),
                "bytes": size(count),
                "percent": percent(share),
                "start": round(start, 2),
                "share": round(100 * share, 2),
            }
        )
        start += 100 * share
    return told


def free(found: Memory) -> str:
    if not found.parts:
        return ""
    return f"holds {size(found.held)} now; {size(found.free)} of {size(found.total)} free beside it"


def wait(found: Wait) -> dict[str, str]:
    return {
        "name": " \N{RIGHTWARDS ARROW} ".join(BETWEEN.get(found.before, (found.before,))),
        "rows": f"{found.rows:,}",
        "median": milliseconds(found.median_ms),
        "p95": milliseconds(found.p95_ms),
    }


def milliseconds(count: float | None) -> str:
    if count is None:
        return "\N{EN DASH}"
    return f"{count:,.2f}" if count < 10 else f"{count:,.0f}"


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
