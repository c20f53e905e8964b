"""What launched jobs and their results change in the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.chunks import Chunks
from gpu_engine.scheduler.habits import Habits
from gpu_engine.scheduler.jobs import Booked, Flags, Job, Kind, Result, Slots
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
from gpu_engine.scheduler.waits import Waits

NOBODY = np.zeros(0, np.bool_)
CODEC, PREDICTOR, PREFILL_JOB = Kind.CODEC, Kind.PREDICTOR, Kind.PREFILL


@dataclass(slots=True)
class Totals:
    streams: int = 0
    frames: int = 0
    underruns: int = 0


class Booking:
    """`launch` moves counters as if no row stopped or broke, `complete` sets right what did."""

    def __init__(self, seats: Seats, chunks: Chunks, habits: Habits, waits: Waits) -> None:
        self._seats, self._chunks, self._habits, self._waits = seats, chunks, habits, waits
        self._table = seats.table
        self.totals = Totals()

    def launch(self, job: Job, now: float) -> None:
        t, rows = self._table, job.slots
        self._waits.begins(job, now)
        t.jobs[rows] += 1
        t.progressed[rows] = now
        if job.kind is CODEC:
            t.decoded[rows] += job.frames
            t.decoding[rows] = True
            self._waits.decodes(job, now)
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
        t, rows = self._table, job.slots
        t.jobs[rows] -= 1
        stages = t.stage[rows]
        present = stages != LEAVING
        ended = self._break(job, result, present)
        released = NOBODY
        if job.kind is CODEC:
            released = self._play(job, result, present, now)
        elif job.kind is PREDICTOR:
            t.booked[rows] = now
            self._waits.framed(job, now)
        else:
            t.booked[rows] = now
            drawn = present & (job.left == 0) if job.kind is PREFILL_JOB else present
            self._learn_code(job, result, stages, drawn)
        if np.count_nonzero(t.stage[rows] == GENERATED):
            ended += self._finish(rows[present], now)
        self._seats.vacate(rows)
        return Booked(ended, released)

    def _break(self, job: Job, result: Result, present: Flags) -> list[Ended]:
        """Rows whose numbers broke end alone; `present` loses them."""
        if result.broken is None or not np.count_nonzero(result.broken):
            return []
        broken = np.flatnonzero(result.broken & present)
        present[broken] = False
        ended = [self._seats.leave(int(job.ids[row]), "error") for row in broken]
        return [end for end in ended if end is not None]

    def _learn_code(self, job: Job, result: Result, stages: Slots, present: Flags) -> None:
        """Code 0 of each row's next frame is known, or known to be the end. A frame that was begun
        in the meantime does not count. At its cap a stream's last code never becomes a frame."""
        t, rows = self._table, job.slots
        goes = present if result.stopped is None else present > result.stopped
        capped = goes & (stages == GENERATED)
        t.known[rows[goes > capped]] += 1
        for slot in rows[capped].tolist():
            t.reasons[slot] = "length"
        for slot in rows[present > goes].tolist():
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
        if np.count_nonzero(heard) < len(rows):
            ready &= heard | self._lasts(rows)
            self._note_first(rows[ready & ~heard], now)
        self._note_late(rows[ready & heard], now)
        leaving = rows[ready]
        t.dry_at[leaving] = np.maximum(t.dry_at[leaving], now) + t.held[leaving]
        t.held[leaving] = 0.0
        t.heard[leaving] = True
        t.silent[leaving] = False
        t.chunks[leaving] += 1
        t.chunk[leaving] = t.ramp[leaving, np.minimum(t.chunks[leaving], t.ramp.shape[1] - 1)]
        return ready

    def _note_late(self, rows: Slots, now: float) -> None:
        """Listeners who ran dry before this audio came."""
        t = self._table
        behind = now - t.dry_at[rows]
        late = rows[behind > 0]
        self._habits.ran_dry(float(behind.max(initial=0.0)))
        if len(late):
            t.underruns[late] += 1
            self.totals.underruns += len(late)

    def _lasts(self, rows: Slots) -> Flags:
        """Whose audio in hand lasts until more comes, or who will get no more for now."""
        t = self._table
        stalled = (t.stage[rows] == GENERATED) | t.out_of_text[rows]
        over = stalled & (t.pending[rows] <= 0)
        enough = t.held[rows] >= self._chunks.needed(rows)
        lasting: Flags = over | enough | t.background[rows]
        return lasting

    def _note_first(self, rows: Slots, now: float) -> None:
        t = self._table
        for slot in rows.tolist():
            t.first_at[slot] = now
            self._habits.trimmed(float(t.decoded[slot]) * FRAME_S - float(t.held[slot]))
            if not t.background[slot]:
                self._habits.waited(now - float(t.admitted[slot]))

    def _finish(self, rows: Slots, now: float) -> list[Ended]:
        """Streams whose last frame is made and decoded, and of whom nothing more is expected. What
        was still held back leaves with their end."""
        t = self._table
        done = (t.stage[rows] == GENERATED) & (t.jobs[rows] == 0)
        over = rows[done & (t.pending[rows] <= 0)]
        if not len(over):
            return []
        held = over[(t.held[over] > 0) & ~t.heard[over]]
        self._note_first(held, now)
        t.heard[held] = True
        ended = []
        for slot in over.tolist():
            self._habits.spoke(float(t.frames[slot]) / max(1, int(t.cap[slot])))
            end = self._seats.leave(int(t.id[slot]), t.reasons[slot])
            assert end is not None, "a seated stream ends once"
            ended.append(end)
        return ended
