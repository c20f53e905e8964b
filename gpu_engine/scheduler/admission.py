"""Who gets a slot, and what those who wait are told."""

from __future__ import annotations

import heapq

import numpy as np

from gpu_engine.scheduler.habits import Habits
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.seats import Seats
from gpu_engine.scheduler.stream import FRAME_S, FREE, Stream
from gpu_engine.scheduler.table import NEVER
from gpu_engine.scheduler.tenants import Tenants
from gpu_engine.scheduler.waiting import WaitingRoom


class Admission:
    """By slot, by memory, and by whether everybody's frames still fit into real time."""

    def __init__(
        self,
        seats: Seats,
        outlook: Outlook,
        habits: Habits,
        waiting: WaitingRoom,
        tenants: Tenants,
        settings: SchedulerSettings,
    ) -> None:
        self._seats, self._table = seats, seats.table
        self._outlook, self._habits = outlook, habits
        self._waiting, self._tenants, self._settings = waiting, tenants, settings
        self._nobody = -1

    def admit(self, now: float) -> None:
        """Gives slots to those who wait, while they fit."""
        while self._seats.free and self._waiting:
            stream = self.next(now)
            if stream is None or not self.fits_memory(stream):
                return
            if not self.fits_time(stream, now):
                return
            self._seats.seat(stream, now)

    def next(self, now: float) -> Stream | None:
        """Who waits first of those whose tenants may have one more. That nobody may holds until
        tenants are looked at again."""
        self._tenants.refresh(now)
        if self._nobody == self._tenants.version:
            return None
        stream = self._waiting.peek(now, self._tenants.allows)
        if stream is None:
            self._nobody = self._tenants.version
        return stream

    def fits_memory(self, stream: Stream) -> bool:
        """True where the whole stream's keys and values have their places, whatever it does."""
        total = self._settings.positions
        taken = int(self._pages(self._table.positions).sum())
        return not total or taken + int(self._pages(np.array(stream.positions))) <= total

    def fits_time(self, stream: Stream, now: float) -> bool:
        """True where nobody is predicted to run dry because of it, where nobody else speaks, where
        not even one stream fits and batches at least save time, or where it has waited long enough
        for a prediction that may be wrong, and not for its own tenant's streams."""
        chosen, t = self._settings, self._table
        if not self._outlook.fits or not t.alive.any():
            return True
        handicap = self._tenants.handicap(stream)
        bounded = handicap > 0 and not self._tenants.holds_nothing(stream)
        if now - stream.arrived >= chosen.slack_patience and not bounded:
            return True
        if stream.background:
            most = max(1, int(chosen.background_share * chosen.slots))
            return int(np.count_nonzero(t.background & t.alive)) < most and self.load(now) < 1.0
        most = self._outlook.fits_even if bounded else self._outlook.fits
        return self.load(now, handicap) + 1.0 <= most

    def load(self, now: float, handicap: float = NEVER) -> float:
        """Streams that need real time now and do not go later than by that handicap."""
        t = self._table
        counted = ~t.background & (t.handicap <= handicap)
        return float(t.need(now, self._settings.busy_lead)[counted].sum())

    def wait(self, stream: Stream, now: float) -> float:
        """Expected seconds until a stream has a slot, behind all others that wait, or, where its
        tenant is bounded for others' sake, behind those of its own."""
        most = min(self._settings.slots, self._outlook.fits or self._settings.slots)
        own = min(self._tenants.most(stream))
        tenant = stream.tenant if own < most else None
        most = min(most, int(own)) if own < most else most
        frees = sorted(self._ends(now, tenant))[-most:]
        frees += [now] * (most - len(frees))
        heapq.heapify(frees)
        before = [other for other in self._waiting.by_id.values() if other is not stream]
        for other in before:
            if tenant in (None, other.tenant):
                heapq.heappush(frees, heapq.heappop(frees) + self._hold(other))
        return frees[0] - now

    def _ends(self, now: float, tenant: str | None) -> list[float]:
        """When each slot that is taken, by that tenant if one is named, is expected to be free."""
        t, chosen = self._table, self._settings
        taken = t.stage != FREE
        if tenant is not None:
            taken &= t.tenant == self._tenants.find(tenant)
        left = np.maximum(1.0, t.cap * self._habits.spoken_share - t.frames)
        left = np.where(t.steps | t.out_of_text, left, 0.0) * FRAME_S
        work = left / FRAME_S * self._rate()
        # A paced stream ends no earlier than its pace: what is left plays on from where it stands.
        pace = np.where(t.heard & t.paced, t.ahead(now) + left - chosen.idle_lead, 0.0)
        ends: list[float] = (now + np.maximum(work, pace))[taken].tolist()
        return ends

    def _hold(self, stream: Stream) -> float:
        speech = stream.frame_cap * self._habits.spoken_share
        pace = speech * FRAME_S - self._settings.idle_lead if stream.paced else 0.0
        return max(speech * self._rate(), pace)

    def _rate(self) -> float:
        """Seconds a frame while all slots speak."""
        return float(self._outlook.rate[min(self._settings.slots, len(self._outlook.rate) - 1)])

    def _pages(self, positions: np.ndarray) -> np.ndarray:
        page = self._settings.page
        return -(-positions // page) * page
