"""Volume, speed, sample rate, codec: what every chunk goes through, in that order."""

from __future__ import annotations

from typing import Protocol

from ttsapp.speech.encoders.formats import AudioFormat
from ttsapp.speech.encoders.libav import Libav
from ttsapp.speech.encoders.mp3 import Mp3
from ttsapp.speech.encoders.plain import Raw, Wav
from ttsapp.speech.encoders.resample import Resampler
from ttsapp.speech.encoders.samples import SAMPLE_RATE, Aligner, Samples, from_pcm
from ttsapp.speech.encoders.speed import Speed
from ttsapp.speech.encoders.volume import Volume


class Encoder(Protocol):
    """Stateful, one for each answer: `header` once, `push` for each chunk, `finish` once.

    What they return, joined, is one valid stream of the format. `pcm`: the engine's samples,
    cut anywhere. The first 80 ms give bytes, if the header did not."""

    def header(self) -> bytes: ...

    def push(self, pcm: bytes) -> bytes: ...

    def finish(self) -> bytes: ...


class _Codec(Protocol):
    def header(self) -> bytes: ...

    def push(self, samples: Samples) -> bytes: ...

    def finish(self) -> bytes: ...


class _Stage(Protocol):
    def push(self, samples: Samples) -> Samples: ...

    def finish(self) -> Samples: ...


# How the plain formats write a sample.
_ENCODINGS = {
    "pcm": "s16",
    "pcm_f32": "f32",
    "mulaw": "mulaw",
    "alaw": "alaw",
    "wav": "s16",
    "wav_f32": "f32",
    "wav_mulaw": "mulaw",
    "wav_alaw": "alaw",
}
_LIBAV = ("opus", "webm", "aac", "flac")


class Chain:
    def __init__(self, stages: list[_Stage], codec: _Codec) -> None:
        self._aligner = Aligner()
        self._stages = stages
        self._codec = codec
        # The engine's own samples need not become numbers.
        self._is_untouched = not stages and isinstance(codec, Raw) and codec.encoding == "s16"

    def header(self) -> bytes:
        return self._codec.header()

    def push(self, pcm: bytes) -> bytes:
        whole = self._aligner.push(pcm)
        if self._is_untouched or not whole:
            return whole
        return self._through(self._stages, from_pcm(whole))

    def finish(self) -> bytes:
        tail = b""
        for place, stage in enumerate(self._stages):
            tail += self._through(self._stages[place + 1 :], stage.finish())
        return tail + self._codec.finish()

    def _through(self, stages: list[_Stage], samples: Samples) -> bytes:
        for stage in stages:
            samples = stage.push(samples)
        return self._codec.push(samples)


def encoder(audio: AudioFormat, speed: float = 1.0, volume: float = 1.0) -> Encoder:
    """For a stream whose length is not known. `speed`: 0.25 to 4, the pitch is kept. `volume`: what
    each sample is multiplied with."""
    return Chain(stages(audio, speed, volume), codec(audio))


def stages(audio: AudioFormat, speed: float, volume: float = 1.0) -> list[_Stage]:
    found: list[_Stage] = []
    if volume != 1.0:
        found.append(Volume(volume))
    if speed != 1.0:
        found.append(Speed(speed))
    if audio.sample_rate != SAMPLE_RATE:
        found.append(Resampler(audio.sample_rate))
    return found


def codec(audio: AudioFormat, *, is_file: bool = False) -> Raw | _Codec:
    """`is_file`: with its true length, where the format is one that goes back for it."""
    if audio.name == "mp3":
        return Mp3(audio)
    if audio.name in _LIBAV:
        return Libav(audio, is_file=is_file)
    encoding = _ENCODINGS[audio.name]
    return Wav(encoding, audio.sample_rate) if audio.name.startswith("wav") else Raw(encoding)
