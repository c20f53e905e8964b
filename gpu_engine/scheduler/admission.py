"""Who gets a slot, and what those who wait are told."""

from __future__ import annotations

import heapq

import numpy as np

from gpu_engine.scheduler.choice import Choice
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import FRAME_S, FREE, GENERATED, Stream
from gpu_engine.scheduler.table import Table
from gpu_engine.scheduler.waiting import WaitingRoom


class Admission:
    """By slot, by memory, and by whether everybody's frames still fit into real time."""

    def __init__(
        self,
        table: Table,
        outlook: Outlook,
        choice: Choice,
        waiting: WaitingRoom,
        settings: SchedulerSettings,
    ) -> None:
        self._table, self._outlook, self._choice = table, outlook, choice
        self._waiting, self._settings = waiting, settings

    def fits_memory(self, stream: Stream) -> bool:
        """True where the whole stream's keys and values have their places, whatever it does."""
        total = self._settings.positions
        taken = int(self._pages(self._table.positions).sum())
        return not total or taken + int(self._pages(np.array(stream.positions))) <= total

    def fits_time(self, stream: Stream, now: float) -> bool:
        """True where nobody is predicted to run dry because of it, where nobody else speaks, where
        not even one stream fits and batches at least save time, or where it has waited long enough
        for a prediction that may be wrong."""
        chosen, t = self._settings, self._table
        if not self._outlook.fits or not t.alive.any():
            return True
        if now - stream.arrived >= chosen.slack_patience:
            return True
        if stream.background:
            most = max(1, int(chosen.background_share * chosen.slots))
            return int(np.count_nonzero(t.background & t.alive)) < most and self.load(now) < 1.0
        return self.load(now) + 1.0 <= self._outlook.fits

    def load(self, now: float) -> float:
        """Streams that need real time now: those that are far ahead of their listeners need none
        for a while, those whose generation has ended none at all."""
        t, chosen = self._table, self._settings
        speaking = t.alive & (t.stage != GENERATED) & ~t.background & ~t.out_of_text
        need = np.clip(1.25 - t.ahead(now) / chosen.busy_lead, 0.0, 1.0)
        return float(need[speaking].sum())

    def wait(self, stream: Stream, now: float) -> float:
        """Expected seconds until a stream has a slot, behind all others that wait."""
        most = min(self._settings.slots, self._outlook.fits or self._settings.slots)
        frees = sorted(self._ends(now))[-most:]
        frees += [now] * (most - len(frees))
        heapq.heapify(frees)
        before = [other for other in self._waiting.by_id.values() if other is not stream]
        for other in before:
            heapq.heappush(frees, heapq.heappop(frees) + self._hold(other))
        return frees[0] - now

    def _ends(self, now: float) -> list[float]:
        """When each slot that is taken is expected to be free."""
        t, chosen = self._table, self._settings
        taken = t.stage != FREE
        left = np.maximum(1.0, t.cap * self._choice.spoken_share - t.frames)
        left = np.where(t.steps | t.out_of_text, left, 0.0) * FRAME_S
        work = left / FRAME_S * self._rate()
        # A paced stream ends no earlier than its pace: what is left plays on from where it stands.
        pace = np.where(t.heard & t.paced, t.ahead(now) + left - chosen.idle_lead, 0.0)
        ends: list[float] = (now + np.maximum(work, pace))[taken].tolist()
        return ends

    def _hold(self, stream: Stream) -> float:
        speech = stream.frame_cap * self._choice.spoken_share
        pace = speech * FRAME_S - self._settings.idle_lead if stream.paced else 0.0
        return max(speech * self._rate(), pace)

    def _rate(self) -> float:
        """Seconds a frame while all slots speak."""
        return float(self._outlook.rate[min(self._settings.slots, len(self._outlook.rate) - 1)])

    def _pages(self, positions: np.ndarray) -> np.ndarray:
        page = self._settings.page
        return -(-positions // page) * page
