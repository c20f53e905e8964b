"""One request from its arrival to its last byte: what it waited for, and each chunk of its audio
beside the moment at which it was played. Drawn as SVG, with tables that say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from ttsapp.speech.models import RequestLog
from ttsapp.speech.timeline import Heard, Timeline, heard, unpack

WIDTH = 1000
# Two lanes, and between them a line from when a chunk came to when it was played.
COME, PLAYED, LANE = 0, 64, 36
# However short a chunk is, it can be seen.
NARROWEST = 3.0
# Below this it is rounding.
SHORTEST_WAIT_MS = 2


@dataclass(frozen=True, slots=True)
class Stage:
    """`kind` names its colour."""

    kind: str
    name: str
    start_ms: int
    end_ms: int

    @property
    def took_ms(self) -> int:
        return self.end_ms - self.start_ms


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk. `gap`: how playback waited before it, by whose doing; empty if it did not."""

    number: int
    heard: Heard
    gap: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`end_ms`: when all was handed over and played. `gaps`: times that playback waited for us,
    `pauses`: for text or its reader."""

    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]
    is_whole: bool
    left_out: int
    end_ms: int
    gaps: int
    pauses: int

    @property
    def height(self) -> int:
        return LANE if self.is_whole else PLAYED + LANE

    @property
    def bar(self) -> SafeString:
        """The stages, one behind the other."""
        scale = WIDTH / max(1, self.stages[-1].end_ms)
        return mark_safe("".join(_bar(stage, scale) for stage in self.stages))

    @property
    def drawing(self) -> SafeString:
        scale = WIDTH / max(1, self.end_ms)
        parts = [_drawn(row, scale, self.is_whole) for row in self.rows]
        return mark_safe("".join(parts))


def shown(log: RequestLog) -> Shown | None:
    """None for what never reached the engine, and what an earlier version logged without audio."""
    timeline = unpack(log.timeline)
    stages = tuple(_stages(log, timeline))
    if not stages:
        return None
    rows = tuple(_rows(timeline)) if timeline else ()
    is_whole = timeline is not None and timeline.is_whole
    ends = [] if is_whole else [row.heard.ended_ms for row in rows]
    gaps = sum(row.heard.chunk.is_late for row in rows)
    pauses = sum(bool(row.gap) for row in rows) - gaps
    left_out = timeline.left_out if timeline else 0
    return Shown(stages, rows, is_whole, left_out, max(log.total_ms, *ends, 1), gaps, pauses)


def _stages(log: RequestLog, timeline: Timeline | None) -> Iterator[Stage]:
    """Between the moments that are known."""
    if not log.total_ms or (timeline is None and log.first_audio_ms is None):
        return
    asked = timeline.asked_ms if timeline else None
    accepted = timeline.accepted_ms if timeline else None
    last = timeline.chunks[-1].came_ms if timeline and timeline.chunks else None
    ends = (
        ("admission", "text made ready, limits asked", asked),
        ("queue", "taken by the engine", accepted),
        ("first", "until first audio", log.first_audio_ms),
        ("audio", "until the last chunk", last),
        ("end" if timeline else "audio", "until the last byte", log.total_ms),
    )
    start = 0
    for kind, name, end in ends:
        if end is not None:
            yield Stage(kind, name, start, max(start, end))
            start = max(start, end)


def _rows(timeline: Timeline) -> Iterator[Row]:
    for number, each in enumerate(heard(timeline.chunks), 1):
        yield Row(number, each, "" if timeline.is_whole else _gap(each))


def _gap(each: Heard) -> str:
    if each.chunk.is_late:
        return f"{max(1, each.waited_ms):,} ms for us"
    if each.waited_ms < SHORTEST_WAIT_MS:
        return ""
    return f"{each.waited_ms:,} ms for text or reader"


def _bar(stage: Stage, scale: float) -> str:
    title = escape(f"{stage.name}: {stage.took_ms:,} ms")
    rect = _rect(stage.kind, scale * stage.start_ms, 0, scale * stage.took_ms, 10)
    return f"<g><title>{title}</title>{rect}</g>"


def _drawn(row: Row, scale: float, is_whole: bool) -> str:
    each = row.heard
    came, audio = scale * each.chunk.came_ms, scale * each.chunk.audio_ms
    title = (
        f"Chunk {row.number}: {each.chunk.audio_ms:,} ms of audio after {each.chunk.came_ms:,} ms"
    )
    parts = [_rect("come", came, COME, NARROWEST, LANE)]
    if not is_whole:
        played = scale * each.played_ms
        title += f", played from {each.played_ms:,} ms"
        if row.gap:
            title += f"; playback waited {row.gap}"
            kind = "late" if each.chunk.is_late else "pause"
            waited = max(NARROWEST, scale * each.waited_ms)
            parts.append(_rect(kind, played - waited, PLAYED, waited, LANE))
        line = f"M{came:.4g},{COME + LANE}L{played:.4g},{PLAYED}"
        parts.append(f'<path d="{line}"/>')
        # A sliver of the lane stays free, so that chunks can be told apart.
        parts.append(_rect("played", played, PLAYED, max(NARROWEST, audio - 1), LANE))
    return f"<g><title>{escape(title)}</title>{''.join(parts)}</g>"


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.5g}" y="{y}" width="{width:.5g}" height="{height}"/>'
