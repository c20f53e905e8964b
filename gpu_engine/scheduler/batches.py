"""From a view to a job: the most urgent row is the anchor, and compatible rows fill its batch."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.costs import CostModel
from gpu_engine.scheduler.jobs import Flags, Job, Kind, Seconds, Slots
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.table import NEVER, Table
from gpu_engine.scheduler.tenants import Tenants
from gpu_engine.scheduler.urgency import View

# By stage: the job that a stream's generation needs next.
STEPS = (Kind.ENCODE, Kind.PREFILL, Kind.PREDICTOR, Kind.TALKER)
CODEC, PREFILL = Kind.CODEC, Kind.PREFILL
NONE_LEFT = np.zeros(0, np.int64)


class Batches:
    """Looks at the table, changes nothing."""

    def __init__(
        self, table: Table, costs: CostModel, tenants: Tenants, settings: SchedulerSettings
    ) -> None:
        self._table, self._costs = table, costs
        self._tenants, self._settings = tenants, settings
        self._open: dict[frozenset[Kind], Flags] = {}

    def job(self, view: View, lead: float, closed: frozenset[Kind]) -> tuple[Job | None, float]:
        """The most urgent job of streams that are no further ahead than that, with its batch
        filled, and its latest start."""
        ready = self._ready(view, lead, closed)
        start = np.where(ready, view.start, NEVER)
        anchor = int(start.argmin())
        urgent = float(start[anchor])
        if urgent == NEVER:
            return None, NEVER
        t, frames = self._table, int(view.due[anchor])
        kind = CODEC if frames > 0 else STEPS[t.stage[anchor]]
        if kind is CODEC:
            same = view.due == frames
        else:
            frames = 0
            same = (t.stage == t.stage[anchor]) & (ready > view.decodes)
        slots = self._fill(view, start, same, kind, frames)
        predicted = self._costs.expect(kind, len(slots), frames)
        left = t.prefills[slots] - 1 if kind is PREFILL else NONE_LEFT
        return Job(kind, slots, t.id[slots], frames, left, predicted=predicted), urgent

    def keeps_clear(self, view: View) -> bool:
        """True where no job should be launched behind another: whoever comes would wait for both.
        False while a stream of those who ask for least is waiting itself."""
        if view.block == NEVER:
            return False
        return not np.count_nonzero(view.waits & (self._table.handicap == 0))

    def _ready(self, view: View, lead: float, closed: frozenset[Kind]) -> Flags:
        """Whose next job may run."""
        t = self._table
        if lead == self._settings.busy_lead:
            steps = view.speaking
        else:
            steps = view.steps & (t.unpaced | (view.ahead < lead))
        if not closed:
            return view.decodes | steps
        steps = (steps > view.decodes) & self._open_stages(closed)[t.stage]
        return steps if CODEC in closed else steps | view.decodes

    def _open_stages(self, closed: frozenset[Kind]) -> Flags:
        """By stage: whether the job that follows may run; the last two need none."""
        if closed not in self._open:
            flags = [kind not in closed for kind in STEPS]
            self._open[closed] = np.array([*flags, False, False])
        return self._open[closed]

    def _fill(self, view: View, start: Seconds, same: Flags, kind: Kind, frames: int) -> Slots:
        """Rows in order of urgency, the anchor first, as many as the batch's time allows."""
        rows: Slots = same.nonzero()[0]
        if len(rows) == 1:
            return rows
        starts = start[rows]
        order = starts.argsort(kind="stable")[: self._limit(kind, frames)]
        rows, starts = rows[order], starts[order]
        others = view.waiting > int(np.count_nonzero(view.waits & same)) if view.waiting else False
        return rows[: self._affordable(view, kind, frames, rows, starts, others)]

    def _affordable(
        self, view: View, kind: Kind, frames: int, rows: Slots, starts: Seconds, others: bool
    ) -> int:
        """How many of the rows may go together; `others` wait for their first frames. A decode's
        time grows with its rows: it is cut where others wait. Steps cost about the same for one row
        as for many: only rows with time to spare are left out, and what would stand for long before
        whoever comes.
        """
        chosen, seconds = self._settings, self._costs.seconds(kind)
        cost = seconds[1 : len(rows) + 1, min(frames, seconds.shape[1] - 1)]
        firsts = int(np.count_nonzero(view.waits[rows])) if view.waiting else 0
        longest = view.block
        if kind is CODEC:
            limit = chosen.block_limit if others else chosen.longest_job
            longest = min(longest, max(limit, float(cost[firsts - 1]) if firsts else 0.0))
        elif firsts or others:
            urgent = max(1, self._urgent(view, rows, starts))
            longest = min(longest, float(cost[urgent - 1]) * (1 + chosen.fill_tolerance))
        if longest == NEVER:
            return len(rows)
        return max(1, int(cost.searchsorted(longest, "right")))

    def _urgent(self, view: View, rows: Slots, starts: Seconds) -> int:
        """Rows with no time to spare: beside an anchor, whose tenant used less, those that have no
        time left."""
        horizon: float | Seconds = view.now + self._settings.fill_horizon
        if self._tenants.uneven:
            handicap = self._table.handicap[rows]
            horizon = np.where(handicap > handicap[0], view.now, horizon)
        return int(np.count_nonzero(starts <= horizon))

    def _limit(self, kind: Kind, frames: int) -> int:
        chosen = self._settings
        if kind is CODEC:
            return min(chosen.codec_rows, max(1, chosen.codec_frames // frames))
        return chosen.prefill_rows if kind is PREFILL else chosen.step_rows
