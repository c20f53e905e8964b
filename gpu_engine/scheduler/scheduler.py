"""One scheduler for prefill, Talker, Code Predictor, codec, encoding and alignment jobs: a pure
function of its state and the `now` it is given. It knows no tensors, no sockets and no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler.admission import Admission
from gpu_engine.scheduler.aside import Aside
from gpu_engine.scheduler.batches import Batches
from gpu_engine.scheduler.booking import Booking, Totals
from gpu_engine.scheduler.chunks import Chunks
from gpu_engine.scheduler.costs import CostModel, Measured
from gpu_engine.scheduler.crowd import Crowd
from gpu_engine.scheduler.habits import Habits
from gpu_engine.scheduler.jobs import Booked, Job, Kind, Result
from gpu_engine.scheduler.load import Load, load
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.seats import Seats
from gpu_engine.scheduler.stream import TALK, Ended, Stream
from gpu_engine.scheduler.table import NEVER, Table
from gpu_engine.scheduler.tenants import Tenants
from gpu_engine.scheduler.urgency import Urgency
from gpu_engine.scheduler.waiting import WaitingRoom
from gpu_engine.scheduler.waits import Waits

NONE: frozenset[Kind] = frozenset()
NOBODY = np.zeros(0, np.bool_)
# They move no row of the table.
ASIDE = frozenset({Kind.ENCODE, Kind.ALIGN})


class Scheduler:
    """`submit`, `extend` and `cancel` bring news; `next_job` decides, `launch` books that it began,
    `complete` books its result. A launched job may be completed after later ones were launched.
    """

    def __init__(self, settings: SchedulerSettings, measured: Iterable[Measured] = ()) -> None:
        self.settings = settings
        self.table = Table(settings.slots)
        self.costs = CostModel(settings.slots, settings.longest_chunk, measured)
        self.outlook = Outlook(self.costs, settings)
        self.waiting = WaitingRoom(settings.waiting, settings.background_patience)
        self.tenants = Tenants(self.table, self.waiting, self.outlook, settings)
        self.crowd, self.habits = Crowd(self.table, self.tenants, settings), Habits()
        self.chunks = Chunks(self.table, self.outlook, self.crowd, self.habits, settings)
        self.urgency = Urgency(
            self.table, self.outlook, self.crowd, self.chunks, self.tenants, settings
        )
        self.batches = Batches(self.table, self.costs, self.tenants, settings)
        self.waits = Waits(self.table, settings.idle_lead)
        self.seats = Seats(self.table, self.waiting, self.tenants, self.waits, settings.slots)
        self.admission = Admission(
            self.seats, self.outlook, self.habits, self.waiting, self.tenants, settings
        )
        self.booking = Booking(self.seats, self.chunks, self.habits, self.waits)
        self.aside = Aside(self.costs, settings)

    def __len__(self) -> int:
        """Streams that have not ended, those that wait for a slot included."""
        return len(self.seats.slot_of) + len(self.waiting)

    @property
    def totals(self) -> Totals:
        return self.booking.totals

    @property
    def free(self) -> list[int]:
        return self.seats.free

    @property
    def clips(self) -> deque[tuple[int, float]]:
        return self.aside.clips

    @property
    def alignments(self) -> dict[int, float]:
        return self.aside.alignments

    @property
    def waiting_first_audio(self) -> int:
        return len(self.waiting) + int(np.count_nonzero(self.table.alive & ~self.table.heard))

    def load(self, now: float) -> Load:
        return load(self.table, self.waiting.by_id.values(), now)

    # ---- news

    def submit(self, stream: Stream, now: float) -> float:
        """Takes a stream in and returns its expected seconds to first audio. Raises EngineFull."""
        assert stream.id not in self.seats.slot_of, "a stream's id is used once"
        self.outlook.refresh()
        self.admission.admit(now)
        if self.waiting.full(stream.tenant) and (self.waiting or not self.free):
            wait = self.admission.wait(stream, now)
            raise EngineFull(retry_after_ms=max(1, round(1000 * wait)))
        self.totals.streams += 1
        stream.ramp = tuple(min(step, self.outlook.longest) for step in stream.ramp)
        self.tenants.charge(stream)
        self.waiting.push(stream)
        self.admission.admit(now)
        seated = stream.id in self.seats.slot_of
        wait = 0.0 if seated else self.admission.wait(stream, now)
        return wait + self.habits.first_audio_s

    def extend(self, stream_id: int, text: int, done: bool, frame_cap: int, now: float) -> None:
        """More text for a stream in streaming layout; news of a stream that is gone is dropped."""
        queued = self.waiting.by_id.get(stream_id)
        slot = self.seats.slot_of.get(stream_id)
        if queued is not None:
            queued.extend(text, done, frame_cap)
        if slot is not None:
            due = now + self.settings.first_audio_target
            self.table.extend(slot, text, done, frame_cap, now, due)

    def cancel(self, stream_id: int) -> Ended | None:
        """Ends a stream at once; None when it has ended already."""
        return self._end(stream_id, "cancelled")

    def cut(self, stream_id: int) -> Ended | None:
        """Ends a stream that has lost its way as its frame cap would; drops what is undecoded.
        None when it has ended already."""
        return self._end(stream_id, "length")

    def fail(self, stream_id: int) -> Ended | None:
        """Ends a stream that broke outside a job's rows; None when it has ended already."""
        return self._end(stream_id, "error")

    def add_clip(self, clip: int, now: float) -> None:
        """Queues a voice to encode: background work with a bounded wait."""
        self.aside.add_clip(clip, now)

    def ask_words(self, stream_id: int, now: float, last: bool = False) -> None:
        """A stream has audio whose words are to be looked for. `last`: it has ended, and whoever
        hears it may hear nothing more before that is told."""
        self.aside.ask_words(stream_id, now, last)

    def drop_words(self, stream_id: int) -> None:
        """Nobody waits for its words any more."""
        self.alignments.pop(stream_id, None)

    def expect_prefills(self, slot: int, count: int) -> None:
        """How many prefills the prompt of a stream takes that was just seated: several where much
        of it is new, none where it is at hand but for its last position, which a Talker step reads.
        """
        self.table.prefills[slot], self.table.reading[slot] = count, count > 1
        if not count:
            self.table.stage[slot] = TALK

    # ---- decisions

    def next_job(
        self, now: float, closed: frozenset[Kind] = NONE, behind: frozenset[Kind] = NONE
    ) -> Job | None:
        """The most urgent job with its batch filled, or None while nothing may run. `closed` are
        the kinds that the device takes no more of at present, `behind` those that would wait for
        one that runs: where tenants share the device nobody's first frame should wait for both."""
        self.outlook.refresh()
        self.admission.admit(now)
        self.tenants.refresh(now)
        if not self.seats.slot_of:
            return self.aside.job(None, closed, NEVER)
        view = self.urgency.look(now)
        if behind and self.batches.keeps_clear(view):
            closed |= behind
        for lead in (self.settings.busy_lead, self.settings.idle_lead):
            job, start = self.batches.job(view, lead, closed)
            if job is not None:
                spare = -NEVER if self.waiting or view.waiting else start - now
                return self.aside.job(start, closed, spare) or job
        return self.aside.job(None, closed, NEVER)

    def wakes_at(self, now: float) -> float | None:
        """When pacing or patience next lets somebody go on, if no news comes first."""
        held = self.table.steps
        wakes = []
        if held.any():
            rest = float(self.table.ahead(now)[held].min()) - self.settings.idle_lead
            wakes.append(now + max(0.0, rest))
        if self.waiting and self.free:
            stream = self.admission.next(now)
            patient = stream.arrived + self.settings.slack_patience if stream else now
            wakes += [patient] if patient > now else []
        return min(wakes, default=None)

    # ---- what happens

    def launch(self, job: Job, now: float) -> None:
        """The job has begun."""
        if job.kind in ASIDE:
            self.aside.launch(job)
        else:
            self.booking.launch(job, now)

    def complete(self, job: Job, result: Result, now: float) -> Booked:
        """Books a launched job's result; the slots of streams that it ended are free again."""
        self.costs.observe(job.kind, job.rows, job.frames, result.seconds)
        if job.kind in ASIDE:
            self.aside.complete(job, result.more, now)
            return Booked([], NOBODY)
        return self.booking.complete(job, result, now)

    def check(self) -> None:
        """Verifies the books, when idle. Raises BooksError."""
        self.seats.check()

    # ---- inside

    def _end(self, stream_id: int, reason: str) -> Ended | None:
        end = self.seats.leave(stream_id, reason)
        if end is not None and end.slot >= 0:
            self.seats.vacate(np.array([end.slot]))
        return end
