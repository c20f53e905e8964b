"""When each piece of a request's audio was handed over, kept beside its log row in a few bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

# A longer answer keeps its first pieces, and of the others those that came too late.
MOST_CHUNKS, MOST_LATE = 200, 56


class Chunk(msgspec.Struct, array_like=True, frozen=True):
    """Milliseconds: since the request's beginning when it came; of the answer's audio where it
    lies, and how long it is. `is_late`: playback had to wait for us."""

    came_ms: int
    at_ms: int
    audio_ms: int
    is_late: bool = False


class Timeline(msgspec.Struct, array_like=True, frozen=True):
    """`asked_ms`: its limits had answered, and the engine was asked. `accepted_ms`: the engine had
    taken it. `is_whole`: nobody listened before the end. `left_out`: chunks that are not kept."""

    asked_ms: int | None
    accepted_ms: int | None
    is_whole: bool
    chunks: tuple[Chunk, ...]
    left_out: int = 0

    def pack(self) -> bytes:
        return msgspec.msgpack.encode(self)


@dataclass(slots=True)
class Chunks:
    """As they come."""

    kept: list[Chunk] = field(default_factory=list)
    left_out: int = 0

    def note(self, chunk: Chunk) -> None:
        most = MOST_CHUNKS + (MOST_LATE if chunk.is_late else 0)
        if len(self.kept) < most:
            self.kept.append(chunk)
        else:
            self.left_out += 1


@dataclass(frozen=True, slots=True)
class Heard:
    """A chunk as its listener had it: played from then on, `waited_ms` after all before it was
    over. `lead_ms`: of audio that was still to be played when it came."""

    chunk: Chunk
    played_ms: int
    waited_ms: int
    lead_ms: int

    @property
    def ended_ms(self) -> int:
        return self.played_ms + self.chunk.audio_ms


def unpack(packed: bytes | memoryview | None) -> Timeline | None:
    """None for what an earlier version logged, and for what never reached the engine."""
    return _decode(bytes(packed)) if packed else None


def heard(chunks: Sequence[Chunk]) -> Iterator[Heard]:
    """By the playback clock: from the first chunk on, without a pause while there is audio. What
    was left out between two chunks came in time."""
    # Where an answer's first sample would have to be played for all so far to be played as it was.
    start: int | None = None
    for chunk in chunks:
        end = chunk.came_ms if start is None else start + chunk.at_ms
        played = max(end, chunk.came_ms)
        start = played - chunk.at_ms
        yield Heard(chunk, played, played - end, end - min(end, chunk.came_ms))


_decode = msgspec.msgpack.Decoder(Timeline).decode
