"""`python -m ttsapp.voices.clips.reader`: a recording on stdin, its samples on stdout.

Runs under limits of its own and knows nothing of the product: neither its settings nor its key."""

from __future__ import annotations

import io
import resource
import struct
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import soxr
from av.stream import Disposition
from numpy.typing import NDArray

from ttsapp.voices.clips.containers import container_of

RATE = 24_000
# On top of what the libraries take.
MEMORY_BYTES = 1 << 30
CPU_SECONDS = 15
MOST_SECONDS = 120
# What it says when it refuses: its exit status. Otherwise rate, channels, count, samples.
NOT_AUDIO, HAS_VIDEO, TOO_LONG, EMPTY = 10, 11, 12, 13
HEADER = struct.Struct("<IHI")
RATES = range(8_000, 192_001)
MOST_CHANNELS = 8
# Nothing that a file names is opened: no protocol has this name.
ALONE = {"protocol_whitelist": "none"}


class _RefusedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def main() -> int:
    most = _address_space() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # At the first it dies of a signal that nobody else sends, at the second as if killed.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    try:
        samples, rate, channels = read(sys.stdin.buffer.read())
    except _RefusedError as refused:
        return refused.status
    except Exception:  # noqa: BLE001  whatever a stranger's file makes the libraries raise
        return NOT_AUDIO
    sys.stdout.buffer.write(HEADER.pack(rate, channels, len(samples)))
    sys.stdout.buffer.write(samples.astype(np.float32).tobytes())
    return 0


def _address_space() -> int:
    """What is taken now: on a machine of many cores the libraries' threads alone take much."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except FileNotFoundError:
        return 0
    return pages * resource.getpagesize()


def read(data: bytes) -> tuple[NDArray[np.float32], int, int]:
    """Mono samples at 24 kHz, and what rate and channels there were."""
    name = container_of(data)
    if name is None:
        raise _RefusedError(NOT_AUDIO)
    file = io.BytesIO(data)
    with av.open(file, "r", name, options=ALONE, metadata_errors="ignore") as container:
        streams = container.streams
        # A cover picture is a video stream to FFmpeg; pictures that move may be of its format too.
        if any(not stream.disposition & Disposition.attached_pic for stream in streams.video):
            raise _RefusedError(HAS_VIDEO)
        if not streams.audio:
            raise _RefusedError(NOT_AUDIO)
        stream = streams.audio[0]
        rate, channels = stream.rate, stream.channels
        if rate not in RATES or not 1 <= channels <= MOST_CHANNELS:
            raise _RefusedError(NOT_AUDIO)
        samples = _mono(container, stream, rate)
    if rate != RATE:
        samples = soxr.resample(samples, rate, RATE, "HQ")
    return samples, rate, channels


def _mono(container: Any, stream: Any, rate: int) -> NDArray[np.float32]:
    # In one plane: of eight, PyAV looks for a ninth, and breaks.
    to_float = av.AudioResampler(format="flt", layout=stream.layout, rate=rate)
    parts, count = [], 0
    for frame in container.decode(stream):
        for plain in to_float.resample(frame):
            samples = plain.to_ndarray().reshape(-1, plain.layout.nb_channels)
            part = samples.mean(axis=1, dtype=np.float32)
            parts.append(part)
            count += len(part)
            if count > MOST_SECONDS * rate:
                raise _RefusedError(TOO_LONG)
    if count == 0:
        raise _RefusedError(EMPTY)
    samples = np.concatenate(parts)
    if not np.isfinite(samples).all():
        raise _RefusedError(NOT_AUDIO)
    # Floats may go beyond full scale, and by far: what is kept of them has no numbers for that.
    within: NDArray[np.float32] = samples / np.maximum(np.abs(samples).max(), np.float32(1.0))
    return within


if __name__ == "__main__":
    sys.exit(main())
