"""Words from letters: the small aligner's tracks, followed while the audio is made."""

from __future__ import annotations

import numpy as np
import torch

from gpu_engine.align import initials
from gpu_engine.align.numerals import read_out
from gpu_engine.align.track import TimedWord
from gpu_engine.align.viterbi import Lattice, Scores, Spans, best_path, find_edges
from gpu_engine.align.words import Written, as_spelled, is_heard, written
from gpu_engine.models.aligner import STEP, STEP_S, AlignerNet

# Frames: between two looks at a stream that goes on, scored in one look, at the end of what is
# scored that the way through may still change, and kept before the next word's letters.
_PERIOD, _LONGEST = round(1.0 / STEP_S), round(2.0 / STEP_S)
_UNSURE, _KEPT = 10, 2
# Frames in which no word was found: speech that lost its text. Looking on would take ever longer.
_LOST = round(30.0 / STEP_S)
_BYTES = 2


class CtcAligner:
    def __init__(self, net: AlignerNet) -> None:
        self.net = net

    @property
    def languages(self) -> tuple[str, ...]:
        return self.net.config.languages

    def open(self) -> CtcTrack:
        return CtcTrack(self.net)


class CtcTrack:
    """Frames are counted from the stream's first. `_scores` begin at frame `_base`, where the words
    that are not told yet begin at the earliest; `_pcm` begins at frame `_heard_from`."""

    def __init__(self, net: AlignerNet) -> None:
        self._net = net
        self._read = _said if "english" in net.config.languages else as_spelled
        self._text, self._text_done = "", False
        self._pcm, self._heard_from, self._frames = bytearray(), 0, 0
        self._scores: Scores = np.empty((0, net.config.labels + 2), np.float32)
        self._base, self._floor = 0, 0.0
        self._told, self._looked = 0, 0
        self._ended = self._complete = self._lost = self.over = False

    @property
    def due(self) -> bool:
        if self._ended or self._lost:
            return self._ended and not self.over
        return self._ready - self._looked >= _PERIOD or self._scored < self._looked

    @property
    def _scored(self) -> int:
        return self._base + len(self._scores)

    @property
    def _ready(self) -> int:
        """How many frames can be scored: those whose neighbours are there."""
        return self._frames if self._ended else max(0, self._frames - self._net.config.reach)

    def add_text(self, text: str, done: bool) -> None:
        self._text += text
        self._text_done = done

    def hear(self, pcm: bytes) -> None:
        if self._lost:
            return
        self._pcm += pcm
        self._frames = self._heard_from + len(self._pcm) // _BYTES // STEP

    def end(self, complete: bool) -> None:
        self._ended, self._complete = True, complete and self._text_done

    def look(self) -> list[TimedWord]:
        self._looked = self._ready
        if not self._lost:
            self._score()
        self._lost = self._lost or len(self._scores) > _LOST
        self.over = self._ended and (self._lost or self._scored == self._ready)
        alphabet = self._net.config.alphabet
        if self._lost or not len(self._scores) or not is_heard(self._text, alphabet):
            return []
        words = written(self._text, alphabet, self._read)
        return self._find([word for word in words[self._told :] if self._is_whole(word)])

    def _is_whole(self, word: Written) -> bool:
        return self._text_done or word.end < len(self._text)

    def _score(self) -> None:
        """Some more frames, with as many on both sides as they depend on."""
        reach = self._net.config.reach
        first = self._scored
        end = min(self._ready, first + _LONGEST)
        if end <= first:
            return
        low, high = max(self._heard_from, first - reach), min(self._frames, end + reach)
        cut = slice(*(_BYTES * STEP * (at - self._heard_from) for at in (low, high)))
        samples = np.frombuffer(bytes(self._pcm[cut]), "<i2").astype(np.float32) / 32768
        scores = self._net.scores(torch.from_numpy(samples)).cpu().numpy()
        self._scores = np.concatenate([self._scores, scores[first - low : end - low]])
        self._forget(max(0, end - reach))

    def _forget(self, frame: int) -> None:
        if frame > self._heard_from:
            del self._pcm[: _BYTES * STEP * (frame - self._heard_from)]
            self._heard_from = frame

    def _find(self, words: list[Written]) -> list[TimedWord]:
        if not words:
            return []
        found = self._to_the_end(words) if self.over and self._complete else None
        spans, sure = found or self._so_far(words)
        return self._tell(words[:sure], spans)

    def _to_the_end(self, words: list[Written]) -> tuple[Spans, int] | None:
        lattice = Lattice.of(words, self._net.config.alphabet)
        path = best_path(self._letters, lattice, whole=True)
        if path is None:
            return None
        return find_edges(path, lattice, words, self._edges, self._floor - self._base), len(words)

    def _so_far(self, words: list[Written]) -> tuple[Spans, int]:
        """The words that the way through has surely left behind."""
        words = _within(words, len(self._scores))
        lattice = Lattice.of(words, self._net.config.alphabet)
        path = best_path(self._letters, lattice, whole=False)
        assert path is not None, "a way that need not end is always there"
        path = path[: max(1, len(path) - _UNSURE)]
        spans = find_edges(path, lattice, words, self._edges, self._floor - self._base)
        return spans, int(np.count_nonzero(lattice.last < path[-1]))

    def _tell(self, words: list[Written], spans: Spans) -> list[TimedWord]:
        if not words:
            return []
        base, last = self._base, len(words) - 1
        self._told += len(words)
        self._floor = base + float(spans.ends[last])
        begin = max(0, int(spans.final[last]) + 1 - _KEPT)
        self._scores, self._base = self._scores[begin:], base + begin
        times = zip(words, spans.starts, spans.ends, strict=False)
        return [
            TimedWord(word.first, word.end, round((base + a) * STEP), round((base + b) * STEP))
            for word, a, b in times
        ]

    @property
    def _letters(self) -> Scores:
        return self._scores[:, :-2]

    @property
    def _edges(self) -> Scores:
        return self._scores[:, -2:]


def _said(word: str) -> str | None:
    """What an American reader makes of it, where that is not how it is spelled."""
    return read_out(word) if any(map(str.isdigit, word)) else initials.named(word)


def _within(words: list[Written], frames: int) -> list[Written]:
    """Those that so many frames can reach: a letter takes one at least."""
    letters = 0
    for count, word in enumerate(words, 1):
        letters += len(word.letters)
        if letters > frames:
            return words[:count]
    return words
