"""The units of work and, for each module, which streams could use it now and how many fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gpu_engine.scheduler.stream import Stage, Stream


class Kind(StrEnum):
    """A job's module. Their order here is the order within one stream: audio out comes first."""

    CODEC = "codec"
    PREFILL = "prefill"
    TALKER = "talker"
    PREDICTOR = "predictor"
    ENCODE = "encode"


@dataclass(frozen=True, slots=True)
class Job:
    """Short and never pre-empted. `frames` is set for codec jobs, `clip` for voice encoding."""

    kind: Kind
    rows: tuple[Stream, ...] = ()
    frames: int = 0
    clip: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """What a job did: ids whose Talker said stop, ids that broke, seconds of audio delivered."""

    stopped: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()
    delivered: dict[int, float] = field(default_factory=dict)


STEP_OF_STAGE = {
    Stage.PREFILL: Kind.PREFILL,
    Stage.TALK: Kind.TALKER,
    Stage.PREDICT: Kind.PREDICTOR,
}


def next_step(stream: Stream) -> Kind | None:
    """The generation step a stream can take now, if any."""
    return None if stream.out_of_text else STEP_OF_STAGE.get(stream.stage)


def next_chunk(stream: Stream, rush: float, now: float) -> int:
    """Frames to decode now: the ramp's chunk, the rest after the end, or all there is in a rush.

    One frame alone is never rushed: a decode costs about as much as five more frames in it, and
    under overload that would make every stream later.
    """
    pending, chunk = stream.pending, stream.chunk
    if pending >= chunk or stream.stage == Stage.GENERATED:
        return min(pending, chunk)
    in_rush = pending > 1 and stream.first_audio_at is not None and stream.dry_at - now < rush
    return pending if in_rush or stream.out_of_text else 0
