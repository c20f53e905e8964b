"""A recording as mono samples at 24 kHz, read in a process of its own.

What strangers send goes through FFmpeg's readers of dozens of formats. A file that breaks one, or
unpacks to gigabytes, takes down a child that may use little memory and little time, and nothing
else."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import structlog

from ttsapp.errors import ApiError, invalid
from ttsapp.speech.encoders.samples import SAMPLE_RATE, Samples
from ttsapp.voices.clips.containers import container_of
from ttsapp.voices.clips.reader import (
    EMPTY,
    HAS_VIDEO,
    HEADER,
    MOST_SECONDS,
    NOT_AUDIO,
    TOO_LONG,
)

log = structlog.get_logger()

MOST_BYTES = 10 * 1024 * 1024
# A child's own time is bounded by its processor time, which is the file's doing. These two are the
# machine's: how long a child may take on one that is busy, and a recording with the wait for it.
CHILD_SECONDS = 20.0
PATIENCE_SECONDS = 60.0
RETRY_AFTER_MS = 2000
# How a child dies of a file. Killed in any other way, or never begun, it says nothing of the file.
_BROKEN = frozenset(
    -each
    for each in (
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGABRT,
        signal.SIGXCPU,
    )
)

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Recording:
    """`samples` at 24 kHz, mono; `rate` and `channels` as they came."""

    samples: Samples
    rate: int
    channels: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


class _Turns:
    """One child at a time: the machine's cores are for speech. A tenant has one recording in the
    queue, so that whoever sends many is waited for by nobody else but once."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(1)
        self._own: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, tenant_id: int) -> AsyncIterator[None]:
        own = self._own.setdefault(tenant_id, asyncio.Semaphore(1))
        async with own, self._all:
            yield


async def decode(data: bytes, field: str, tenant_id: int) -> Recording:
    """Raises ApiError 400 or 413 on `field`; what is wrong, never what the reader said of it. 503
    where the machine had no time or memory to look: that is nobody's recording's fault."""
    if not data:
        raise invalid(f"{field} is empty: send a recording.", field, "empty_audio")
    check_size(data, field)
    if container_of(data) is None:
        raise _refusal(NOT_AUDIO, field)
    turns = _turns.setdefault(asyncio.get_running_loop(), _Turns())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), turns.of(tenant_id):
            status, out = await _in_child(data)
    except OSError as error:  # TimeoutError among them
        log.error("a recording could not be read", error=repr(error))
        raise _unread(field) from None
    if status != 0:
        raise _refusal(status, field)
    rate, channels, count = HEADER.unpack_from(out)
    samples = np.frombuffer(out, np.float32, count, HEADER.size)
    return Recording(samples, rate, channels)


def check_size(data: bytes, field: str) -> None:
    """Raises ApiError 413 on `field`."""
    if len(data) > MOST_BYTES:
        message = (
            f"{field} has {len(data)} bytes; the most is {MOST_BYTES}: send less of it, or flac."
        )
        raise ApiError(413, "file_too_large", message, field=field)


async def _in_child(data: bytes) -> tuple[int, bytes]:
    """Its exit status, and what it said. Raises OSError where none can be started, TimeoutError."""
    command = (sys.executable, "-I", "-m", "ttsapp.voices.clips.reader")
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # One sample after the other is all it computes: a thread for each core is only memory.
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        async with asyncio.timeout(CHILD_SECONDS):
            out, _ = await child.communicate(data)
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    assert child.returncode is not None
    return child.returncode, out


def _refusal(status: int, field: str) -> ApiError:
    if status == HAS_VIDEO:
        return invalid(f"{field} is a video: send its sound alone.", field, "not_audio")
    if status == TOO_LONG:
        message = f"{field} is longer than {MOST_SECONDS} seconds: send the best 10 to 20 of it."
        return invalid(message, field, "audio_too_long")
    if status == EMPTY:
        return invalid(f"There is no sound in {field}: send a recording.", field, "empty_audio")
    if status in _BROKEN:
        log.warning("a recording broke its reader", status=status)
    elif status != NOT_AUDIO:
        log.error("the reader of recordings failed", status=status)
        return _unread(field)
    message = f"{field} is no audio that can be read: send wav, flac, mp3, ogg, m4a or webm."
    return invalid(message, field, "not_audio")


def _unread(field: str) -> ApiError:
    message = f"{field} could not be read just now, as this machine is busy: send it again soon."
    return ApiError(503, "reader_unavailable", message, field=field, retry_after_ms=RETRY_AFTER_MS)
