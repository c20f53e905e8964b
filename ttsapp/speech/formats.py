"""From the engine's PCM to what the client asked for, chunk by chunk."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Protocol

import lameenc

SAMPLE_RATE = 24_000
BYTES_PER_SAMPLE = 2
BYTES_PER_MS = SAMPLE_RATE * BYTES_PER_SAMPLE // 1000
MP3_KILOBITS = 96

# A length no player waits for: the format's way to say that it is not known yet.
_UNKNOWN = 0xFFFF_FFFF


class Encoder(Protocol):
    """Stateful: one for each answer. `whole_bytes`: the PCM length where it is known."""

    async def begin(self, whole_bytes: int | None) -> bytes: ...

    async def encode(self, pcm: bytes) -> bytes: ...

    async def end(self) -> bytes: ...


class Pcm:
    """24 kHz mono, signed 16-bit little-endian, no header."""

    async def begin(self, whole_bytes: int | None) -> bytes:
        return b""

    async def encode(self, pcm: bytes) -> bytes:
        return pcm

    async def end(self) -> bytes:
        return b""


class Wav(Pcm):
    """PCM behind a RIFF header, with true sizes when the whole is there."""

    async def begin(self, whole_bytes: int | None) -> bytes:
        return wav_header(whole_bytes)


class Mp3:
    """Constant bit rate, so that every chunk leaves as soon as it is encoded."""

    def __init__(self) -> None:
        self._lame = lameenc.Encoder()
        self._lame.set_in_sample_rate(SAMPLE_RATE)
        self._lame.set_channels(1)
        self._lame.set_bit_rate(MP3_KILOBITS)
        self._lame.set_quality(5)
        self._lame.silence()

    async def begin(self, whole_bytes: int | None) -> bytes:
        return b""

    async def encode(self, pcm: bytes) -> bytes:
        return await self._in_thread(lambda: bytes(self._lame.encode(pcm)))

    async def end(self) -> bytes:
        return await self._in_thread(lambda: bytes(self._lame.flush()))

    async def _in_thread(self, work: Callable[[], bytes]) -> bytes:
        # The encoder lets go of the interpreter lock, so other streams go on meanwhile.
        return await asyncio.get_running_loop().run_in_executor(_threads(), work)


ENCODERS: dict[str, Callable[[], Encoder]] = {"pcm": Pcm, "wav": Wav, "mp3": Mp3}
CONTENT_TYPES = {"pcm": "audio/pcm", "wav": "audio/wav", "mp3": "audio/mpeg"}


def wav_header(data_bytes: int | None) -> bytes:
    """44 bytes; an unknown length is written as the largest there is."""
    riff_bytes = _UNKNOWN if data_bytes is None else data_bytes + 36
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        riff_bytes,
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        SAMPLE_RATE,
        SAMPLE_RATE * BYTES_PER_SAMPLE,
        BYTES_PER_SAMPLE,
        8 * BYTES_PER_SAMPLE,
        b"data",
        _UNKNOWN if data_bytes is None else data_bytes,
    )


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="encode")
