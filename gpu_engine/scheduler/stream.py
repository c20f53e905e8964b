"""One synthesis as the scheduler sees it: counters and instants, no text, no tensors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

FRAME_S = 0.08


class Stage(IntEnum):
    """What a stream's generation needs next."""

    QUEUED = 0
    PREFILL = 1
    PREDICT = 2
    TALK = 3
    GENERATED = 4
    DONE = 5


@dataclass(slots=True, eq=False)
class Stream:
    """Instants are seconds on the clock of whoever calls the scheduler; counts are frames.
    `text` counts the trailing text tokens at hand: the step after frame k adds token k."""

    id: int
    arrived: float
    frame_cap: int
    ramp: tuple[int, ...] = (2, 2, 4, 8, 16)
    tenant: str = ""
    background: bool = False
    paced: bool = True
    text: int = 0
    text_done: bool = True
    slot: int = -1
    stage: Stage = Stage.QUEUED
    frames: int = 0
    decoded: int = 0
    chunks: int = 0
    samples_s: float = 0.0
    submitted: float = 0.0
    admitted: float = 0.0
    progressed: float = 0.0
    first_audio_at: float | None = None
    dry_at: float = 0.0
    reason: str = ""

    def __post_init__(self) -> None:
        assert self.frame_cap > 0, "a stream may speak"
        assert min(self.ramp) > 0, "a chunk holds a frame"
        self.submitted = self.progressed = self.arrived

    @property
    def pending(self) -> int:
        """Frames generated and not yet decoded."""
        return self.frames - self.decoded

    @property
    def generating(self) -> bool:
        return Stage.PREFILL <= self.stage <= Stage.TALK

    @property
    def out_of_text(self) -> bool:
        """True while the next Talker step needs a trailing text token that has not arrived."""
        return self.stage == Stage.TALK and not self.text_done and self.text < self.frames

    @property
    def chunk(self) -> int:
        """Frames that the next codec decode should take."""
        return self.ramp[min(self.chunks, len(self.ramp) - 1)]

    def ahead(self, now: float) -> float:
        """Seconds of speech made beyond the playback clock, decoded or not."""
        if self.first_audio_at is None:
            return 0.0
        return self.dry_at + self.pending * FRAME_S - now

    def deliver(self, seconds: float, now: float) -> bool:
        """Moves the playback clock's end; True when the client had run dry before this chunk."""
        late = self.first_audio_at is not None and now > self.dry_at
        if self.first_audio_at is None:
            self.first_audio_at = now
        self.dry_at = max(self.dry_at, now) + seconds
        self.samples_s += seconds
        self.chunks += 1
        return late
