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
    `next_chunk[n]`: until the next steady chunk of one of them, with room for surprises. `late[n]`:
    what `rate` is above real time. `cushion[n]`: room for what can't be predicted.
    `fits`: streams that fit into real time. `longest`: frames that one stream may have decoded at
    once: nobody can go before a decode that has begun. While tenants share the device: `block`, the
    longest job in seconds, `block_frames` of one stream in it, `fits_even` streams fit.
    """

    def __init__(self, costs: CostModel, settings: SchedulerSettings) -> None:
        self._costs, self._settings = costs, settings
        self._version = -1
        self._frames = np.arange(costs.seconds(Kind.CODEC).shape[1])
        self._counts = np.arange(costs.slots + 1)
        self._made = self._counts[1:, None] * self._frames[1:]
        self._in_time = KEEPS_UP * FRAME_S * self._frames[1:]
        self.refresh()

    def refresh(self) -> None:
        """Follows the cost model; cheap while that has not moved."""
        if self._version == self._costs.version:
            return
        self._version = self._costs.version
        self._chunk_times: dict[int, Table] = {}
        chosen, frames, counts = self._settings, self._frames, self._counts
        talker = _split(self._costs.seconds(Kind.TALKER), chosen.step_rows)[:, 0]
        predictor = _split(self._costs.seconds(Kind.PREDICTOR), chosen.step_rows)[:, 0]
        self.step = talker + predictor
        self.codec = _split(self._costs.seconds(Kind.CODEC), chosen.codec_rows)
        self.safety = self._costs.safety()
        total = frames[1:] * self.step[:, None] + self.codec[:, 1:]
        each = total / frames[1:]
        best = each.min(1)
        keeps_up = total <= self._in_time
        thrifty = each <= THRIFTY * best[:, None]
        self.steady = np.where(keeps_up.any(1), keeps_up.argmax(1), thrifty.argmax(1)) + 1
        self.late = np.maximum(0.0, best - FRAME_S)
        self.rate = best
        busy = np.where(best < FRAME_S, np.minimum(best / FRAME_S, BUSIEST), 0.0)
        self.cushion = (chosen.cushion + self.step) / (1 - busy)
        fitting = (best <= chosen.utilisation * FRAME_S).nonzero()[0]
        self.fits = int(fitting[-1]) if len(fitting) else 0
        made = self.steady * self.step + self.codec[counts, self.steady]
        self.next_chunk = self.safety * made + self.cushion
        quick = int(self.codec[1].searchsorted(chosen.longest_job, "right")) - 1
        self.longest = max(quick, int(self.steady[1]))
        self.least_rush = 1 if self.codec[1, 1] < FRAME_S / 8 else 2
        self._share_out()

    def _share_out(self) -> None:
        """What holds while tenants share the device: nobody's job stands long before a first
        frame, so batches are smaller, and fewer streams fit."""
        chosen, costs, codec = self._settings, self._costs, self._costs.seconds(Kind.CODEC)
        talker, predictor = (costs.seconds(kind) for kind in (Kind.TALKER, Kind.PREDICTOR))
        prefill = costs.expect(Kind.PREFILL, 1)
        first = prefill + talker[1, 0] + 2 * predictor[1, 0] + codec[1, min(2, codec.shape[1] - 1)]
        longest = max(talker[1, 0], predictor[1, 0], codec[1, 1])
        self.block = max(float(longest), chosen.block_share * float(first))
        self.block_frames = int(codec[1].searchsorted(self.block, "right")) - 1
        rows = min(_within(talker, self.block), _within(predictor, self.block), chosen.step_rows)
        decodes = codec[1:, 1:]
        each = float((decodes / self._made)[decodes <= self.block].min())
        rate = (_split(talker, rows) + _split(predictor, rows))[:, 0] + each * self._counts
        self.fits_even = int((rate <= chosen.utilisation * FRAME_S).nonzero()[0][-1])

    def chunk_times(self, streams: int) -> Table:
        """[frames]: seconds to make and decode so many frames of every stream, stretched."""
        found = self._chunk_times.get(streams)
        if found is None:
            count = max(1, streams)
            found = self.safety * (self._frames * self.step[count] + self.codec[count])
            self._chunk_times[streams] = found
        return found


def _within(seconds: Table, longest: float) -> int:
    """Rows of a batch that takes no longer."""
    return max(1, int(seconds[1:, 0].searchsorted(longest, "right")))


def _split(table: Table, limit: int) -> Table:
    """Seconds of n rows in batches of at most `limit`."""
    single = table.copy()
    single[0] = 0.0
    if limit >= len(table) - 1:
        return single
    whole, rest = np.divmod(np.arange(len(table)), limit)
    return np.asarray(whole[:, None] * single[limit] + single[rest])
