"""Formats in which every sample stands for itself: raw, telephone and WAV."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ttsapp.speech.encoders.samples import Samples, to_int16

# A length no player waits for: the format's way to say that it is not known yet.
_UNKNOWN = 0xFFFF_FFFF

# WAVE format tags and bits per sample.
_TAGS = {"s16": (1, 16), "f32": (3, 32), "alaw": (6, 8), "mulaw": (7, 8)}


class Raw:
    """Samples without a header, as `s16`, `f32` (both little-endian), `mulaw` or `alaw`."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def header(self) -> bytes:
        return b""

    def push(self, samples: Samples) -> bytes:
        if self.encoding == "f32":
            return samples.astype("<f4").tobytes()
        values = to_int16(samples)
        if self.encoding == "s16":
            return values.tobytes()
        return _telephone_codes(self.encoding)[values.view(np.uint16)].tobytes()

    def finish(self) -> bytes:
        return b""


class Wav(Raw):
    """The same behind a RIFF header that leaves the length open."""

    def __init__(self, encoding: str, sample_rate: int) -> None:
        super().__init__(encoding)
        self.sample_rate = sample_rate

    def header(self) -> bytes:
        return wav_header(self.encoding, self.sample_rate, None)


def wav_header(encoding: str, sample_rate: int, data_bytes: int | None) -> bytes:
    """44 bytes for PCM, 58 otherwise; an unknown length is written as the largest there is."""
    tag, bits = _TAGS[encoding]
    width = bits // 8
    fields = struct.pack("<HHIIHH", tag, 1, sample_rate, sample_rate * width, width, bits)
    facts = b""
    if encoding != "s16":
        # All but plain PCM say how long their extension is (0) and how many samples follow.
        fields += struct.pack("<H", 0)
        count = _UNKNOWN if data_bytes is None else data_bytes // width
        facts = b"fact" + struct.pack("<II", 4, count)
    body = b"WAVEfmt " + struct.pack("<I", len(fields)) + fields + facts + b"data"
    padding = 0 if data_bytes is None else data_bytes % 2
    riff = _UNKNOWN if data_bytes is None else len(body) + 4 + data_bytes + padding
    data = _UNKNOWN if data_bytes is None else data_bytes
    return b"RIFF" + struct.pack("<I", riff) + body + struct.pack("<I", data)


@cache
def _telephone_codes(law: str) -> NDArray[np.uint8]:
    """The G.711 code of each 16-bit value, indexed by its bits as an unsigned number."""
    values = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32)
    return _mulaw(values) if law == "mulaw" else _alaw(values)


def _mulaw(values: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Of the upper 14 bits: a sign, three bits of exponent, four of mantissa, all inverted."""
    bias, largest = 33, 8191
    size = np.minimum(np.abs(values >> 2) + bias, largest)
    exponent = _highest_bit(size) - 5
    code = (exponent << 4) | ((size >> (exponent + 1)) & 0x0F) | np.where(values < 0, 0x80, 0)
    return np.asarray(~code & 0xFF, np.uint8)


def _alaw(values: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Of the upper 12 bits, complemented if negative; every other bit is inverted."""
    size = np.where(values < 0, ~values, values) >> 4
    exponent = np.maximum(_highest_bit(np.maximum(size, 1)) - 3, 0)
    mantissa = (size >> np.maximum(exponent - 1, 0)) & 0x0F
    code = (exponent << 4) | mantissa | np.where(values < 0, 0, 0x80)
    return np.asarray(code ^ 0x55, np.uint8)


def _highest_bit(size: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.floor(np.log2(size)).astype(np.int32)
