"""How many streams speak at once, and how many of them go no later than another."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.jobs import Flags, Seconds, Slots
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.table import Table
from gpu_engine.scheduler.tenants import Tenants


class Crowd:
    """As last counted. `streams` speak. By rank among the handicaps, `before` are those of them
    that go no later: one number while all go alike. `uneven` where they do not."""

    def __init__(self, table: Table, tenants: Tenants, settings: SchedulerSettings) -> None:
        self._table, self._tenants, self._settings = table, tenants, settings
        self.streams = 0
        self.uneven = False
        self.before: int | Slots = 0
        self._levels, self._ranks = tenants.levels, table.rank
        self._speaking, self._ahead = table.unpaced, table.dry_at
        self._rivals: int | Slots | None = 0

    def count(self, speaking: Flags, ahead: Seconds) -> None:
        """Those who speak, and everybody's lead."""
        self.streams = int(np.count_nonzero(speaking))
        self._speaking, self._ahead, self._rivals = speaking, ahead, None
        self.uneven = self._tenants.uneven
        self._ranks, self._levels = self._table.rank, self._tenants.levels
        self.before = self._no_later(speaking) if self.uneven else self.streams

    @property
    def first(self) -> int:
        """Streams that speak and do not go later than any."""
        return self.before if isinstance(self.before, int) else int(self.before[0])

    def rivals(self, rows: Slots) -> int | Slots:
        """How many go no later than each, and have too little in hand to let it go first."""
        if self._rivals is None:
            short = self._table.unpaced | (self._ahead < self._settings.rival_lead)
            found = self._speaking & short
            self._rivals = self._no_later(found) if self.uneven else int(np.count_nonzero(found))
        if isinstance(self._rivals, int):
            return self._rivals
        rank = self._levels.searchsorted(self._table.handicap[rows], "right") - 1
        rivals: Slots = self._rivals[rank]
        return rivals

    def _no_later(self, who: Flags) -> Slots:
        counts = np.bincount(self._ranks, who, len(self._levels))
        return counts.cumsum().astype(np.int64)
