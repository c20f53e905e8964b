"""What a request may ask of frames, 80 ms each: how many its answer has, and its first chunk."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpu_engine.proto import engine_pb2

ANSWER = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
FIRST_CHUNK = Annotated[int, msgspec.Meta(ge=1, le=16)]

# The engine's ramps by the frames of their first chunk.
_RAMPS = {
    8: engine_pb2.CHUNK_PROFILE_THROUGHPUT,
    2: engine_pb2.CHUNK_PROFILE_BALANCED,
    1: engine_pb2.CHUNK_PROFILE_LATENCY,
}
# The most that the engine's own cap comes to, which nothing asked for shall loosen.
_USUAL, _OF_A_CHARACTER = 25, 10


def profile(first_chunk: int) -> engine_pb2.ChunkProfile:
    """The ramp that begins with as many frames as it may, and no more; 0: the engine's usual."""
    found = (ramp for frames, ramp in _RAMPS.items() if frames <= first_chunk)
    return next(found, engine_pb2.CHUNK_PROFILE_UNSPECIFIED)


def cap(left: int, text: str) -> int:
    """What the engine is told of the frames that are left; 0: its own cap is less anyway."""
    return left if left < _USUAL + _OF_A_CHARACTER * len(text) else 0
