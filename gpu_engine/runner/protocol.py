"""How the engine uses a device: jobs over slots, launched without waiting, collected when done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gpu_engine.runner.memory import Footprint
from gpu_engine.runner.session import Session
from gpu_engine.runner.voice import VoiceEncoding

if TYPE_CHECKING:
    from gpu_engine.runner.cache import Kept

Slots = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shapes:
    """What may be launched. Row sizes ascend: a batch is padded to the next, the last is the most.

    `positions` are the key-value positions of all streams together, `page` what a stream's share of
    them is rounded up to, `longest` the most of one stream. `codec_frames` are the usual chunk
    lengths: a job has one length for all its rows, at most the last. An `overlapped` device returns
    from a launch before the work is done; with two `lanes` its codec runs beside the other modules.
    """

    slots: int
    positions: int
    longest: int
    page: int = 1
    prefill_rows: tuple[int, ...] = (1,)
    step_rows: tuple[int, ...] = (1, 2, 4, 8)
    codec_rows: tuple[int, ...] = (1, 2, 4, 8)
    codec_frames: tuple[int, ...] = (1, 2, 4, 8, 16)
    overlapped: bool = False
    lanes: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A job's result in host memory. `seconds` is the device time of this job alone.

    `stopped` [rows]: the Talker said stop. `broken` [rows]: numbers that are not finite, or a row
    that failed. `audio` float32 [rows, samples] of a decode, its silence included. `voice`: float32
    speaker embedding and uint16 codes of an encoding, little-endian.
    """

    seconds: float
    stopped: NDArray[np.bool_]
    broken: NDArray[np.bool_]
    audio: NDArray[np.float32] | None = None
    voice: tuple[bytes, bytes] | None = None


class Ticket(Protocol):
    """A launched job."""

    def done(self) -> bool:
        """Never waits."""
        ...

    def wait(self) -> Outcome:
        """Called once."""
        ...


@dataclass(frozen=True, slots=True)
class CacheStats:
    """One cache of the device, since it was made; `most` bytes bound it."""

    hits: int
    misses: int
    evictions: int
    entries: int
    nbytes: int
    most: int


class Device(Protocol):
    """One device and the state of its streams, by slot. Called from one thread.

    Jobs act as if each ran after all that were launched before; tickets may be done out of order.
    Launching never waits and never raises for the fault of one row: that row is `broken`.
    Counters (position, frames, frames decoded) move at launch. In the overlapped loop a row whose
    Talker said stop may be in the one predictor job that was launched before that was known; what
    it makes there is ignored and must harm nobody. No row's numbers depend on its neighbours.
    """

    @property
    def shapes(self) -> Shapes: ...

    @property
    def footprint(self) -> Footprint:
        """What of its memory is for what."""
        ...

    def open(self, slot: int, session: Session) -> int:
        """Gives a free slot to a stream. How many prefills its prompt takes: several where a long
        one is new, none where it is kept but for its last position, which a Talker step reads."""
        ...

    def extend(self, slot: int, text_ids: Sequence[int]) -> None:
        """More trailing text, in streaming layout."""
        ...

    def close(self, slot: int) -> None:
        """The stream is gone, and with it every job that named the slot."""
        ...

    def prefill(self, slots: Slots) -> Ticket:
        """Reads the next part of each row's prompt; the last one draws the first code 0."""
        ...

    def talk(self, slots: Slots) -> Ticket:
        """One Talker step: the newest frame and its text in, the next code 0 out."""
        ...

    def predict(self, slots: Slots) -> Ticket:
        """The other codes of each row's frame."""
        ...

    def decode(self, slots: Slots, frames: int) -> Ticket:
        """The next frames of each row as audio."""
        ...

    def begin_voice(self, pcm: bytes, with_codes: bool) -> VoiceEncoding:
        """A float32 clip that is to be a voice, nothing done yet."""
        ...

    def encode(self, encoding: VoiceEncoding) -> Ticket:
        """Its next piece; the last one's outcome has the voice."""
        ...

    @property
    def kept(self) -> Kept:
        """Whose voices stay, and which go."""
        ...

    def spoken_codes(self, slot: int, frames: int) -> Tensor:
        """A copy of a stream's first codes, int64 [frames, groups]."""
        ...
