"""One file whose end is known, from audio that comes in pieces."""

from __future__ import annotations

import io

from ttsapp.speech.encoders.chain import Chain, codec, stages
from ttsapp.speech.encoders.formats import AudioFormat
from ttsapp.speech.encoders.plain import Raw, Wav, wav_header


class FileEncoder:
    """`push` for each piece of the engine's PCM, cut anywhere, then `finish` once: its true length
    is in the header where the format has a place for it. Holds what it has made, once."""

    def __init__(self, audio: AudioFormat, speed: float = 1.0, volume: float = 1.0) -> None:
        self._audio = audio
        made = codec(audio, is_file=True)
        self._wav = made if isinstance(made, Wav) else None
        whole = Raw(self._wav.encoding) if self._wav else made
        self._chain = Chain(stages(audio, speed, volume), whole)
        self._out = io.BytesIO()
        self._out.write(self._wav_header(0) if self._wav else self._chain.header())

    def push(self, pcm: bytes) -> None:
        self._out.write(self._chain.push(pcm))

    def finish(self) -> bytes:
        tail = self._chain.finish()
        if self._out.tell() == 0:
            return tail
        self._out.write(tail)
        if self._wav is not None:
            self._close_wav()
        # Not a copy: the buffer itself.
        return self._out.getvalue()

    def _close_wav(self) -> None:
        """A chunk of odd length is padded, as RIFF wants it."""
        data_bytes = self._out.tell() - len(self._wav_header(0))
        self._out.write(b"\0" * (data_bytes % 2))
        self._out.seek(0)
        self._out.write(self._wav_header(data_bytes))

    def _wav_header(self, data_bytes: int) -> bytes:
        assert self._wav is not None
        return wav_header(self._wav.encoding, self._wav.sample_rate, data_bytes)


def encode_whole(audio: AudioFormat, pcm: bytes, speed: float = 1.0) -> bytes:
    """The file of audio that is all there."""
    file = FileEncoder(audio, speed)
    file.push(pcm)
    return file.finish()
