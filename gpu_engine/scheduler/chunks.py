"""How many frames a decode takes: by the stream's ramp, by what its lead has room for, and first so
many that they last until the next chunk."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.crowd import Crowd
from gpu_engine.scheduler.habits import Habits
from gpu_engine.scheduler.jobs import Flags, Seconds, Slots
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import FRAME_S
from gpu_engine.scheduler.table import Table

FULL = 1_000_000


class Chunks:
    """`pending` are the frames of each row that may be decoded, `silent` the rows of streams that
    have heard nothing yet. `short`: no decode should take longer than a job while tenants share
    the device."""

    def __init__(
        self,
        table: Table,
        outlook: Outlook,
        crowd: Crowd,
        habits: Habits,
        settings: SchedulerSettings,
    ) -> None:
        self._table, self._outlook, self._crowd = table, outlook, crowd
        self._habits, self._settings = habits, settings

    def sized(self, pending: Slots, silent: Slots, short: bool, now: float) -> tuple[Slots, Slots]:
        """Frames of the next decode: the ramp's, fewer where the lead is too short to make and
        decode them, never fewer than what keeps up; and how many the lead has room for."""
        t, outlook, streams = self._table, self._outlook, self._crowd.streams
        room = self._room(streams, t.dry_at, pending, now)
        if self._crowd.uneven:
            rows = t.no_later
            room[rows] = self._room(self._crowd.first, t.dry_at[rows], pending[rows], now)
        steady = int(outlook.steady[streams])
        least = 1 if steady == 1 else np.minimum(steady, t.widest)
        most = np.minimum(room, outlook.block_frames) if short else room
        chunk: Slots = np.maximum(np.minimum(t.chunk, most), least)
        if len(silent):
            chunk[silent], room[silent] = self._first(silent), FULL
        return chunk, room

    def due(self, chunk: Slots, room: Slots, pending: Slots, last: Flags, short: bool) -> Slots:
        """Whole chunks; the rest of what is complete (`last`); all there is where the next frame
        would come too late. One frame alone is not worth a decode on a device whose decodes are
        slow."""
        outlook = self._outlook
        if np.count_nonzero(last):
            chunk = np.where(last, outlook.block_frames if short else outlook.longest, chunk)
        goes = room <= pending
        if outlook.least_rush > 1:
            goes &= pending >= outlook.least_rush
        goes = goes | (pending >= chunk) | last
        # All that goes, less what is being decoded.
        due: Slots = np.minimum(pending, chunk) * (goes > self._table.decoding)
        return due

    def needed(self, rows: Slots) -> Seconds:
        """Audio that must be in a listener's hands so that the next chunk comes in time, and, on a
        device that can't keep up, what the rest of the speech will fall behind. Streams that are
        far ahead are counted for the latter alone: the next chunk goes before theirs."""
        t, outlook, habits = self._table, self._outlook, self._habits
        rivals = self._crowd.rivals(rows)
        most = max(1, rivals) if isinstance(rivals, int) else np.maximum(1, rivals)
        behind = habits.caution + outlook.next_chunk[most]
        late = outlook.late[self._crowd.streams]
        if late:
            rest = np.maximum(0.0, t.cap[rows] * habits.spoken_share - t.frames[rows])
            behind = behind + late * rest
        needed: Seconds = np.minimum(behind, self._settings.longest_hold)
        return needed

    def _room(self, streams: int, dry_at: Seconds, pending: Slots, now: float) -> Slots:
        """Frames that leads have room for, beside so many streams that go no later."""
        outlook = self._outlook
        ahead = pending * (outlook.safety * outlook.step[streams])
        lead = dry_at + (ahead - (now + outlook.cushion[streams]))
        room: Slots = outlook.chunk_times(streams).searchsorted(lead, "right")
        room -= 1
        return room

    def _first(self, rows: Slots) -> Slots:
        """So much that after trimming the audio in hand lasts until the next chunk."""
        t = self._table
        fresh = t.decoded[rows] == 0
        missing = self.needed(rows) - t.held[rows] + fresh * self._habits.trim_s
        late = self._outlook.late[self._crowd.streams]
        frames = np.ceil(missing / (FRAME_S + late)).astype(np.int64)
        frames = np.maximum(frames, np.where(fresh, t.chunk[rows], 1))
        first: Slots = np.minimum(frames, self._settings.longest_chunk)
        return first
