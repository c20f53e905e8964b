"""What the cost model says about whole streams: how long their next chunk takes, how large it must
be to keep up with its own playing, and how many streams fit into real time."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.costs import CostModel, Table
from gpu_engine.scheduler.jobs import Kind
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import FRAME_S

# A chunk keeps up when it is made in this share of the time that it plays.
KEEPS_UP = 0.85
# Where none keeps up: the smallest whose frames cost no more than this times the cheapest.
THRIFTY = 1.1
# Any moment may bring a frame of everybody in between; delays grow as a queue's do with the share
# of time that is taken, up to eight times that. A device that can't keep up is late by `late`.
BUSIEST = 0.875


class Outlook:
    """Indexed by the number of streams that speak at once; arrays are seconds unless named.

    `step[n]`: one frame of every stream. `codec[n, m]`: decoding m frames of every stream.
    `steady[n]`: the smallest chunk that keeps up. `rate[n]`: seconds a frame, chunks at their best;
    `late[n]`: what that is above real time. `cushion[n]`: room for what can't be predicted.
    `fits`: streams that fit into real time. `longest`: frames that one stream may have decoded at
    once: nobody can go before a decode that has begun.
    """

    def __init__(self, costs: CostModel, settings: SchedulerSettings) -> None:
        self._costs, self._settings = costs, settings
        self._version = -1
        self.refresh()

    def refresh(self) -> None:
        """Follows the cost model; cheap while that has not moved."""
        if self._version == self._costs.version:
            return
        self._version = self._costs.version
        chosen = self._settings
        talker = _split(self._costs.seconds(Kind.TALKER), chosen.step_rows)[:, 0]
        predictor = _split(self._costs.seconds(Kind.PREDICTOR), chosen.step_rows)[:, 0]
        self.step = talker + predictor
        self.codec = _split(self._costs.seconds(Kind.CODEC), chosen.codec_rows)
        self.safety = self._costs.safety()
        self._frames = frames = np.arange(self.codec.shape[1])
        total = frames * self.step[:, None] + self.codec
        keeps_up = total[:, 1:] <= KEEPS_UP * FRAME_S * frames[1:]
        each = total[:, 1:] / frames[1:]
        best = each.min(1)
        thrifty = each <= THRIFTY * best[:, None]
        self.steady = np.where(keeps_up.any(1), keeps_up.argmax(1), thrifty.argmax(1)) + 1
        self.late = np.maximum(0.0, best - FRAME_S)
        self.rate = best
        busy = np.where(best < FRAME_S, np.minimum(best / FRAME_S, BUSIEST), 0.0)
        self.cushion = (chosen.cushion + self.step) / (1 - busy)
        fitting = np.flatnonzero(best <= chosen.utilisation * FRAME_S)
        self.fits = int(fitting[-1]) if len(fitting) else 0
        quick = int(np.searchsorted(self.codec[1], chosen.longest_job, side="right")) - 1
        self.longest = max(quick, int(self.steady[1]))
        self.least_rush = 1 if self.codec[1, 1] < FRAME_S / 8 else 2

    def chunk_times(self, streams: int) -> Table:
        """[frames]: seconds to make and decode so many frames of every stream, stretched."""
        count = max(1, streams)
        return np.asarray(self.safety * (self._frames * self.step[count] + self.codec[count]))

    def next_chunk(self, streams: int, pending: int = 0) -> float:
        """Seconds until the next steady chunk of one of so many, with room for surprises."""
        steady = int(self.steady[streams])
        made = max(0, steady - pending) * self.step[streams] + self.codec[streams, steady]
        return float(self.safety * made + self.cushion[streams])


def _split(table: Table, limit: int) -> Table:
    """Seconds of n rows in batches of at most `limit`."""
    rows = np.arange(table.shape[0])
    whole, rest = np.divmod(rows, limit)
    single = table.copy()
    single[0] = 0.0
    return np.asarray(whole[:, None] * single[min(limit, len(rows) - 1)] + single[rest])
