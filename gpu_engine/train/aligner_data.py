"""What the aligner is taught from: spectra, the letters spoken in them, and word edges if known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from gpu_engine.align.words import written
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.aligner import STEP_S, STRIDE, AlignerConfig
from gpu_engine.models.speaker import log_mel
from gpu_engine.train.corpus import SpeechBatch, Utterance, spoken_part
from gpu_engine.train.holdout import held_out

MOST_WORDS = 4
# How much longer a row may get, and how much further up its spectrum may lie.
PACES, THROATS = (0.85, 1.2), (0.88, 1.12)


@dataclass(frozen=True, slots=True)
class Example:
    """`mel`: float16 [T, bands]; `letters`: label numbers, a list a word; `edges`: first and last
    frame of each word, fractions included, None where they are not known."""

    mel: Tensor
    letters: list[list[int]]
    edges: NDArray[np.float32] | None

    @property
    def frames(self) -> int:
        return -(-len(self.mel) // STRIDE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Frames [first, end) of a row of a batch, in which the letters are spoken and nothing else."""

    row: int
    first: int
    end: int
    letters: list[int]


def gather(corpus: Iterable[SpeechBatch], config: AlignerConfig, hours: float) -> list[Example]:
    """Up to so many hours of what may be trained on. A text with a word that is not spelled as it
    sounds, such as a number, is left out."""
    found: list[Example] = []
    seconds = 0.0
    for batch in corpus:
        for row, utterance in zip(batch.audio, batch.utterances, strict=True):
            audio = spoken_part(row, utterance)
            spoken = None if held_out(utterance.text) else spelled(utterance, config.alphabet)
            if spoken is not None:
                mel = log_mel(audio[None], config.mel_dim)[0].half()
                found.append(Example(mel, *spoken))
                seconds += len(audio) / SAMPLE_RATE
        if seconds >= hours * 3600:
            break
    return found


def spelled(
    utterance: Utterance, alphabet: str
) -> tuple[list[list[int]], NDArray[np.float32] | None] | None:
    """Letters of each word and the words' edges in frames; None for what cannot be spelled."""
    text, times = utterance.text, utterance.words
    words = written(text, alphabet)
    if not words or not all(word.letters for word in words):
        return None
    letters = [[alphabet.index(each) + 1 for each in word.letters] for word in words]
    if times is None:
        return letters, None
    spans = [(word.first, word.end) for word in words]
    if spans != [(int(first), int(end)) for first, end in times[:, :2]]:
        return None
    return letters, (times[:, 2:] / STEP_S).astype(np.float32)


def batches(examples: Sequence[Example], seconds: float, rng: Random) -> Iterator[list[Example]]:
    """All of them once, those of like length together, about so many seconds of speech each."""
    room = int(seconds / STEP_S)
    order = sorted(examples, key=lambda one: one.frames * rng.uniform(0.9, 1.1))
    found: list[list[Example]] = [[]]
    for one in order:
        if (len(found[-1]) + 1) * one.frames > room and found[-1]:
            found.append([])
        found[-1].append(one)
    rng.shuffle(found)
    yield from found


def stretched(row: Example, rng: Random) -> Example:
    """Said faster or slower, by a longer or shorter throat."""
    pace = rng.uniform(*PACES)
    bands = row.mel.shape[1]
    mel = row.mel.float().T[None, None]
    size = (bands, max(2, round(len(row.mel) * pace)))
    mel = F.interpolate(mel, size=size, mode="bilinear", align_corners=False)[0, 0]
    places = (torch.arange(bands) * rng.uniform(*THROATS)).clamp(max=bands - 1)
    low = places.long()
    share = (places - low)[:, None]
    mel = mel[low] * (1 - share) + mel[(low + 1).clamp(max=bands - 1)] * share
    edges = None if row.edges is None else row.edges * (size[1] / len(row.mel))
    return Example(mel.T, row.letters, edges)


def pad(rows: Sequence[Example], floor: float) -> Tensor:
    """[B, T, bands], silence at the end of the shorter ones."""
    mels = [row.mel.float() for row in rows]
    return pad_sequence(mels, batch_first=True, padding_value=floor)


def pieces(rows: Sequence[Example], rng: Random) -> Iterator[Piece]:
    """The rows cut between some of their words; all of a row whose edges are not known."""
    for number, row in enumerate(rows):
        count = len(row.letters)
        groups = [count] if row.edges is None else list(_groups(count, rng))
        first, place = 0, 0
        for size in groups:
            stop = place + size
            end = row.frames if stop == count else _between(row.edges, stop)
            letters = [label for word in row.letters[place:stop] for label in word]
            if end > first:
                yield Piece(number, first, end, letters)
            first, place = end, stop


def _groups(count: int, rng: Random) -> Iterator[int]:
    while count:
        size = min(count, rng.randint(1, MOST_WORDS))
        yield size
        count -= size


def _between(edges: NDArray[np.float32] | None, word: int) -> int:
    """The frame in the middle between a word and the one before."""
    assert edges is not None, "rows without edges are not cut"
    return round(float(edges[word - 1, 1] + edges[word, 0]) / 2)


def edge_targets(rows: Sequence[Example], frames: int) -> tuple[Tensor, Tensor]:
    """[B, frames, 2], how much a word begins and ends in each frame, shared by the two frames whose
    middles are nearest; and which rows know, [B]."""
    targets = np.zeros((len(rows), frames, 2), np.float32)
    for row, target in zip(rows, targets, strict=True):
        if row.edges is None:
            continue
        for kind in (0, 1):
            places = np.clip(row.edges[:, kind] - 0.5, 0, frames - 1)
            low = places.astype(np.int64)
            share = places - low
            np.maximum.at(target[:, kind], low, 1 - share)
            np.maximum.at(target[:, kind], np.minimum(low + 1, frames - 1), share)
    known = torch.tensor([row.edges is not None for row in rows])
    return torch.from_numpy(targets), known
