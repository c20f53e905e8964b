"""The other side: decoders that share no code with the encoders, where there is one.

libsndfile decodes MP3 (by mpg123), FLAC (libFLAC), Ogg Opus (libopus) and WAV. FFmpeg decodes WebM
with an Opus decoder of its own, and G.711. Of AAC only FFmpeg's decoder comes as a wheel."""

from __future__ import annotations

import io

import av
import numpy as np
import soundfile
from numpy.typing import NDArray

from ttsapp.speech.encoders import SAMPLE_RATE

Floats = NDArray[np.float64]


def voice(seconds: float, seed: int = 1) -> NDArray[np.int16]:
    """A humming voice with pauses, and a little noise."""
    count = round(seconds * SAMPLE_RATE)
    time = np.arange(count) / SAMPLE_RATE
    phase = np.cumsum(120 + 30 * np.sin(4 * np.pi * time)) * 2 * np.pi / SAMPLE_RATE
    tones = sum(np.sin(order * phase) / order for order in range(1, 12))
    loudness = 0.12 * (0.55 + 0.45 * np.sin(6 * np.pi * time))
    noise = np.random.default_rng(seed).normal(0, 0.002, count)
    return np.round((tones * loudness + noise) * 32767).astype(np.int16)


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """The data cut to these sizes, over and over."""
    found, place, turn = [], 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        found.append(data[place : place + size])
        place, turn = place + size, turn + 1
    return found


def by_libsndfile(data: bytes) -> tuple[Floats, int]:
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float64")
    return samples, rate


def by_ffmpeg(data: bytes, kind: str | None = None) -> tuple[Floats, int]:
    """`kind`: the container, for data that does not tell."""
    parts: list[NDArray[np.float64]] = [np.zeros(0)]
    rate = 0
    with av.open(io.BytesIO(data), format=kind) as container:
        rate = container.streams.audio[0].rate
        for frame in container.decode(audio=0):
            values = frame.to_ndarray().reshape(-1)
            scale = np.iinfo(values.dtype).max + 1 if values.dtype.kind == "i" else 1
            parts.append(values.astype(np.float64) / scale)
    return np.concatenate(parts), rate


def likeness(heard: Floats, said: Floats) -> float:
    """1 where the first holds the second at some delay, about 0 where it is another sound."""
    size = 1 << int(np.ceil(np.log2(len(heard) + len(said))))
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(said, size)), size)
    return float(product.max() / np.sqrt((heard**2).sum() * (said**2).sum()))
