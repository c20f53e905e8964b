"""The units of work: what the scheduler asks of a device, and what it hears back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gpu_engine.scheduler.stream import Ended

Slots = NDArray[np.int64]
Flags = NDArray[np.bool_]
Seconds = NDArray[np.float64]


class Kind(StrEnum):
    """A job's module."""

    CODEC = "codec"
    PREFILL = "prefill"
    TALKER = "talker"
    PREDICTOR = "predictor"
    ENCODE = "encode"
    ALIGN = "align"


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Short and never pre-empted. `ids` are the streams that hold `slots`, `frames` the frames of a
    codec job, `left` the prefills that each row of a prefill needs after this one, `clip` the voice
    of an encoding, `stream` whose words are looked for; `predicted` is what the cost model expects,
    in seconds."""

    kind: Kind
    slots: Slots = field(default_factory=lambda: np.empty(0, np.int64))
    ids: Slots = field(default_factory=lambda: np.empty(0, np.int64))
    frames: int = 0
    left: Slots = field(default_factory=lambda: np.empty(0, np.int64))
    clip: int = 0
    stream: int = 0
    predicted: float = 0.0

    @property
    def rows(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a job did, a value a row: whose Talker said stop, who broke, seconds of audio made.
    `more`: an encoding needs another job. `seconds` is the device time of the job, 0 where it is
    not known."""

    stopped: Flags | None = None
    broken: Flags | None = None
    audio: Seconds | None = None
    more: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Booked:
    """What follows from a result: streams that ended, and, of a codec job, the rows whose audio may
    leave now, together with what was held back before."""

    ended: list[Ended]
    released: Flags
