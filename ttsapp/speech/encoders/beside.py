"""Encoding beside the event loop: what takes long runs in threads, what is quick does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

from ttsapp.speech.encoders.chain import Encoder, encoder
from ttsapp.speech.encoders.file import FileEncoder
from ttsapp.speech.encoders.formats import AudioFormat
from ttsapp.speech.encoders.samples import BYTES_PER_MS, SAMPLE_RATE

Result = TypeVar("Result")

# Milliseconds of processor time for a second of audio, measured (docs/formats.md).
_COSTS = {"mp3": 4.0, "opus": 9.0, "webm": 9.0, "aac": 11.0, "flac": 3.0}
_PLAIN_COST, _RESAMPLING_COST, _SPEED_COST = 0.3, 0.8, 14.0
# What a hand-over to a thread and back takes; below it the loop is better off doing the work.
_QUICK_MS = 0.15
# So much of a whole answer is encoded at a time: 1 s, more than any format's first frame.
_WHOLE_BYTES = 1000 * BYTES_PER_MS


class Encoding:
    """One answer's encoder. The header travels with the first chunk, or with the end.

    Calls follow one another: a new one only after the one before has returned."""

    def __init__(self, audio: AudioFormat, speed: float = 1.0, volume: float = 1.0) -> None:
        self.audio = audio
        self._speed, self._volume = speed, volume
        self._encoder: Encoder | None = None
        self._cost = _cost(audio, speed, volume)
        # Opening one of FFmpeg's codecs takes longer than encoding a chunk.
        self._is_plain = audio.name not in _COSTS

    async def push(self, pcm: bytes) -> bytes:
        """The engine's PCM, cut anywhere, as bytes of the format; sometimes none."""
        milliseconds = len(pcm) / BYTES_PER_MS * self._cost / 1000
        is_quick = self._is_plain and milliseconds < _QUICK_MS
        return await _do(partial(self._push, pcm), is_quick=is_quick)

    async def finish(self) -> bytes:
        """What the encoder still held back: the stream's last bytes."""
        return await _do(self._finish, is_quick=self._is_plain and self._speed == 1.0)

    def _push(self, pcm: bytes) -> bytes:
        return self._opening() + self._opened().push(pcm)

    def _finish(self) -> bytes:
        return self._opening() + self._opened().finish()

    def _opening(self) -> bytes:
        return self._opened().header() if self._encoder is None else b""

    def _opened(self) -> Encoder:
        if self._encoder is None:
            self._encoder = encoder(self.audio, self._speed, self._volume)
        return self._encoder


class Stretching:
    """PCM in, PCM out, faster or slower: for a part of an answer that has a rate of its own."""

    def __init__(self, rate: float) -> None:
        self._encoding = Encoding(AudioFormat("pcm", SAMPLE_RATE, None, ""), rate)
        self._is_idle = rate == 1.0

    async def push(self, pcm: bytes) -> bytes:
        return pcm if self._is_idle else await self._encoding.push(pcm)

    async def finish(self) -> bytes:
        return b"" if self._is_idle else await self._encoding.finish()


class WholeEncoding:
    """A file's encoder, fed while the audio is made, so that the PCM need not be kept as well.

    Calls follow one another: a new one only after the one before has returned."""

    def __init__(self, audio: AudioFormat, speed: float = 1.0, volume: float = 1.0) -> None:
        self._open = partial(FileEncoder, audio, speed, volume)
        self._file: FileEncoder | None = None
        self._waiting = bytearray()
        self._cost = _cost(audio, speed, volume)
        self._is_plain = audio.name not in _COSTS

    async def push(self, pcm: bytes) -> None:
        """The engine's PCM, cut anywhere."""
        self._waiting += pcm
        if len(self._waiting) >= _WHOLE_BYTES:
            await _do(self._encode, is_quick=self._is_quick)

    async def finish(self) -> bytes:
        """The file."""
        return await _do(self._finish, is_quick=self._is_quick)

    @property
    def _is_quick(self) -> bool:
        milliseconds = len(self._waiting) / BYTES_PER_MS * self._cost / 1000
        return self._is_plain and milliseconds < _QUICK_MS

    def _encode(self) -> FileEncoder:
        if self._file is None:
            self._file = self._open()
        self._file.push(bytes(self._waiting))
        self._waiting.clear()
        return self._file

    def _finish(self) -> bytes:
        return self._encode().finish()


def _cost(audio: AudioFormat, speed: float, volume: float) -> float:
    cost = _COSTS.get(audio.name, _PLAIN_COST)
    if audio.name == "pcm" and audio.sample_rate == SAMPLE_RATE and volume == 1.0:
        cost = 0.0
    if audio.sample_rate != SAMPLE_RATE:
        cost += _RESAMPLING_COST
    return cost + (_SPEED_COST if speed != 1.0 else 0.0)


async def _do(work: Callable[[], Result], *, is_quick: bool) -> Result:
    if is_quick:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_threads(), work)


@cache
def _threads() -> ThreadPoolExecutor:
    # The encoders let go of the interpreter lock, so other streams go on meanwhile.
    return ThreadPoolExecutor(thread_name_prefix="encode")
