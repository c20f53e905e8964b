"""A device whose jobs are done when they are launched: the CPU, and any device without captures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from torch import Tensor

from gpu_engine.runner.cache import Kept
from gpu_engine.runner.memory import Footprint
from gpu_engine.runner.protocol import Outcome, Shapes, Slots
from gpu_engine.runner.runner import Runner, Sampled
from gpu_engine.runner.session import Session
from gpu_engine.runner.voice import VoiceEncoding

log = structlog.get_logger()

# What torch raises for a shape, an index or an allocation that one row asked for.
FAULTS = (RuntimeError, ValueError, IndexError)
# Of a clip: some 8 ms of the shipped encoders on one core.
PIECE_S = 0.32


@dataclass(frozen=True, slots=True)
class Done:
    """A ticket of the past."""

    outcome: Outcome

    def done(self) -> bool:
        return True

    def wait(self) -> Outcome:
        return self.outcome


class LocalDevice:
    """The `Device` over a `Runner`. A batch that fails is tried again row by row: a fault that is
    one row's ends that row alone."""

    def __init__(self, runner: Runner, step_rows: int = 8, codec_rows: int = 32) -> None:
        self.runner = runner
        longest = runner.kv.keys.shape[3]
        self._shapes = Shapes(
            slots=runner.slots,
            positions=runner.slots * longest,
            longest=longest,
            step_rows=_sizes(min(step_rows, runner.slots)),
            codec_rows=_sizes(min(codec_rows, runner.slots)),
        )
        self._samples = runner.checkpoint.codec_decoder.config.samples_per_frame
        self._sessions: dict[int, Session] = {}

    @property
    def shapes(self) -> Shapes:
        return self._shapes

    @property
    def footprint(self) -> Footprint:
        return self.runner.footprint

    def open(self, slot: int, session: Session) -> int:
        self._sessions[slot] = session
        return self.runner.open(session, slot)

    def extend(self, slot: int, text_ids: Sequence[int]) -> None:
        self._sessions[slot].unembedded += text_ids

    def close(self, slot: int) -> None:
        del self._sessions[slot]

    def prefill(self, slots: Slots) -> Done:
        def read(rows: list[Session]) -> Sampled:
            each = [self.runner.read(row) for row in rows]
            return Sampled([one.stopped[0] for one in each], [one.broken[0] for one in each])

        return self._sampled(slots, read)

    def talk(self, slots: Slots) -> Done:
        return self._sampled(slots, self.runner.talk)

    def predict(self, slots: Slots) -> Done:
        return self._each(slots, lambda rows, _: self.runner.predict(rows))

    def decode(self, slots: Slots, frames: int) -> Done:
        audio = np.zeros((len(slots), frames * self._samples), np.float32)

        def run(rows: list[Session], places: Slots) -> None:
            audio[places] = self.runner.decode(rows, frames)

        done = self._each(slots, run).outcome
        broken = done.broken | ~np.isfinite(audio).all(axis=1)
        return Done(Outcome(done.seconds, done.stopped, broken, audio))

    def begin_voice(self, pcm: bytes, with_codes: bool) -> VoiceEncoding:
        return VoiceEncoding(self.runner.checkpoint, pcm, with_codes, PIECE_S)

    def encode(self, encoding: VoiceEncoding) -> Done:
        began = time.perf_counter()
        nobody = np.zeros(1, np.bool_)
        try:
            encoding.advance()
            voice = encoding.voice() if encoding.finished else None
        except FAULTS:
            log.exception("voice encoding failed")
            return Done(Outcome(0.0, nobody, ~nobody))
        return Done(Outcome(time.perf_counter() - began, nobody, nobody, voice=voice))

    @property
    def kept(self) -> Kept:
        return self.runner.kept

    def spoken_codes(self, slot: int, frames: int) -> Tensor:
        return self.runner.codes[slot, :frames].clone()

    def _sampled(self, slots: Slots, run: Callable[[list[Session]], Sampled]) -> Done:
        stopped, broken = np.zeros((2, len(slots)), np.bool_)

        def keep(rows: list[Session], places: Slots) -> None:
            sampled = run(rows)
            stopped[places] = sampled.stopped[: len(rows)]
            broken[places] = sampled.broken[: len(rows)]

        done = self._each(slots, keep).outcome
        return Done(Outcome(done.seconds, stopped, broken | done.broken))

    def _each(self, slots: Slots, run: Callable[[list[Session], Slots], None]) -> Done:
        """All rows at once; where that fails, one by one. `run` also gets the rows' places."""
        rows, places = [self._sessions[slot] for slot in slots.tolist()], np.arange(len(slots))
        stopped, broken = np.zeros((2, len(slots)), np.bool_)
        began = time.perf_counter()
        try:
            run(rows, places)
        except FAULTS:
            log.exception("a batch failed", slots=slots.tolist())
            for place, row in enumerate(rows):
                broken[place] = not _alone(run, row, places[place : place + 1])
        self.runner.settle()
        return Done(Outcome(time.perf_counter() - began, stopped, broken))


def _alone(run: Callable[[list[Session], Slots], None], row: Session, place: Slots) -> bool:
    try:
        run([row], place)
    except FAULTS:
        log.exception("a stream failed", slot=row.slot)
        return False
    return True


def _sizes(most: int) -> tuple[int, ...]:
    """1, 2, 4 ... and the most."""
    sizes = [1]
    while sizes[-1] * 2 < most:
        sizes.append(sizes[-1] * 2)
    return (*sizes, most) if most > 1 else (1,)
