"""What launched jobs and their results change in the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.choice import Choice
from gpu_engine.scheduler.costs import CostModel
from gpu_engine.scheduler.jobs import Booked, Flags, Job, Kind, Result, Seconds, Slots
from gpu_engine.scheduler.seats import Seats
from gpu_engine.scheduler.stream import (
    FRAME_S,
    GENERATED,
    LEAVING,
    PREDICT,
    PREFILL,
    TALK,
    Ended,
)

FIRST_GUESS_AUDIO = 0.15
SMOOTHING = 0.2
FORGETTING, MOST_CAUTION = 0.99, 1.0
NOBODY = np.zeros(0, np.bool_)
CODEC, PREDICTOR, PREFILL_JOB = Kind.CODEC, Kind.PREDICTOR, Kind.PREFILL
# They move no row of the table.
ASIDE = frozenset({Kind.ENCODE, Kind.ALIGN})


@dataclass(slots=True)
class Totals:
    streams: int = 0
    frames: int = 0
    underruns: int = 0


class Booking:
    """`launch` moves counters as if no row stopped or broke, `complete` sets right what did."""

    def __init__(self, seats: Seats, choice: Choice, costs: CostModel) -> None:
        self._seats, self._choice, self._costs = seats, choice, costs
        self._table = seats.table
        self.totals = Totals()
        self.first_audio_s = FIRST_GUESS_AUDIO

    def launch(self, job: Job, now: float) -> None:
        t, rows = self._table, job.slots
        t.jobs[rows] += 1
        t.progressed[rows] = now
        if job.kind is CODEC:
            t.decoded[rows] += job.frames
            t.decoding[rows] = True
        elif job.kind is PREDICTOR:
            t.frames[rows] += 1
            t.stage[rows] = TALK
            self.totals.frames += len(rows)
        else:
            spoken = t.frames[rows] >= t.cap[rows]
            t.stage[rows] = np.where(spoken, GENERATED, PREDICT)
            if job.kind is PREFILL_JOB:
                self._read(rows, job.left)

    def _read(self, rows: Slots, left: Slots) -> None:
        """A prompt that is read in parts is read on."""
        t = self._table
        t.prefills[rows], t.reading[rows] = left, left > 1
        t.stage[rows[left > 0]] = PREFILL

    def complete(self, job: Job, result: Result, now: float) -> Booked:
        self._costs.observe(job.kind, job.rows, job.frames, result.seconds)
        t, rows = self._table, job.slots
        released = NOBODY
        if job.kind in ASIDE:
            return Booked([], released)
        t.jobs[rows] -= 1
        present = t.stage[rows] != LEAVING
        ended = self._break(job, result, present)
        if job.kind is CODEC:
            released = self._play(job, result, present, now)
        elif job.kind is not PREDICTOR:
            drawn = present & (job.left == 0) if job.kind is PREFILL_JOB else present
            self._learn_code(job, result, drawn)
        if (t.stage[rows] == GENERATED).any():
            ended += self._finish(rows[present], now)
        self._seats.vacate(rows)
        return Booked(ended, released)

    def _break(self, job: Job, result: Result, present: Flags) -> list[Ended]:
        """Rows whose numbers broke end alone; `present` loses them."""
        if result.broken is None or not result.broken.any():
            return []
        broken = np.flatnonzero(result.broken & present)
        present[broken] = False
        ended = [self._seats.leave(int(job.ids[row]), "error") for row in broken]
        return [end for end in ended if end is not None]

    def _learn_code(self, job: Job, result: Result, present: Flags) -> None:
        """Code 0 of each row's next frame is known, or known to be the end. A frame that was begun
        in the meantime does not count. At its cap a stream's last code never becomes a frame."""
        t, rows = self._table, job.slots
        stopped = present & (False if result.stopped is None else result.stopped)
        capped = present & ~stopped & (t.stage[rows] == GENERATED)
        t.known[rows[present & ~stopped & ~capped]] += 1
        for slot in rows[capped].tolist():
            t.reasons[slot] = "length"
        for slot in rows[stopped].tolist():
            t.stage[slot] = GENERATED
            self.totals.frames -= int(t.frames[slot] - t.known[slot])
            t.frames[slot] = t.known[slot]
            t.reasons[slot] = "stop"

    def _play(self, job: Job, result: Result, present: Flags, now: float) -> Flags:
        """Moves the playback clocks. Audio of a stream that was not heard yet is held back until it
        lasts until the next chunk; everything after that leaves at once."""
        t, rows = self._table, job.slots
        t.decoding[rows], t.progressed[rows] = False, now
        if result.audio is not None:
            t.held[rows[present]] += result.audio[present]
        heard = t.heard[rows]
        ready = present & (t.held[rows] > 0)
        if not heard.all():
            ready &= heard | self._lasts(rows)
            self._note_first(rows[ready & ~heard], now)
        late = ready & heard & (now > t.dry_at[rows])
        self._learn_lateness(now - t.dry_at[rows[late]])
        leaving = rows[ready]
        t.dry_at[leaving] = np.maximum(t.dry_at[leaving], now) + t.held[leaving]
        t.held[leaving] = 0.0
        t.heard[leaving] = True
        t.silent[leaving] = False
        t.chunks[leaving] += 1
        t.chunk[leaving] = t.ramp[leaving, np.minimum(t.chunks[leaving], t.ramp.shape[1] - 1)]
        t.underruns[rows[late]] += 1
        self.totals.underruns += int(np.count_nonzero(late))
        return ready

    def _learn_lateness(self, seconds: Seconds) -> None:
        """What no cost model foresaw, such as a machine that others use, is remembered for some
        hundred decodes."""
        worst = float(seconds.max(initial=0.0))
        self._choice.caution = min(MOST_CAUTION, max(FORGETTING * self._choice.caution, worst))

    def _lasts(self, rows: Slots) -> Flags:
        """Whose audio in hand lasts until more comes, or who will get no more for now."""
        t = self._table
        stalled = (t.stage[rows] == GENERATED) | t.out_of_text[rows]
        over = stalled & (t.pending[rows] <= 0)
        enough = t.held[rows] >= self._choice.needed(rows)
        lasting: Flags = over | enough | t.background[rows]
        return lasting

    def _note_first(self, rows: Slots, now: float) -> None:
        t = self._table
        for slot in rows.tolist():
            t.first_at[slot] = now
            made = float(t.decoded[slot]) * FRAME_S
            self._choice.trim_s += SMOOTHING * (made - float(t.held[slot]) - self._choice.trim_s)
            if not t.background[slot]:
                waited = now - float(t.admitted[slot])
                self.first_audio_s += SMOOTHING * (waited - self.first_audio_s)

    def _finish(self, rows: Slots, now: float) -> list[Ended]:
        """Streams whose last frame is made and decoded, and of whom nothing more is expected. What
        was still held back leaves with their end."""
        t = self._table
        done = (t.stage[rows] == GENERATED) & (t.jobs[rows] == 0)
        over = rows[done & (t.pending[rows] <= 0)]
        held = over[(t.held[over] > 0) & ~t.heard[over]]
        self._note_first(held, now)
        t.heard[held] = True
        ended = []
        for slot in over.tolist():
            share = float(t.frames[slot]) / max(1, int(t.cap[slot]))
            self._choice.spoken_share += SMOOTHING * (share - self._choice.spoken_share)
            end = self._seats.leave(int(t.id[slot]), t.reasons[slot])
            assert end is not None, "a seated stream ends once"
            ended.append(end)
        return ended
