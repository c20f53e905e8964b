"""A trace as a file that Perfetto opens: Chrome's trace event format, packed.

One track a module, whose jobs show what ran and the gaps between; a line for each stream from its
arrival to its end; and how many live and wait."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import msgspec

from gpu_engine import messages as m
from gpu_engine.version import version

# In the order in which a stream passes through them.
TRACKS = ("prefill", "talker", "predictor", "codec", "encode", "align")
PROCESS = 1


class TraceFile:
    def __init__(self, engine_id: str) -> None:
        self._engine_id = engine_id
        self.jobs: list[m.TracedJob] = []
        self._streams: list[m.TracedStream] = []
        self.is_cut = False

    def add(self, part: m.TracePart) -> None:
        self.jobs += part.jobs
        self._streams += part.streams
        self.is_cut |= part.is_cut

    def packed(self) -> bytes:
        content = {
            "displayTimeUnit": "ms",
            "otherData": {"engine": self._engine_id, "version": version()},
            "traceEvents": [*self._names(), *map(_job, self.jobs), *self._lives()],
        }
        return gzip.compress(msgspec.json.encode(content), compresslevel=6)

    def _names(self) -> Iterator[dict[str, Any]]:
        yield _event("M", "process_name", args={"name": f"engine {self._engine_id}"})
        for place, name in enumerate(TRACKS, start=1):
            yield _event("M", "thread_name", tid=place, args={"name": name})
            yield _event("M", "thread_sort_index", tid=place, args={"sort_index": place})

    def _lives(self) -> Iterator[dict[str, Any]]:
        """A stream's line ends with its end, or where the trace does."""
        begun, last = set(), 0
        for each in self._streams:
            last = max(last, each.at)
            yield _event("C", "streams", ts=each.at, args={"live": each.live})
            yield _event("C", "waiting for first audio", ts=each.at, args={"streams": each.waiting})
            if each.what == "begin":
                begun.add(each.stream)
            elif each.what == "end":
                begun.discard(each.stream)
            yield _moment(each.stream, each.what, each.at)
        last = max([last, *(job.at + job.length for job in self.jobs)])
        for stream in sorted(begun):
            yield _moment(stream, "end", last)


def _job(job: m.TracedJob) -> dict[str, Any]:
    told = {"rows": job.rows, "frames": job.frames, "device_ms": job.device_us / 1000}
    track = TRACKS.index(job.kind) + 1
    return _event("X", job.kind, tid=track, ts=job.at, dur=job.length, args=told)


def _moment(stream: int, what: str, at: int) -> dict[str, Any]:
    phase = {"begin": "b", "end": "e"}.get(what, "n")
    name = f"stream {stream}" if phase != "n" else what
    return _event(phase, name, ts=at, cat="streams", id=stream)


def _event(phase: str, name: str, **more: Any) -> dict[str, Any]:
    return {"ph": phase, "name": name, "pid": PROCESS, "tid": 0, **more}
