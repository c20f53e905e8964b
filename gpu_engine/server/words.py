"""The words of the core's streams: who waits for some, what was found, and ends that wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import structlog

from gpu_engine import messages as m
from gpu_engine.align import Aligner, TimedWord, Track
from gpu_engine.runner import Outcome
from gpu_engine.runner.local import FAULTS, Done
from gpu_engine.scheduler import BooksError, Scheduler

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class _Caption:
    """`held`: the stream's end, told when its last words have been. `is_away`: a job looks for
    some, whose result is not booked."""

    track: Track
    held: m.StreamFinished | None = None
    found: list[TimedWord] = field(default_factory=list)
    is_away: bool = False


class Captions:
    """One for each stream that asked for words, until all are told. A stream gives up its slot when
    it ends, whether or not its words are known by then."""

    def __init__(
        self, aligner: Aligner | None, scheduler: Scheduler, send: Callable[[m.ToFront], None]
    ) -> None:
        self._aligner, self._scheduler, self._send = aligner, scheduler, send
        self._captions: dict[int, _Caption] = {}

    def __len__(self) -> int:
        return len(self._captions)

    def open(self, submit: m.Submit) -> None:
        if submit.word_times and self._aligner is not None:
            track = self._aligner.open()
            track.add_text(submit.text, submit.text_done)
            self._captions[submit.stream] = _Caption(track)

    def add_text(self, more: m.Extend) -> None:
        if (caption := self._captions.get(more.stream)) is not None:
            caption.track.add_text(more.text, more.done)

    def hear(self, stream: int, pcm: bytes) -> None:
        if (caption := self._captions.get(stream)) is not None:
            caption.track.hear(pcm)

    def ask(self, now: float) -> None:
        """Has the scheduler look for words where there may be some."""
        for stream, caption in self._captions.items():
            if caption.track.due and not caption.is_away:
                self._scheduler.ask_words(stream, now, last=caption.held is not None)

    def end(self, finished: m.StreamFinished) -> None:
        """Tells the end of a stream whose audio has left: at once, or behind its last words."""
        caption = self._captions.get(finished.stream)
        if caption is None or finished.reason == "cancelled":
            self.drop(finished.stream)
            self._send(finished)
            return
        caption.held = finished
        caption.track.end(complete=finished.reason == "stop")

    def drop(self, stream: int) -> None:
        """Nobody waits for these words any more; an end that waited for them is told."""
        caption = self._captions.pop(stream, None)
        if caption is not None:
            self._scheduler.drop_words(stream)
            if caption.held is not None:
                self._send(caption.held)

    # ---- the job

    def look(self, stream: int) -> Done:
        """Launched and done in one: a look is too short to be worth another thread."""
        began, nobody = time.perf_counter(), np.zeros(0, np.bool_)
        caption = self._captions[stream]
        caption.is_away = True
        try:
            caption.found = caption.track.look()
        except FAULTS:
            log.exception("looking for words failed", stream=stream)
            self.drop(stream)
        return Done(Outcome(time.perf_counter() - began, nobody, nobody))

    def tell(self, stream: int) -> None:
        """A look's result, unless the stream has been dropped since."""
        caption = self._captions.get(stream)
        if caption is None:
            return
        caption.is_away = False
        if caption.found:
            words = tuple(
                (word.first, word.end, word.first_sample, word.end_sample) for word in caption.found
            )
            self._send(m.StreamWords(stream, words))
        if caption.track.over:
            self.drop(stream)

    def check(self) -> None:
        """When idle nobody waits. Raises BooksError."""
        if self._scheduler.alignments:
            raise BooksError("words are waited for that nobody looks for")
        if lost := [stream for stream, each in self._captions.items() if each.held is not None]:
            raise BooksError(f"the end of stream {lost[0]} is lost")
