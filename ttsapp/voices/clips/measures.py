"""What can be told of a recording from its samples: levels, speech, noise, clipping, voices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttsapp.speech.encoders.samples import SAMPLE_RATE, Samples

Decibels = NDArray[np.float32]

FRAME = 480  # 20 ms
FRAMES_PER_SECOND = SAMPLE_RATE // FRAME
SILENT_DB = -55.0
# Speech rises so far above what is there between words.
ABOVE_FLOOR_DB = 6.0
_SYLLABLE_GAP = FRAMES_PER_SECOND // 4
_FULL = 0.999
_CLIPPED_RUN = 3

_PITCH_FRAME = 960  # 40 ms: two periods of the lowest voice
_LOWEST_HZ, _HIGHEST_HZ = 65, 400
_PERIODIC = 0.6
# Of 25 in a second.
_LEAST_VOICED = 8
_FEWEST_REGISTERS = 5
_LEAST_SHARE = 0.15
# Semitones between registers: in 46 clips of 46 speakers 5.7 at most.
_APART = 7.0


@dataclass(frozen=True, slots=True)
class Measures:
    """`noise_db`: how far speech stands above what is between the words. `clipped`: the share of
    samples that lie in flat tops. `is_speech`: by frame of 20 ms."""

    seconds: float
    speech_seconds: float
    level_db: float
    noise_db: float
    clipped: float
    voices: int
    is_speech: NDArray[np.bool_]


def measure(samples: Samples) -> Measures:
    levels = frame_levels(samples)
    if not len(levels):
        levels = np.full(1, -120.0, np.float32)
    loud, floor = (float(level) for level in np.percentile(levels, (95, 5)))
    threshold = max(SILENT_DB, min(floor + ABOVE_FLOOR_DB, loud - 2 * ABOVE_FLOOR_DB))
    is_speech = _closed(levels > threshold)
    return Measures(
        seconds=len(samples) / SAMPLE_RATE,
        speech_seconds=float(is_speech.sum()) / FRAMES_PER_SECOND,
        level_db=loud,
        noise_db=loud - floor,
        clipped=clipped_share(samples),
        voices=voices(samples),
        is_speech=is_speech,
    )


def _closed(is_loud: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Between two syllables a speaker goes on speaking."""
    places = np.flatnonzero(is_loud)
    closed = is_loud.copy()
    for place in np.flatnonzero(np.diff(places) <= _SYLLABLE_GAP):
        closed[places[place] : places[place + 1]] = True
    return closed


def frame_levels(samples: Samples) -> Decibels:
    """Decibels below full scale, by frame."""
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    power = np.square(frames, dtype=np.float32).mean(axis=1)
    levels: Decibels = 10 * np.log10(np.maximum(power, 1e-12)).astype(np.float32)
    return levels


def clipped_share(samples: Samples) -> float:
    """Of samples in runs of at least three at the loudest value: flat tops, whatever their level
    was turned down to afterwards."""
    if not len(samples):
        return 0.0
    peak = float(np.abs(samples).max())
    if peak < 0.05:
        return 0.0
    at_top = np.abs(samples) >= _FULL * peak
    edges = np.flatnonzero(np.diff(np.concatenate(([0], at_top.view(np.int8), [0]))))
    lengths = edges[1::2] - edges[::2]
    return float(lengths[lengths >= _CLIPPED_RUN].sum()) / len(samples)


def voices(samples: Samples) -> int:
    """2 where seconds keep to two registers of pitch that no single speaker has, else 1.

    Two speakers of one register are not told apart: nothing here could."""
    pitch = np.sort(registers(samples))
    if len(pitch) < _FEWEST_REGISTERS:
        return 1
    # The cut that leaves the least spread on both sides.
    counts = np.arange(1, len(pitch))
    sums, squares = np.cumsum(pitch)[:-1], np.cumsum(np.square(pitch))[:-1]
    rest, rest_squares = pitch.sum() - sums, np.square(pitch).sum() - squares
    others = len(pitch) - counts
    spread = squares - sums**2 / counts + rest_squares - rest**2 / others
    cut = int(np.argmin(spread)) + 1
    low, high = pitch[:cut], pitch[cut:]
    is_even = min(len(low), len(high)) >= _LEAST_SHARE * len(pitch)
    return 2 if is_even and np.median(high) - np.median(low) > _APART else 1


def registers(samples: Samples) -> NDArray[np.float64]:
    """In semitones, the middle pitch of each second (they overlap by half) that is mostly voiced:
    a speaker's melody is heard within it, and hardly from one to the next."""
    stretches = (samples[at : at + SAMPLE_RATE] for at in range(0, len(samples), SAMPLE_RATE // 2))
    found = (pitches(stretch) for stretch in stretches)
    voiced = [12 * np.log2(np.median(each)) for each in found if len(each) >= _LEAST_VOICED]
    return np.array(voiced)


def pitches(samples: Samples) -> NDArray[np.float64]:
    """Fundamental frequencies in Hz of the frames that have one, by autocorrelation."""
    # 8 kHz is enough for a pitch, and a ninth of the work.
    low = samples[: len(samples) // 3 * 3].reshape(-1, 3).mean(axis=1)
    size, rate = _PITCH_FRAME // 3, SAMPLE_RATE // 3
    frames = low[: len(low) // size * size].reshape(-1, size).astype(np.float64)
    frames = frames - frames.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(frames, 2 * size, axis=1)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :size]
    # A longer lag has fewer samples under it.
    energy = correlation[:, :1] * (1 - np.arange(size) / size)
    lags = slice(rate // _HIGHEST_HZ, rate // _LOWEST_HZ + 1)
    strength = correlation[:, lags] / np.maximum(energy[:, lags], 1e-9)
    best = strength.argmax(axis=1)
    is_loud = np.square(frames).mean(axis=1) > 10 ** (SILENT_DB / 10)
    is_voiced = is_loud & (strength.max(axis=1) > _PERIODIC)
    # The first lag that is nearly as good: later ones are its multiples.
    nearly = strength >= 0.9 * strength.max(axis=1, keepdims=True)
    best = np.minimum(best, nearly.argmax(axis=1))
    found: NDArray[np.float64] = rate / (lags.start + best[is_voiced])
    return found
