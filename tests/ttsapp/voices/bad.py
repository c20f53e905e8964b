"""Recordings that are none, or none to clone from, each with the code that refuses it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache

import av
import numpy as np
from av.stream import Disposition

from tests.ttsapp.voices import recordings as heard
from ttsapp.voices.clips.decoding import MOST_BYTES

SPEECH, RATE = heard.speech(), heard.RATE


def video(pictures: str = "mpeg4", colours: str = "yuv420p") -> bytes:
    """Five of them, by the codec of that name and as it has colours, with sound."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        shown, sound = container.add_stream(pictures, 10), container.add_stream("aac", 24_000)
        shown.width, shown.height, shown.pix_fmt = 64, 64, colours
        for _ in range(5):
            container.mux(shown.encode(_black()))
        container.mux(sound.encode(_spoken()))
        for stream in (shown, sound):
            container.mux(stream.encode(None))
    return file.getvalue()


def with_cover(name: str, codec: str) -> bytes:
    """Nothing bad: sound in that container, with a picture of its record."""
    file = io.BytesIO()
    with av.open(file, "w", format=name) as container:
        sound, cover = container.add_stream(codec, RATE), container.add_stream("png", 1)
        cover.width = cover.height = 64
        cover.pix_fmt, cover.disposition = "rgb24", Disposition.attached_pic
        container.mux([*cover.encode(_black()), *cover.encode(None)])
        container.mux([*sound.encode(_spoken()), *sound.encode(None)])
    return file.getvalue()


def _black() -> av.VideoFrame:
    return av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")


def _spoken() -> av.AudioFrame:
    samples = av.AudioFrame.from_ndarray(SPEECH[None, :RATE].copy(), "fltp", "mono")
    samples.sample_rate = RATE
    return samples


def zip_bomb() -> bytes:
    """A hundred megabytes of nothing in a hundred kilobytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("ann.wav", bytes(100 * 1024 * 1024))
    return file.getvalue()


def not_numbers() -> bytes:
    samples = SPEECH.copy()
    samples[1000] = np.nan
    return heard.wav(samples, subtype="FLOAT")


def high_rate_stereo() -> bytes:
    """Nothing bad: as studios record."""
    return heard.wav(np.stack([SPEECH, SPEECH], 1).repeat(4, axis=0), 96_000, "PCM_24")


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "not audio": (lambda: b"hello there " * 500, "not_audio"),
    "zero bytes": (lambda: b"", "empty_audio"),
    "ten minutes": (
        lambda: heard.packed(np.zeros(600 * RATE, np.float32), "FLAC"),
        "audio_too_long",
    ),
    "a video": (video, "not_audio"),
    "a video of still pictures": (lambda: video("mjpeg", "yuvj420p"), "not_audio"),
    "a zip bomb": (zip_bomb, "not_audio"),
    "too many bytes": (lambda: heard.wav(SPEECH).ljust(MOST_BYTES + 1, b"\0"), "file_too_large"),
    "silence": (lambda: heard.wav(np.zeros_like(SPEECH)), "audio_silent"),
    "two speakers": (lambda: heard.wav(heard.two_speakers()), "several_speakers"),
    "clipped": (lambda: heard.wav(np.clip(SPEECH * 8, -1, 1)), "audio_clipped"),
    "noise": (lambda: heard.wav(heard.noise()), "audio_noisy"),
    "a second": (lambda: heard.wav(SPEECH[:24_000]), "audio_too_short"),
    "a telephone": (lambda: heard.wav(SPEECH[::3], 8000), "sample_rate_too_low"),
    "not numbers": (not_numbers, "not_audio"),
}
EMBEDDINGS = {
    "not a number": ("[NaN, 0, 0, 0, 0, 0, 0, 0]", "invalid_type"),
    "two values": ("[1, 2]", "wrong_dimension"),
    "ten thousand values": ("[" + "1, " * 10_000 + "1]", "wrong_dimension"),
}
PATHS = (
    *("../../etc/passwd", "/etc/passwd", "..", ".", "~/ann", "C:\\Ann", "a/../../b", "..\\ann"),
    *("\\\\host\\ann", "%2e%2e%2fann", "ann%00"),
)


@cache
def sample(name: str) -> bytes:
    return BAD[name][0]()
