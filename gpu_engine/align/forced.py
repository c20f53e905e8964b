"""Words by the Qwen3 forced aligner: it hears a recording whole, and marks each word in it.

A stream is heard again whenever it has grown by a part; words that two hearings in a row place
alike are told. What the last hearing says goes for the rest.
"""

from __future__ import annotations

import numpy as np
import soxr
import torch
from tokenizers import Tokenizer
from torch import Tensor

from gpu_engine.align.repair import forward
from gpu_engine.align.track import TimedWord
from gpu_engine.align.units import UNDIVIDED_LANGUAGES, Unit, is_divided, units
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.models.forced_aligner import ForcedAligner, Steps
from gpu_engine.models.forced_aligner.mel import RATE, SHORTEST

# Samples: what must have come before a stream is heard (again), at the least and as a part of what
# has been; after a word that is told while there is more to come; of the longest that was taught.
_PERIOD, _PART = 2 * SAMPLE_RATE, 4
_UNSURE = SAMPLE_RATE
_LONGEST = 300 * SAMPLE_RATE
_SHORTEST = -(-SHORTEST * SAMPLE_RATE // RATE)
_BYTES = 2

Marks = list[int]
"""Milliseconds: each word's start and end."""


class QwenAligner:
    def __init__(self, net: ForcedAligner, tokenizer: Tokenizer) -> None:
        self.net, self._tokenizer = net, tokenizer

    @property
    def languages(self) -> tuple[str, ...]:
        return divided(self.net.config.languages)

    def open(self) -> QwenTrack:
        return QwenTrack(self)

    def marks(self, samples: np.ndarray, words: list[Unit]) -> Steps:
        """Speech at 24 kHz to each word's start and end in milliseconds, [2 * words], as the head
        tells them."""
        at_16k = torch.from_numpy(soxr.resample(samples, SAMPLE_RATE, RATE, "HQ"))
        logits = yield from self.net.logits(at_16k, [self._ids(word) for word in words])
        yield
        return logits.argmax(-1).cpu() * self.net.config.step_ms

    def _ids(self, word: Unit) -> list[int]:
        ids: list[int] = self._tokenizer.encode(word.read, add_special_tokens=False).ids
        return ids


def divided(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose words can be told apart without a dictionary."""
    return tuple(each for each in languages if each not in UNDIVIDED_LANGUAGES)


class QwenTrack:
    """`_hearing`: what is under way, of `_words` in the first `_looked` samples; `_before`: what
    the hearing before it marked."""

    def __init__(self, aligner: QwenAligner) -> None:
        self._aligner = aligner
        self._text, self._text_done = "", False
        self._pcm = bytearray()
        self._hearing: Steps | None = None
        self._words: list[Unit] = []
        self._before: Marks = []
        self._looked, self._told, self._floor = 0, 0, 0
        self._ended = self._complete = self.over = False

    @property
    def due(self) -> bool:
        if self._ended or self._hearing is not None:
            return not self.over
        return self._heard - self._looked >= max(_PERIOD, self._looked // _PART)

    @property
    def _heard(self) -> int:
        return len(self._pcm) // _BYTES

    def add_text(self, text: str, done: bool) -> None:
        self._text += text
        self._text_done = done

    def hear(self, pcm: bytes) -> None:
        if self._heard <= _LONGEST:
            self._pcm += pcm

    def end(self, complete: bool) -> None:
        self._ended, self._complete = True, complete and self._text_done
        self._hearing = None

    @torch.inference_mode()
    def look(self) -> list[TimedWord]:
        if self._hearing is None and not self._begin():
            self.over = self._ended
            return []
        assert self._hearing is not None, "it has just begun"
        try:
            next(self._hearing)
        except StopIteration as done:
            self._hearing, self.over = None, self._ended
            return self._tell(done.value)
        return []

    def _begin(self) -> bool:
        """Whether there is anything to hear, and anything in it to look for."""
        self._looked = self._heard
        self._words = [each for each in units(self._text) if self._is_whole(each)]
        within = _SHORTEST <= self._heard <= _LONGEST
        if not within or len(self._words) <= self._told or not is_divided(self._text):
            return False
        samples = np.frombuffer(bytes(self._pcm), "<i2").astype(np.float32) / 32768
        self._hearing = self._aligner.marks(samples, self._words)
        return True

    def _is_whole(self, word: Unit) -> bool:
        return self._text_done or word.end < len(self._text)

    def _tell(self, marks: Tensor) -> list[TimedWord]:
        found = forward(marks.tolist())
        last = self.over and self._complete
        told = len(self._words) if last else self._sure(found)
        self._before = found
        words = [self._timed(place, found) for place in range(self._told, told)]
        self._told = max(self._told, told)
        return [word for word, unit in words if unit.is_said]

    def _sure(self, found: Marks) -> int:
        """The words, from the first on, that two hearings place within a step of each other."""
        step = self._aligner.net.config.step_ms
        end = (self._looked - _UNSURE) * 1000 / SAMPLE_RATE
        for place in range(len(self._words)):
            now, then = (each[2 * place : 2 * place + 2] for each in (found, self._before))
            same = len(then) == len(now) and all(
                abs(a - b) <= step for a, b in zip(now, then, strict=True)
            )
            if not same or now[1] > end:
                return place
        return len(self._words)

    def _timed(self, place: int, found: Marks) -> tuple[TimedWord, Unit]:
        """Inside the audio, and behind the words before, wherever an earlier hearing put them."""
        unit = self._words[place]
        first, end = (
            min(self._looked, time * SAMPLE_RATE // 1000)
            for time in found[2 * place : 2 * place + 2]
        )
        first = max(first, self._floor)
        self._floor = max(first, end)
        return TimedWord(unit.first, unit.end, first, self._floor), unit
