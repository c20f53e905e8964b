"""MP3 by LAME: constant bit rate, so that every chunk leaves as soon as it is encoded."""

from __future__ import annotations

from functools import lru_cache

import lameenc

from ttsapp.speech.encoders.formats import AudioFormat
from ttsapp.speech.encoders.samples import Samples, to_int16

_PROBE_SAMPLES = 32


class Mp3:
    """Silence in front of a very short first chunk lets the first frame leave with it."""

    def __init__(self, audio: AudioFormat) -> None:
        self._lame = _lame(audio)
        self._missing = _samples_to_first_frame(audio)
        self._has_begun = False

    def header(self) -> bytes:
        return b""

    def push(self, samples: Samples) -> bytes:
        pcm = to_int16(samples).tobytes()
        if pcm and not self._has_begun:
            pcm = bytes(2 * max(0, self._missing - len(samples))) + pcm
            self._has_begun = True
        return bytes(self._lame.encode(pcm))

    def finish(self) -> bytes:
        return bytes(self._lame.flush()) if self._has_begun else b""


def _lame(audio: AudioFormat) -> lameenc.Encoder:
    lame = lameenc.Encoder()
    lame.set_in_sample_rate(audio.sample_rate)
    lame.set_out_sample_rate(audio.sample_rate)
    lame.set_channels(1)
    lame.set_bit_rate((audio.bit_rate or 0) // 1000)
    lame.set_quality(5)
    lame.silence()
    return lame


@lru_cache(maxsize=256)
def _samples_to_first_frame(audio: AudioFormat) -> int:
    """Found by trying: it depends on the rate and on the bits that a frame may borrow."""
    lame = _lame(audio)
    count = _PROBE_SAMPLES
    while not lame.encode(bytes(2 * _PROBE_SAMPLES)):
        count += _PROBE_SAMPLES
    return count
