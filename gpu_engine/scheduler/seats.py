"""Which stream holds which slot, who waits, and what the caller has to follow."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.jobs import Slots
from gpu_engine.scheduler.stream import LEAVING, PREFILL, BooksError, Ended, Stream
from gpu_engine.scheduler.table import Table
from gpu_engine.scheduler.tenants import Tenants
from gpu_engine.scheduler.waiting import WaitingRoom
from gpu_engine.scheduler.waits import Waits


class Seats:
    """A stream that has ended keeps its slot until no launched job names it.

    `seated`: pairs (slot, stream id) that were taken, `vacated`: slots that were given up, since
    the caller last cleared them.
    """

    def __init__(
        self, table: Table, waiting: WaitingRoom, tenants: Tenants, waits: Waits, slots: int
    ) -> None:
        self.table, self.waiting, self._tenants = table, waiting, tenants
        self._waits = waits
        self.free = list(range(slots))[::-1]
        self.slot_of: dict[int, int] = {}
        self.seated: list[tuple[int, int]] = []
        self.vacated: list[int] = []
        self.leaving = 0

    def seat(self, stream: Stream, now: float) -> None:
        """Gives a free slot to a stream that waits."""
        self.waiting.pop(stream)
        slot = self.free.pop()
        self.table.seat(slot, stream, self._tenants.number(stream), now, PREFILL)
        if self._tenants.handicap(stream):
            # It waited behind its own tenant's streams: no reason to go before others' now.
            self.table.arrived[slot] = now
        self._waits.seated(stream, now)
        self.slot_of[stream.id] = slot
        self.seated.append((slot, stream.id))

    def leave(self, stream_id: int, reason: str) -> Ended | None:
        """Ends a stream, seated or waiting; None when it has ended already."""
        self._tenants.stale = True
        queued = self.waiting.by_id.get(stream_id)
        if queued is not None:
            self.waiting.remove(queued)
            return Ended(stream_id, -1, reason)
        slot = self.slot_of.pop(stream_id, None)
        if slot is None:
            return None
        end = self.table.ended(slot, reason)
        self.table.leave(slot)
        self.leaving += 1
        return end

    def vacate(self, rows: Slots) -> None:
        """Frees the slots of streams that have left, once no launched job names them."""
        if not self.leaving:
            return
        t = self.table
        for slot in rows[(t.stage[rows] == LEAVING) & (t.jobs[rows] == 0)].tolist():
            t.clear(slot)
            self.leaving -= 1
            self.free.append(slot)
            self.vacated.append(slot)

    def check(self) -> None:
        """Verifies the books. What is lost is our bug: raises BooksError."""
        t, seated = self.table, sorted(self.slot_of.values())
        leaving = np.flatnonzero(t.stage == LEAVING).tolist()
        if sorted(seated + leaving + self.free) != list(range(len(t.stage))):
            raise BooksError(f"a slot is lost: {seated=} {leaving=} free={sorted(self.free)}")
        if any(int(t.id[slot]) != number for number, slot in self.slot_of.items()):
            raise BooksError("a slot is held by another stream")
        if (t.jobs < 0).any() or (t.jobs[self.free] != 0).any():
            raise BooksError("a job is lost")
        if (t.positions[self.free] != 0).any():
            raise BooksError("memory of a free slot is still reserved")
