"""How long rows stood between two modules, over the last minute: watched, never acted upon.

One job in four of a kind is looked at, and counts for all its rows what one of them waited, each in
its turn; frames are followed to the codec for two streams at a time. Looking at all of it would
cost the scheduler more than it may. Times are kept in bins an eighth of an octave wide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_engine.scheduler.jobs import Job, Kind, Slots
from gpu_engine.scheduler.stream import FRAME_S, TALK, Stream
from gpu_engine.scheduler.table import Table

# What a row waits for, in the order in which a stream does.
PLACE = "place"
MODULES = Kind.PREFILL, Kind.TALKER, Kind.PREDICTOR, Kind.CODEC
BEFORE = (PLACE, *(kind.value for kind in MODULES))
CODEC, PREDICTOR, TALKER, PREFILL = Kind.CODEC, Kind.PREDICTOR, Kind.TALKER, Kind.PREFILL
EVERY, MOST_FOLLOWED = 4, 2
SLICE_S, SLICES = 10.0, 6
# Eight bins an octave of microseconds, the first sixteen of one each; the last begins after hours.
FINE, BINS = 3, 264


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds, over the last minute; `rows` 0: nobody came by."""

    rows: int
    median: float
    p95: float


class Minute:
    """Counts of the last minute by name and bin, in slices of ten seconds: of the current one as
    much as there is. Plain lists: a number in an array takes ten times as long to change."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._slices = [{name: [0] * BINS for name in names} for _ in range(SLICES)]
        self._current, self._slice, self._until = self._slices[0], 0, SLICE_S

    def note(self, name: str, seconds: float, rows: int, now: float) -> None:
        if now >= self._until:
            self._turn(now)
        micros = int(1e6 * seconds) if seconds > 0 else 0
        octave = max(0, micros.bit_length() - FINE - 1)
        self._current[name][min(BINS - 1, (octave << FINE) + (micros >> octave))] += rows

    def told(self, now: float) -> Mapping[str, Wait]:
        if now >= self._until:
            self._turn(now)
        return {
            name: _wait(np.array([each[name] for each in self._slices]).sum(0))
            for name in self._current
        }

    def _turn(self, now: float) -> None:
        """Slices that are over for a minute begin anew."""
        at = int(now / SLICE_S)
        for old in range(max(self._slice + 1, at - SLICES + 1), at + 1):
            for bins in self._slices[old % SLICES].values():
                bins[:] = [0] * BINS
        self._slice, self._until = at, (at + 1) * SLICE_S
        self._current = self._slices[at % SLICES]


@dataclass(slots=True)
class Followed:
    """One stream: when each of its frames behind the `first` ones was there, and how many of them
    are decoded."""

    slot: int
    id: int
    first: int
    made: list[float]
    decoded: int

    @classmethod
    def at(cls, slot: int, table: Table, now: float) -> Followed:
        """From the frame on that was just booked."""
        first, decoded = int(table.frames[slot]) - 1, int(table.decoded[slot])
        return cls(slot, int(table.id[slot]), first, [now], decoded)

    def hears(self, table: Table, now: float) -> bool:
        """Notes a frame that is new; False where the stream is gone."""
        slot = self.slot
        new = int(table.frames[slot]) - self.first - len(self.made)
        if new > 0:
            flying = table.jobs[slot] - table.decoding[slot]
            # The newest frame's own job may still run, with the step behind it or without.
            if flying <= (table.stage[slot] != TALK):
                self.made.append(now)
        return new >= 0 and bool(table.id[slot] == self.id)

    def made_at(self, frame: int, now: float) -> float | None:
        """`now` for one whose job still runs, None for one that nobody saw."""
        place = frame - self.first - 1
        if place < 0:
            return None
        return self.made[place] if place < len(self.made) else now


class Waits:
    """Looks at jobs as they begin: at one of `every` so many of a kind. What waits for a job that
    still runs waits for nothing."""

    def __init__(self, table: Table, idle_lead: float) -> None:
        self._table, self._idle_lead = table, idle_lead
        self._minute = Minute(BEFORE)
        self._counts = dict.fromkeys(Kind, 0)
        self._followed: list[Followed] = []
        self.every = EVERY

    def seated(self, stream: Stream, now: float) -> None:
        """It has its place; background work waits as long as it takes."""
        if not stream.background:
            self._minute.note(PLACE, now - stream.arrived, 1, now)

    def begins(self, job: Job, now: float) -> None:
        """Before the table knows of it. Streams have one prefill or a few: each is looked at."""
        kind = job.kind
        count = self._counts[kind] = self._counts[kind] + 1
        if (count % self.every and kind is not PREFILL) or kind is CODEC:
            return
        slot = self._row(job, count)
        if not self._table.background[slot]:
            self._minute.note(kind, now - self._ready(slot, kind, now), len(job.slots), now)

    def framed(self, job: Job, now: float) -> None:
        """Frames are booked: a few streams are followed to their decodes."""
        table = self._table
        for each in self._followed:
            if not each.hears(table, now):
                self._followed = [one for one in self._followed if one is not each]
        if len(self._followed) < MOST_FOLLOWED:
            self._follow(self._row(job, self._counts[PREDICTOR]), now)

    def _follow(self, slot: int, now: float) -> None:
        if not self._table.background[slot] and all(slot != each.slot for each in self._followed):
            self._followed.append(Followed.at(slot, self._table, now))

    def decodes(self, job: Job, now: float) -> None:
        """Once the table knows of it. A chunk was whole with its last frame."""
        t = self._table
        for each in self._followed:
            decoded = int(t.decoded[each.slot])
            if decoded > each.decoded and t.id[each.slot] == each.id:
                each.decoded = decoded
                if (ready := each.made_at(decoded, now)) is not None:
                    self._minute.note(CODEC, now - ready, len(job.slots), now)

    def told(self, now: float) -> Mapping[str, Wait]:
        return self._minute.told(now)

    def _ready(self, slot: int, kind: Kind, now: float) -> float:
        """Since when its next step could have begun. Who is as far ahead as allowed is not late."""
        t = self._table
        if t.jobs[slot] > t.decoding[slot]:
            return now
        ready = float(t.booked[slot])
        if kind is TALKER and not t.unpaced[slot]:
            ahead = float(t.dry_at[slot]) + FRAME_S * int(t.frames[slot] - t.decoded[slot])
            ready = max(ready, ahead - self._idle_lead)
        return ready

    @staticmethod
    def _row(job: Job, count: int) -> int:
        """One slot of the job, each in its turn, whatever divides what."""
        return int(job.slots[(count >> 2) % len(job.slots)])


def _wait(counts: Slots) -> Wait:
    behind = counts.cumsum()
    rows = int(behind[-1])
    if not rows:
        return Wait(0, 0.0, 0.0)
    median, p95 = behind.searchsorted((rows * 0.5, rows * 0.95))
    return Wait(rows, _middle(int(median)), _middle(int(p95)))


def _middle(place: int) -> float:
    """Of a bin, in seconds."""
    octave = max(0, (place >> FINE) - 1)
    if not octave:
        return 1e-6 * place
    return 1e-6 * ((place - (octave << FINE)) + 0.5) * (1 << octave)
