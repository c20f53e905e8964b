"""A recording followed as a stream is: for measurements and tools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_engine.align.track import Aligner, TimedWord

CHUNK = 3840  # samples: two frames of speech


@dataclass(frozen=True, slots=True)
class Told:
    """A word, and how many samples of the recording had been heard when it was told."""

    word: TimedWord
    heard: int


def follow(aligner: Aligner, text: str, pcm: NDArray[np.int16], chunk: int = CHUNK) -> list[Told]:
    """The words of a recording that comes in chunks."""
    track, told = aligner.open(), []
    track.add_text(text, done=True)
    for start in range(0, len(pcm), chunk):
        heard = min(len(pcm), start + chunk)
        track.hear(pcm[start:heard].tobytes())
        if heard == len(pcm):
            track.end(complete=True)
        while track.due:
            told += [Told(word, heard) for word in track.look()]
    return told
