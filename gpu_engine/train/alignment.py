"""When each word of a text is spoken, and which text tokens a codec frame belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

# One row a word: first character, end character, first second, end second. A word that is spoken
# but stands nowhere in particular has the characters NOWHERE.
Words = NDArray[np.float32]
Targets = NDArray[np.int16]
Phones = NDArray[np.int16]  # one label for every PHONE_SECONDS

NOWHERE = (-1, -1)
UNLABELLED = -100
PHONES = 178  # labels are below
PHONE_SECONDS = 0.025
PHONES_PER_FRAME = 2
MARKS = '.,!?;:\u2026\u2014"\u201c\u201d'
REACH = 1.5  # characters on either side of the one being spoken that still count as right


def written_spans(text: str, spoken: str) -> list[tuple[int, int]]:
    """For each word of `spoken`, the characters of `text` that it is written with.

    Words that are written otherwise than they are spoken ("$45") get NOWHERE.
    """
    written = [match.span() for match in re.finditer(r"\S+", text)]
    plain = [text[a:b] for a, b in written]
    said = spoken.split()
    spans = [NOWHERE] * len(said)
    for a, c, size in SequenceMatcher(None, plain, said, autojunk=False).get_matching_blocks():
        spans[c : c + size] = written[a : a + size]
    return spans


def word_times(
    text: str, spoken: str, phonemes: str, durations: Sequence[int], unit: float
) -> Words | None:
    """Times of the words from phoneme durations.

    `durations` count units of `unit` seconds for the opening silence, each character of
    `phonemes` and the closing silence. None where words and phonemes do not match.
    """
    spans = written_spans(text, spoken)
    words = [_voiced(match) for match in re.finditer(r"\S+", phonemes)]
    if len(durations) != len(phonemes) + 2 or len(words) != len(spans):
        return None
    starts = np.cumsum(durations)  # starts[i]: the unit in which phoneme i begins
    rows = [
        (*span, starts[first] * unit, starts[end] * unit)
        for span, (first, end) in zip(spans, words, strict=True)
    ]
    return np.array(rows, np.float32)


def _voiced(word: re.Match[str]) -> tuple[int, int]:
    """The span without its closing marks: those are the pause after the word."""
    voiced = len(word[0].rstrip(MARKS)) or len(word[0])
    return word.start(), word.start() + voiced


def spoken_characters(words: Words, times: NDArray[np.float32]) -> NDArray[np.float32]:
    """The (fractional) character being spoken at each of `times`, in seconds; -1 if nowhere."""
    row = np.clip(np.searchsorted(words[:, 2], times, "right") - 1, 0, len(words) - 1)
    first, end, start, stop = words[row].T
    share = np.clip((times - start) / np.maximum(stop - start, 1e-3), 0, 1)
    characters: NDArray[np.float32] = (first + share * (end - first)).astype(np.float32)
    return characters


def token_targets(
    words: Words, offsets: Sequence[tuple[int, int]], times: NDArray[np.float32]
) -> Targets:
    """For each time the first and last text token that attention may rest on, [T, 2], or -1, -1.

    `offsets` are the tokens' character ranges, in order.
    """
    at = spoken_characters(words, times)
    starts, ends = np.array(offsets, np.float32).T
    lo = np.minimum(np.searchsorted(ends, at - REACH, "right"), len(offsets) - 1)
    hi = np.maximum(np.searchsorted(starts, at + REACH, "left") - 1, lo)
    targets = np.stack([lo, hi], 1).astype(np.int16)
    targets[at < 0] = -1
    return targets


def frame_phones(phones: Phones | None, start: float, frames: int, frame: float) -> Phones:
    """Labels a quarter and three quarters into each of `frames` frames of `frame` seconds, [F, 2];
    UNLABELLED past the end and where no labels are known."""
    if phones is None:
        return np.full((frames, PHONES_PER_FRAME), UNLABELLED, np.int16)
    share = (np.arange(PHONES_PER_FRAME) + 0.5) / PHONES_PER_FRAME
    times = start + (np.arange(frames)[:, None] + share) * frame
    padded = np.append(phones, np.int16(UNLABELLED))
    return padded[np.minimum((times / PHONE_SECONDS).astype(np.int64), len(phones))]
