"""One synthesis as the scheduler is told of it, and as it reports its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

FRAME_S = 0.08


class Stage(IntEnum):
    """What a slot's generation needs next. A LEAVING stream has ended, but a launched job still
    names its slot."""

    FREE = 0
    PREFILL = 1
    PREDICT = 2
    TALK = 3
    GENERATED = 4
    LEAVING = -1


# Plain numbers for arrays: looking a member up costs more than comparing a hundred rows.
FREE, PREFILL, PREDICT, TALK, GENERATED, LEAVING = map(int, Stage)


@dataclass(slots=True, eq=False)
class Stream:
    """Instants are seconds on the clock of whoever calls the scheduler; counts are frames.

    `text` counts the trailing text tokens at hand: the step after frame k adds token k.
    `positions` are the key-value positions that it may come to use, `share` its tenant's weight
    among tenants. A `cached` prompt needs no prefill: its first job is a Talker step.
    """

    id: int
    arrived: float
    frame_cap: int
    ramp: tuple[int, ...] = (2, 2, 4, 8, 16)
    tenant: str = ""
    share: float = 1.0
    background: bool = False
    paced: bool = True
    text: int = 0
    text_done: bool = True
    positions: int = 1

    def __post_init__(self) -> None:
        assert self.frame_cap > 0, "a stream may speak"
        assert min(self.ramp) > 0, "a chunk holds a frame"

    def extend(self, text: int, done: bool, frame_cap: int) -> None:
        """More text, while it waits for a slot."""
        self.text += text
        self.text_done = self.text_done or done
        self.frame_cap = max(self.frame_cap, frame_cap)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a stream ended: `stop`, `length`, `cancelled` or `error`. `slot` is -1 where it never
    had one; `first_audio` is seconds from its arrival, None where nothing was heard."""

    id: int
    slot: int
    reason: str
    frames: int = 0
    first_audio: float | None = None
    underruns: int = 0


class BooksError(Exception):
    """A slot, a stream or a job is lost: our bug, and no state to go on from."""
