"""How things stand, for people who watch: who waits, and how far ahead of their listeners streams
are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.stream import Stream
from gpu_engine.scheduler.table import Table


@dataclass(frozen=True, slots=True)
class Load:
    """`waiting_background`: of those without audio yet, who may wait. Leads in seconds, over the
    streams that somebody listens to: the shortest but for one in twenty, and the median."""

    waiting_background: int
    lead_low: float
    lead_median: float


def load(table: Table, queued: Collection[Stream], now: float) -> Load:
    unheard = table.alive & ~table.heard & table.background
    waiting = sum(stream.background for stream in queued) + int(np.count_nonzero(unheard))
    leads = table.ahead(now)[table.alive & table.heard & table.paced]
    if not len(leads):
        return Load(waiting, 0.0, 0.0)
    low, median = np.quantile(np.maximum(leads, 0.0), (0.05, 0.5))
    return Load(waiting, float(low), float(median))
