"""Opus in Ogg and WebM, AAC and FLAC by FFmpeg's libraries, a chunk in, its bytes out."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import av
import numpy as np

from ttsapp.speech.encoders.formats import AudioFormat
from ttsapp.speech.encoders.samples import Samples, to_int16


@dataclass(frozen=True, slots=True)
class _Recipe:
    container: str
    codec: str
    sample_format: str = "s16"
    codec_options: dict[str, str] = field(default_factory=dict)
    # A file whose end is known is written without these.
    live_options: dict[str, str] = field(default_factory=dict)
    first_frame: int = 0


_OPUS = {"application": "audio", "frame_duration": "20", "compression_level": "5"}
_RECIPES = {
    # By default a page is a second long, and nothing leaves before it is full.
    "opus": _Recipe("ogg", "libopus", "s16", _OPUS, {"page_duration": "20000"}),
    "webm": _Recipe("webm", "libopus", "s16", _OPUS, {"live": "1", "cluster_time_limit": "20"}),
    "aac": _Recipe("adts", "aac", "fltp", {"aac_coder": "fast"}, first_frame=2048),
    # Above level 0 its first frame waits; the usual 8 kB of padding serve tags that we lack.
    "flac": _Recipe("flac", "flac", "s16", {"compression_level": "0"}),
}
_HEADER = {"flac": {"metadata_header_padding": "0"}}


class _Pipe:
    """What the muxer has written since it was last asked; it cannot go back in it."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


class _File(io.BytesIO):
    """The whole at its end, with the lengths that the muxer goes back for."""

    def take(self) -> bytes:
        return b""


class Libav:
    """`is_file`: everything comes from `finish`, with true lengths in the header."""

    def __init__(self, audio: AudioFormat, *, is_file: bool = False) -> None:
        self._recipe = _RECIPES[audio.name]
        self._rate = audio.sample_rate
        self._out = _File() if is_file else _Pipe()
        options = dict(_HEADER.get(audio.name, {}))
        options |= {} if is_file else self._recipe.live_options
        self._container = av.open(
            self._out, "w", format=self._recipe.container, container_options=options
        )
        self._stream = self._add_stream(audio)
        self._missing = self._recipe.first_frame
        self._place = 0

    def _add_stream(self, audio: AudioFormat) -> Any:
        stream: Any = self._container.add_stream(
            self._recipe.codec, rate=self._rate, options=dict(self._recipe.codec_options)
        )
        stream.layout = "mono"
        stream.codec_context.format = self._recipe.sample_format
        stream.codec_context.time_base = Fraction(1, self._rate)
        # One call, one thread: the gateway spreads streams, not frames, over its cores.
        stream.codec_context.thread_count = 1
        if audio.bit_rate is not None:
            stream.bit_rate = audio.bit_rate
        return stream

    def header(self) -> bytes:
        self._container.start_encoding()
        return self._out.take()

    def push(self, samples: Samples) -> bytes:
        if len(samples) == 0:
            return b""
        if self._missing:
            # Silence in front of a short first chunk lets the first frame leave with it.
            pad = np.zeros(max(0, self._missing - len(samples)), np.float32)
            samples, self._missing = np.concatenate((pad, samples)), 0
        self._mux(self._frame(samples))
        return self._out.take()

    def finish(self) -> bytes:
        self._mux(None)
        self._container.close()
        return self._out.getvalue() if isinstance(self._out, _File) else self._out.take()

    def _frame(self, samples: Samples) -> av.AudioFrame:
        is_float = self._recipe.sample_format == "fltp"
        values = samples if is_float else to_int16(samples)
        frame = av.AudioFrame.from_ndarray(
            values.reshape(1, -1), format=self._recipe.sample_format, layout="mono"
        )
        frame.sample_rate, frame.time_base = self._rate, Fraction(1, self._rate)
        frame.pts, self._place = self._place, self._place + len(samples)
        return frame

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)
