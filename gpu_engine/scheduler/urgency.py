"""What every stream needs next, and when at the latest: an instant that only its own progress
moves. New streams always fall behind old ones sooner or later, so none can starve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.chunks import Chunks
from gpu_engine.scheduler.crowd import Crowd
from gpu_engine.scheduler.jobs import Flags, Seconds, Slots
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import FREE, GENERATED, PREFILL
from gpu_engine.scheduler.table import NEVER, Table
from gpu_engine.scheduler.tenants import Tenants


@dataclass(slots=True)
class View:
    """All slots at one instant. `due` are the frames to decode now, `decodes` whose next job that
    is, `steps` who can make another frame, `speaking` who of them is not held back by pacing,
    `start` the latest start, `ahead` the lead in seconds; `waiting` are listening and have heard
    nothing yet: as many of `waits`. `block`: seconds that a job may take so that others' first
    frames hardly wait."""

    now: float
    due: Slots
    decodes: Flags
    steps: Flags
    speaking: Flags
    start: Seconds
    ahead: Seconds
    waits: Flags
    waiting: int
    block: float


class Urgency:
    """Looks at the table, changes nothing. Written for few operations, not for few rows: each
    costs about the same for one row as for hundreds."""

    def __init__(
        self,
        table: Table,
        outlook: Outlook,
        crowd: Crowd,
        chunks: Chunks,
        tenants: Tenants,
        settings: SchedulerSettings,
    ) -> None:
        self._table, self._outlook, self._crowd = table, outlook, crowd
        self._chunks, self._tenants, self._settings = chunks, tenants, settings

    def look(self, now: float) -> View:
        t, chosen = self._table, self._settings
        pending, ahead = t.pending, t.ahead(now)
        last = t.stage == GENERATED
        # Who has generated all is no longer FREE: the two never overlap.
        steps = (t.stage > FREE) ^ last
        if np.count_nonzero(t.open_text):
            resting = t.out_of_text
            steps &= ~resting
            last |= resting
        speaking = steps & (t.unpaced | (ahead < chosen.busy_lead))
        self._crowd.count(speaking, ahead)
        short = self._tenants.shared and self._crowd.streams <= self._outlook.fits_even
        silent = t.silent.nonzero()[0]
        chunk, room = self._chunks.sized(pending, silent, short, now)
        due = self._chunks.due(chunk, room, pending, last, short)
        start = self._latest_start(chunk, pending, silent, now)
        waits = t.silent & ~(t.background | t.reading) if len(silent) else t.silent
        return View(
            now,
            due,
            due > 0,
            steps,
            speaking,
            start,
            ahead,
            waits,
            int(np.count_nonzero(waits)) if len(silent) else 0,
            self._outlook.block if short else NEVER,
        )

    def _latest_start(self, chunk: Slots, pending: Slots, silent: Slots, now: float) -> Seconds:
        """No audio yet: soon after arrival, where tenants share the device sooner. Playing: a
        margin before the listener runs dry, and before the work until then; at the last moment
        ahead of all but who has waited long for a first frame. Background work only must not wait
        for ever, nor a long prompt's parts. Whose tenant used more than others goes later."""
        t, chosen, outlook = self._table, self._settings, self._outlook
        work = np.maximum(chunk - pending, 0) * outlook.step[self._crowd.streams]
        start: Seconds = t.dry_at - (work + chosen.margin)
        soon = now + outlook.next_chunk[self._crowd.before]
        start -= chosen.rescue * (t.dry_at < (soon[t.rank] if self._crowd.uneven else soon))
        if len(silent):
            start[silent] = self._first_start(silent)
            if np.count_nonzero(t.reading):
                start[t.reading] = t.progressed[t.reading] + chosen.reading_patience
        if np.count_nonzero(t.background):
            start[t.background] = t.progressed[t.background] + chosen.background_patience
        if self._crowd.uneven:
            start += t.handicap
        return start

    def _first_start(self, rows: Slots) -> Seconds:
        t, chosen = self._table, self._settings
        early = chosen.join_head_start * (t.stage[rows] == PREFILL)
        start: Seconds = t.arrived[rows] + (chosen.first_audio_target - early)
        if self._tenants.shared:
            start -= chosen.shared_head_start * (t.handicap[rows] == 0)
        return start
