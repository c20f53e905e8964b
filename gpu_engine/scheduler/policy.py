"""Who goes first. Every stream has one deadline, an instant that only its own progress moves: new
streams always fall behind old ones sooner or later, so none can starve."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_engine.scheduler.stream import Stage, Stream

RAMPS: dict[str, tuple[int, ...]] = {
    "latency": (1, 2, 4, 8),
    "balanced": (2, 2, 4, 8, 16),
    "throughput": (8, 16),
}


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Limits and instants of the scheduler; seconds unless the name says otherwise."""

    slots: int = 8
    waiting: int = 32
    prefill_rows: int = 1
    step_rows: int = 8
    codec_frames: int = 32
    first_audio_target: float = 0.1
    join_head_start: float = 0.2
    margin: float = 0.2
    rush: float = 0.25
    busy_lead: float = 3.0
    idle_lead: float = 12.0
    fill_horizon: float = 1.0
    background_patience: float = 5.0


def deadline(stream: Stream, settings: SchedulerSettings) -> float:
    """No audio yet: soon after arrival; its prefill sooner, because a stream that has joined shares
    every later step. Playing: a margin before the client runs dry. Background work has nobody
    listening: it only must not wait for ever."""
    if stream.background:
        return stream.progressed + settings.background_patience
    if stream.first_audio_at is None:
        early = settings.join_head_start if stream.stage == Stage.PREFILL else 0.0
        return stream.arrived + settings.first_audio_target - early
    return stream.dry_at - settings.margin


def within_lead(stream: Stream, lead: float, now: float) -> bool:
    """True while the stream may generate: pacing holds back only what a listener can't use yet."""
    return not stream.paced or stream.background or stream.ahead(now) < lead
