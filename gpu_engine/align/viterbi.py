"""The most probable way through scores along given words, and where the words' edges are on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_engine.align.words import Written
from gpu_engine.models.aligner import BLANK

Scores = NDArray[np.float32]
Path = NDArray[np.int64]
NEVER = np.float32(-np.inf)
ANYTHING = -1
# What a frame costs that stands for whatever is heard: silence around it goes to the silence.
_ANYTHING_COST = 0.6
# Frames around a letter's first or last frame in which the word's edge is looked for, and how far
# the edge of a word beside silence may be from its letters.
_NEAR, _FAR = 2, 30


@dataclass(frozen=True, slots=True)
class Lattice:
    """States in order: silence, then each letter and the silence behind it. A word that has no
    letters is one state that anything can be heard in; neighbours of that kind share it.

    `skips`: where no silence need lie before; `first`, `last`: states of a word's outer letters."""

    labels: NDArray[np.int64]
    skips: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, words: Sequence[Written], alphabet: str) -> Lattice:
        letters: list[int] = []
        first, last = [], []
        for word in words:
            spelled = [alphabet.index(each) + 1 for each in word.letters] or [ANYTHING]
            if spelled == [ANYTHING] and letters[-1:] == [ANYTHING]:
                spelled = []
            first.append(2 * (len(letters) + bool(spelled)) - 1)
            letters += spelled
            last.append(2 * len(letters) - 1)
        labels = np.full(2 * len(letters) + 1, BLANK, np.int64)
        labels[1::2] = letters
        skips = np.zeros(len(labels), np.bool_)
        skips[3::2] = labels[3::2] != labels[1:-2:2]
        return cls(labels, skips, np.array(first, np.int64), np.array(last, np.int64))

    @property
    def shortest(self) -> int:
        """Frames without which not all of it can be gone through."""
        letters = len(self.labels) // 2
        return letters + int(np.count_nonzero(~self.skips[3::2]))


def best_path(scores: Scores, lattice: Lattice, *, whole: bool) -> Path | None:
    """The state of each frame, [T]. `whole`: to the end of the words, None where the frames are too
    few for that; otherwise as far along them as they go."""
    if whole and len(scores) < lattice.shortest:
        return None
    heard = _heard(scores, lattice.labels)
    penalty = np.where(lattice.skips, np.float32(0), NEVER)
    states = len(lattice.labels)
    now = np.full(states + 2, NEVER, np.float32)
    now[2:4] = heard[0, :2]
    came = np.zeros((len(scores), states), np.int8)
    for frame in range(1, len(scores)):
        stay, step, skip = now[2:], now[1:-1], now[:-2] + penalty
        best = np.maximum(stay, step)
        came[frame] = step > stay
        came[frame][skip > best] = 2
        now[2:] = np.maximum(best, skip) + heard[frame]
    return _back(came, _end(now[2:], whole))


def _end(now: Scores, whole: bool) -> int:
    if not whole:
        return int(now.argmax())
    last = len(now) - 1
    return last if now[last] >= now[last - 1] else last - 1


def _back(came: NDArray[np.int8], state: int) -> Path:
    path = np.empty(len(came), np.int64)
    for frame in range(len(came) - 1, -1, -1):
        path[frame] = state
        state -= int(came[frame, state])
    return path


def _heard(scores: Scores, labels: NDArray[np.int64]) -> Scores:
    """Log probability of each state's label at each frame, [T, states]."""
    anything = scores.max(axis=1, keepdims=True) - np.float32(_ANYTHING_COST)
    return np.concatenate([scores, anything], axis=1)[:, labels]


@dataclass(frozen=True, slots=True)
class Spans:
    """`starts`, `ends`: in frames, fractions included, of the words that the path has begun;
    `final`: the last frame of each one's letters. The last word may not have ended yet."""

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    final: Path


def find_edges(
    path: Path, lattice: Lattice, words: Sequence[Written], edges: Scores, floor: float
) -> Spans:
    """`edges` [T, 2]: log probabilities that a word begins, and ends, in each frame; `floor`: the
    frame before which no word begins."""
    begun = int(np.searchsorted(lattice.first, path[-1], "right"))
    first = np.searchsorted(path, lattice.first[:begun], "left")
    final = np.searchsorted(path, lattice.last[:begun], "right") - 1
    starts, ends = np.empty(begun), np.empty(begun)
    place = 0
    while place < begun:
        # Words that share a state share its time.
        same = place + 1
        while same < begun and lattice.first[same] == lattice.first[place]:
            same += 1
        start = _edge(edges[:, 0], first[place], before=_FAR, after=_NEAR, floor=floor)
        following = first[same] if same < begun else len(path)
        far = min(_FAR, max(_NEAR, int(following - final[same - 1])))
        end = _edge(edges[:, 1], final[same - 1], before=_NEAR, after=far, floor=start)
        _share(starts, ends, place, same, start, max(end, min(start + 1, len(path))), words)
        place, floor = same, float(ends[same - 1])
    return Spans(starts, ends, final)


def _share(
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    place: int,
    stop: int,
    start: float,
    end: float,
    words: Sequence[Written],
) -> None:
    """One time for words[place:stop], each its part by its weight."""
    weights = np.array([word.weight for word in words[place:stop]], np.float64)
    marks = start + (end - start) * np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    starts[place:stop], ends[place:stop] = marks[:-1], marks[1:]


def _edge(scores: Scores, frame: int, *, before: int, after: int, floor: float) -> float:
    """Where near `frame` the edge is, in frames: the middle of its three most probable ones."""
    low = max(math.ceil(floor - 0.5), frame - before, 0)
    high = max(low + 1, min(len(scores), frame + after + 1))
    low = min(low, len(scores) - 1)
    peak = low + int(scores[low:high].argmax())
    around = slice(max(0, peak - 1), peak + 2)
    weights = np.exp(scores[around].astype(np.float64))
    centres = np.arange(len(scores), dtype=np.float64)[around] + 0.5
    return max(floor, float((weights * centres).sum() / max(weights.sum(), 1e-12)))
