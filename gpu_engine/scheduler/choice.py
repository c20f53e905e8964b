"""Who goes first. Every stream has one latest start, an instant that only its own progress moves:
new streams always fall behind old ones sooner or later, so none can starve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.costs import CostModel
from gpu_engine.scheduler.jobs import Flags, Job, Kind, Seconds, Slots
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import FRAME_S, FREE, GENERATED, PREFILL
from gpu_engine.scheduler.table import NEVER, Table

# Kinds as small numbers, so that one array can name every row's next job.
NOTHING, CODEC = 0, 4
FULL = 1_000_000
STEPS = (Kind.ENCODE, Kind.PREFILL, Kind.PREDICTOR, Kind.TALKER, Kind.CODEC)
CODEC_JOB, PREFILL_JOB = Kind.CODEC, Kind.PREFILL
NONE_LEFT = np.zeros(0, np.int64)
LANES = {kind: number for number, kind in enumerate(STEPS)} | {Kind.ALIGN: NOTHING}


@dataclass(slots=True)
class View:
    """All slots at one instant. `wants` is the number of each row's next job whatever its lead,
    `due` the frames to decode now, `start` the latest start, `ahead` the lead in seconds,
    `waits` who is listening and has heard nothing yet, `free` whom pacing does not hold back."""

    now: float
    wants: Slots
    due: Slots
    start: Seconds
    ahead: Seconds
    waits: Flags
    free: Flags


class Choice:
    """Looks at the table, changes nothing. Written for few operations, not for few rows: each
    costs about the same for one row as for hundreds."""

    def __init__(
        self, table: Table, costs: CostModel, outlook: Outlook, settings: SchedulerSettings
    ) -> None:
        self._table, self._costs = table, costs
        self._outlook, self._settings = outlook, settings
        self.trim_s = FRAME_S
        """Leading silence that a stream's first chunk is expected to lose."""
        self.spoken_share = 0.35
        """Frames that a stream usually makes, as a share of its cap."""
        self.caution = 0.0
        """Seconds by which listeners ran dry lately: later ones are given that much more."""
        self.streams = 0
        """Streams that spoke when it last looked."""
        self.rivals = 0
        """Those of them whose listeners have too little in hand to let others go first."""

    def look(self, now: float) -> View:
        t, chosen = self._table, self._settings
        pending, ahead = t.pending, t.ahead(now)
        free, last = t.background | ~t.paced, t.stage == GENERATED
        steps = (t.stage > FREE) & ~last
        if t.open_text.any():
            resting = t.out_of_text
            steps &= ~resting
            last |= resting
        streams = int(np.count_nonzero(steps & (free | (ahead < chosen.busy_lead))))
        self.streams = streams
        self.rivals = int(np.count_nonzero(steps & (free | (ahead < chosen.rival_lead))))
        silent = np.flatnonzero(t.silent)
        chunk, room = self._chunk(streams, pending, silent, now)
        due = self._due(chunk, room, pending, last)
        wants = np.where(due > 0, CODEC, np.where(steps, t.stage, NOTHING))
        start = self._latest_start(chunk, pending, streams, silent, now)
        waits = t.silent & ~(t.background | t.reading) if len(silent) else t.silent
        return View(now, wants, due, start, ahead, waits, free)

    def _chunk(
        self, streams: int, pending: Slots, silent: Slots, now: float
    ) -> tuple[Slots, Slots]:
        """Frames of the next decode: the ramp's, fewer where the lead is too short to make and
        decode them, never fewer than what keeps up; and how many the lead has room for."""
        t, outlook = self._table, self._outlook
        steady, step = int(outlook.steady[streams]), outlook.step[streams]
        least = steady if steady == 1 else np.minimum(steady, t.ramp[:, -1])
        lead = t.dry_at + (pending * (outlook.safety * step) - (now + outlook.cushion[streams]))
        room = np.searchsorted(outlook.chunk_times(streams), lead, side="right") - 1
        chunk = np.minimum(np.maximum(t.chunk, least), np.maximum(room, least))
        if len(silent):
            chunk[silent], room[silent] = self._first_chunk(streams, silent), FULL
        return chunk, room

    def _first_chunk(self, streams: int, rows: Slots) -> Slots:
        """So much that after trimming the audio in hand lasts until the next chunk."""
        t = self._table
        fresh = t.decoded[rows] == 0
        missing = self.needed(rows) - t.held[rows] + fresh * self.trim_s
        frames = np.ceil(missing / (FRAME_S + self._outlook.late[streams])).astype(np.int64)
        frames = np.maximum(frames, np.where(fresh, t.ramp[rows, 0], 1))
        first: Slots = np.minimum(frames, self._settings.longest_chunk)
        return first

    def needed(self, rows: Slots) -> Seconds:
        """Audio that must be in a listener's hands so that the next chunk comes in time, and, on a
        device that can't keep up, what the rest of the speech will fall behind. Streams that are
        far ahead are counted for the latter alone: the next chunk goes before theirs."""
        t, outlook = self._table, self._outlook
        rest = np.maximum(0.0, t.cap[rows] * self.spoken_share - t.frames[rows])
        soon, late = outlook.next_chunk(max(1, self.rivals)), outlook.late[self.streams]
        behind: Seconds = self.caution + soon + late * rest
        return np.minimum(behind, self._settings.longest_hold)

    def _due(self, chunk: Slots, room: Slots, pending: Slots, last: Flags) -> Slots:
        """Whole chunks; the rest of what is complete; all there is where the next frame would come
        too late. One frame alone is not worth a decode on a device whose decodes are slow."""
        t = self._table
        whole = np.where(last, self._outlook.longest, chunk)
        rushed = (room <= pending) & (pending >= self._outlook.least_rush)
        due = np.where(pending >= whole, whole, np.where(last | rushed, pending, 0))
        due[t.decoding] = 0
        return due

    def _latest_start(
        self, chunk: Slots, pending: Slots, streams: int, silent: Slots, now: float
    ) -> Seconds:
        """No audio yet: soon after arrival. Playing: a margin before the listener runs dry, and
        before the work until then; at the last moment ahead of all but who has waited long for a
        first frame. Background work only must not wait for ever, nor a long prompt's parts."""
        t, chosen = self._table, self._settings
        work = np.maximum(chunk - pending, 0) * self._outlook.step[streams]
        start: Seconds = t.dry_at - (work + chosen.margin)
        start -= chosen.rescue * (t.dry_at < now + self._outlook.next_chunk(streams))
        if len(silent):
            early = chosen.join_head_start * (t.stage[silent] == PREFILL)
            start[silent] = t.arrived[silent] + (chosen.first_audio_target - early)
            if t.reading.any():
                start[t.reading] = t.progressed[t.reading] + chosen.reading_patience
        if t.background.any():
            patient = t.progressed[t.background] + chosen.background_patience
            start[t.background] = patient
        return start

    # ---- from a view to a job

    def job(self, view: View, lead: float, closed: frozenset[Kind]) -> tuple[Job | None, float]:
        """The most urgent job with its batch filled, and its latest start."""
        ready = (view.wants == CODEC) | (view.wants > 0) & (view.free | (view.ahead < lead))
        for kind in closed:
            ready &= view.wants != LANES[kind]
        start = np.where(ready, view.start, NEVER)
        anchor = int(start.argmin())
        if start[anchor] == NEVER:
            return None, NEVER
        kind, frames = STEPS[view.wants[anchor]], int(view.due[anchor])
        same = ready & (view.wants == view.wants[anchor])
        if kind is CODEC_JOB:
            same &= view.due == frames
        else:
            frames = 0
        slots = self._fill(view, start, same, anchor, kind, frames)
        predicted = self._costs.expect(kind, len(slots), frames)
        left = self._table.prefills[slots] - 1 if kind is PREFILL_JOB else NONE_LEFT
        job = Job(kind, slots, self._table.id[slots], frames, left, predicted=predicted)
        return job, float(start[anchor])

    def _fill(
        self, view: View, start: Seconds, same: Flags, anchor: int, kind: Kind, frames: int
    ) -> Slots:
        """Rows in order of urgency, the anchor first, as many as the batch's time allows."""
        rows = np.flatnonzero(same)
        rows = rows[np.argsort(start[rows], kind="stable")][: self._limit(kind, frames)]
        if len(rows) > 1:
            urgent = int(np.count_nonzero(start[rows] <= view.now + self._settings.fill_horizon))
            firsts = int(np.count_nonzero(view.waits[rows]))
            others = bool((view.waits & ~same).any())
            rows = rows[: self._affordable(kind, frames, len(rows), urgent, firsts, others)]
        return rows

    def _affordable(
        self, kind: Kind, frames: int, rows: int, urgent: int, firsts: int, others: bool
    ) -> int:
        """How many of the rows may go together, `firsts` of which are first frames; `others` wait
        for theirs. A decode's time grows with its rows: it is cut where others wait. Steps cost
        about the same for one row as for many: only rows with time to spare are left out.
        """
        chosen = self._settings
        seconds = self._costs.seconds(kind)
        cost = seconds[1 : rows + 1, min(frames, seconds.shape[1] - 1)]
        longest = NEVER
        if kind is CODEC_JOB:
            longest = chosen.block_limit if others else chosen.longest_job
            longest = max(longest, cost[firsts - 1] if firsts else 0.0)
        elif firsts or others:
            longest = cost[max(1, urgent) - 1] * (1 + chosen.fill_tolerance)
        return max(1, int(np.searchsorted(cost, longest, side="right")))

    def _limit(self, kind: Kind, frames: int) -> int:
        if kind is CODEC_JOB:
            chosen = self._settings
            return min(chosen.codec_rows, max(1, chosen.codec_frames // frames))
        return self._settings.prefill_rows if kind is PREFILL_JOB else self._settings.step_rows
