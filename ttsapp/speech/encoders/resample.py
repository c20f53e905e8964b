"""Another sample rate, chunk by chunk: the delay is taken back, the length is exact."""

from __future__ import annotations

import soxr

from ttsapp.speech.encoders.samples import NONE, SAMPLE_RATE, Samples

# 5 to 30 ms until a sample comes out again; the better one takes 100 ms.
_QUALITY = "HQ"


class Resampler:
    """From the engine's rate; n samples become n * rate / 24000, rounded."""

    def __init__(self, sample_rate: int) -> None:
        self._stream = soxr.ResampleStream(SAMPLE_RATE, sample_rate, 1, "float32", _QUALITY)

    def push(self, samples: Samples) -> Samples:
        result: Samples = self._stream.resample_chunk(samples)
        return result

    def finish(self) -> Samples:
        result: Samples = self._stream.resample_chunk(NONE, last=True)
        return result
