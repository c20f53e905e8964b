"""Which utterances share a row: every epoch draws spellings, layouts and speakers anew and packs
them tightly into rows of one length, so that a step has one shape."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_engine.train.store import (
    DESCRIPTION,
    FRAMES,
    INSTRUCTION,
    SPEAKER,
    TOKENS,
    CodeStore,
)

FULL, AUTO, VECTOR, DESIGNED = 1, 2, 4, 8  # bits of a position's style
PREFIX = 9  # positions from the role to the text; one fewer without language, or without speaker
WINDOW = 2048  # utterances that are packed together


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of an epoch's utterances, drawn independently."""

    full: float = 0.5  # text first, rather than streamed beside the frames
    auto: float = 0.3  # no language given
    vector: float = 0.1  # a preset given by the speaker encoder's vector
    designed: float = 0.25  # a described utterance by its description, rather than its speaker
    plain: float = 0.5  # the canonical spelling, rather than one with merges skipped


@dataclass(frozen=True, slots=True)
class Epoch:
    """Rows of packed utterances, all [rows, length]: sample (-1 where empty), place within its
    sequence, style bits."""

    sample: NDArray[np.int32]
    place: NDArray[np.int16]
    style: NDArray[np.uint8]


def lengths(rows: NDArray[np.int64], style: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Positions of each utterance's sequence: what is told, prefix, text where it comes first,
    frames."""
    designed = (style & DESIGNED) > 0
    told = np.where(designed, rows[:, DESCRIPTION], rows[:, INSTRUCTION])
    prefix = PREFIX - ((style & AUTO) > 0) - designed
    text = np.where(style & FULL, rows[:, TOKENS] + 2, 1)
    total: NDArray[np.int64] = told + prefix + text + rows[:, FRAMES]
    return total


def plan_epoch(
    store: CodeStore, samples: NDArray[np.int64], length: int, mix: Mix, rng: np.random.Generator
) -> Epoch:
    """`samples`: row numbers of canonical spellings. What is longer than `length`, or spoken by
    someone without description and without a reference yet, is left out."""
    samples = rng.permutation(samples)
    other = rng.integers(1, max(2, store.spellings), len(samples)) % store.spellings
    samples = samples + np.where(rng.random(len(samples)) < mix.plain, 0, other)
    rows = store.rows[samples]
    style = _styles(store, rows, mix, rng)
    sizes = lengths(rows, style)
    shown = ((style & DESIGNED) > 0) | _nameable(store, rows)
    kept = np.flatnonzero((sizes <= length) & shown)
    bins = [
        bin_
        for start in range(0, len(kept), WINDOW)
        for bin_ in pack(kept[start : start + WINDOW], sizes, length)
    ]
    rng.shuffle(bins)
    return _lay_out(bins, samples, sizes, style, length)


def _styles(
    store: CodeStore, rows: NDArray[np.int64], mix: Mix, rng: np.random.Generator
) -> NDArray[np.uint8]:
    draws = rng.random((4, len(rows)))
    row = np.minimum(rows[:, SPEAKER], store.capacity.speakers - 1)
    preset = (rows[:, SPEAKER] < len(store.presets)) & store.known[row]
    designed = (draws[3] < mix.designed) | ~_nameable(store, rows)
    designed = designed & (rows[:, DESCRIPTION] > 0)
    # A clone is told nothing.
    vector = preset & ~designed & (rows[:, INSTRUCTION] == 0) & (draws[2] < mix.vector)
    style = FULL * (draws[0] < mix.full) + AUTO * (draws[1] < mix.auto)
    return np.asarray(style + VECTOR * vector + DESIGNED * designed, np.uint8)


def _nameable(store: CodeStore, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the speaker slot says who speaks and how: a preset with its instruction, or the
    vector of somebody who has been heard and speaks as usual."""
    foreign = rows[:, SPEAKER] >= len(store.presets)
    heard = store.known[np.where(foreign, rows[:, SPEAKER] - len(store.presets), 0)]
    able: NDArray[np.bool_] = ~foreign | (heard & (rows[:, INSTRUCTION] == 0))
    return able


def pack(items: NDArray[np.int64], sizes: NDArray[np.int64], length: int) -> list[list[int]]:
    """Fills one row after the other, each time with the largest item that still fits."""
    left = sorted((int(sizes[item]), int(item)) for item in items)
    rows = []
    while left:
        room, row = length, []
        while (at := bisect_right(left, (room, np.iinfo(np.int64).max)) - 1) >= 0:
            size, item = left.pop(at)
            room -= size
            row.append(item)
        rows.append(row)
    return rows


def _lay_out(
    bins: list[list[int]],
    samples: NDArray[np.int64],
    sizes: NDArray[np.int64],
    style: NDArray[np.uint8],
    length: int,
) -> Epoch:
    order = np.array([item for row in bins for item in row], np.int64)
    counts = sizes[order]
    per_row = np.array([sizes[row].sum() for row in bins], np.int64)
    starts = np.repeat(np.arange(len(bins)) * length, [len(row) for row in bins])
    within = (
        np.cumsum(counts)
        - counts
        - np.repeat(np.cumsum(per_row) - per_row, [len(row) for row in bins])
    )
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.repeat(starts + within, counts) + place
    shape = len(bins), length
    epoch = Epoch(
        np.full(shape, -1, np.int32), np.zeros(shape, np.int16), np.zeros(shape, np.uint8)
    )
    epoch.sample.reshape(-1)[at] = np.repeat(samples[order], counts)
    epoch.place.reshape(-1)[at] = place
    epoch.style.reshape(-1)[at] = np.repeat(style[order], counts)
    return epoch
