"""One scheduler for prefill, Talker, Code Predictor, codec, encoding and alignment jobs: a pure
function of its state and the `now` it is given. It knows no tensors, no sockets and no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import itemgetter

import numpy as np

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler.admission import Admission
from gpu_engine.scheduler.booking import Booking, Totals
from gpu_engine.scheduler.choice import Choice
from gpu_engine.scheduler.costs import CostModel, Measured
from gpu_engine.scheduler.jobs import Booked, Job, Kind, Result
from gpu_engine.scheduler.load import Load, load
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.seats import Seats
from gpu_engine.scheduler.stream import TALK, Ended, Stream
from gpu_engine.scheduler.table import NEVER, Table
from gpu_engine.scheduler.waiting import WaitingRoom

NONE: frozenset[Kind] = frozenset()


class Scheduler:
    """`submit`, `extend` and `cancel` bring news; `next_job` decides, `launch` books that it began,
    `complete` books its result. A launched job may be completed after later ones were launched.
    """

    def __init__(self, settings: SchedulerSettings, measured: Iterable[Measured] = ()) -> None:
        self.settings = settings
        self.table = Table(settings.slots)
        self.costs = CostModel(settings.slots, settings.longest_chunk, measured)
        self.outlook = Outlook(self.costs, settings)
        self.choice = Choice(self.table, self.costs, self.outlook, settings)
        self.waiting = WaitingRoom(settings.waiting, settings.background_patience)
        self.seats = Seats(self.table, self.waiting, settings.slots)
        self.admission = Admission(self.table, self.outlook, self.choice, self.waiting, settings)
        self.booking = Booking(self.seats, self.choice, self.costs)
        self.clips: deque[tuple[int, float]] = deque()
        self.alignments: dict[int, float] = {}

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
    def waiting_first_audio(self) -> int:
        return len(self.waiting) + int(np.count_nonzero(self.table.alive & ~self.table.heard))

    def load(self, now: float) -> Load:
        return load(self.table, self.waiting.by_id.values(), now)

    # ---- news

    def submit(self, stream: Stream, now: float) -> float:
        """Takes a stream in and returns its expected seconds to first audio. Raises EngineFull."""
        assert stream.id not in self.seats.slot_of, "a stream's id is used once"
        self.outlook.refresh()
        self._admit(now)
        if self.waiting.full and (self.waiting or not self.free):
            wait = self.admission.wait(stream, now)
            raise EngineFull(retry_after_ms=max(1, round(1000 * wait)))
        self.totals.streams += 1
        stream.ramp = tuple(min(step, self.outlook.longest) for step in stream.ramp)
        self.waiting.push(stream)
        self._admit(now)
        seated = stream.id in self.seats.slot_of
        wait = 0.0 if seated else self.admission.wait(stream, now)
        return wait + self.booking.first_audio_s

    def extend(self, stream_id: int, text: int, done: bool, frame_cap: int, now: float) -> None:
        """More text for a stream in streaming layout; news of a stream that is gone is dropped."""
        queued = self.waiting.by_id.get(stream_id)
        if queued is not None:
            queued.text += text
            queued.text_done = queued.text_done or done
            queued.frame_cap = max(queued.frame_cap, frame_cap)
        slot = self.seats.slot_of.get(stream_id)
        if slot is None:
            return
        t = self.table
        if t.out_of_text[slot]:
            # The client ran out of text, not we out of time: its clocks start again here.
            t.dry_at[slot] = max(t.dry_at[slot], now + self.settings.first_audio_target)
            t.arrived[slot] = t.arrived[slot] if t.heard[slot] else now
        t.text[slot] += text
        t.open_text[slot] &= not done
        t.cap[slot] = max(int(t.cap[slot]), frame_cap)

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
        self.clips.append((clip, now + self.settings.background_patience))

    def ask_words(self, stream_id: int, now: float, last: bool = False) -> None:
        """A stream has audio whose words are to be looked for. `last`: it has ended, and whoever
        hears it may hear nothing more before that is told."""
        chosen = self.settings
        due = now + (chosen.first_audio_target if last else chosen.background_patience)
        self.alignments[stream_id] = min(due, self.alignments.get(stream_id, due))

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

    def next_job(self, now: float, closed: frozenset[Kind] = NONE) -> Job | None:
        """The most urgent job with its batch filled, or None while nothing may run. `closed` are
        the kinds that the device takes no more of at present."""
        self.outlook.refresh()
        self._admit(now)
        if not self.seats.slot_of:
            return self._aside(None, closed, NEVER)
        view = self.choice.look(now)
        for lead in (self.settings.busy_lead, self.settings.idle_lead):
            job, start = self.choice.job(view, lead, closed)
            if job is not None:
                spare = -NEVER if self.waiting or view.waits.any() else start - now
                return self._aside(start, closed, spare) or job
        return self._aside(None, closed, NEVER)

    def wakes_at(self, now: float) -> float | None:
        """When pacing or patience next lets somebody go on, if no news comes first."""
        held = self.table.steps
        wakes = []
        if held.any():
            rest = float(self.table.ahead(now)[held].min()) - self.settings.idle_lead
            wakes.append(now + max(0.0, rest))
        if self.waiting and self.free:
            patient = self.waiting.peek(now).arrived + self.settings.slack_patience
            wakes += [patient] if patient > now else []
        return min(wakes, default=None)

    # ---- what happens

    def launch(self, job: Job, now: float) -> None:
        """The job has begun."""
        if job.kind is Kind.ENCODE:
            self.clips.popleft()
        elif job.kind is Kind.ALIGN:
            del self.alignments[job.stream]
        else:
            self.booking.launch(job, now)

    def complete(self, job: Job, result: Result, now: float) -> Booked:
        """Books a launched job's result; the slots of streams that it ended are free again."""
        if result.more:
            self.clips.appendleft((job.clip, now + self.settings.encode_patience))
        return self.booking.complete(job, result, now)

    def check(self) -> None:
        """Verifies the books, when idle. Raises BooksError."""
        self.seats.check()

    # ---- inside

    def _admit(self, now: float) -> None:
        while self.free and self.waiting:
            stream = self.waiting.peek(now)
            if not self.admission.fits_memory(stream) or not self.admission.fits_time(stream, now):
                return
            self.seats.seat_next(now)

    def _aside(self, start: float | None, closed: frozenset[Kind], spare: float) -> Job | None:
        return self._clip(start, closed, spare) or self._words(start, closed, spare)

    def _words(self, start: float | None, closed: frozenset[Kind], spare: float) -> Job | None:
        """Words go while nothing else may, or in the time that the most urgent job has to spare:
        none where a first frame is waited for. Who has waited out the patience goes like a voice.
        """
        if not self.alignments or Kind.ALIGN in closed:
            return None
        stream, due = min(self.alignments.items(), key=itemgetter(1))
        predicted = self.costs.expect(Kind.ALIGN, 0)
        if start is None or predicted < spare or due < start:
            return Job(Kind.ALIGN, stream=stream, predicted=predicted)
        return None

    def _clip(self, start: float | None, closed: frozenset[Kind], spare: float) -> Job | None:
        """A voice's next piece goes as words do."""
        if not self.clips or Kind.ENCODE in closed:
            return None
        clip, due = self.clips[0]
        predicted = self.costs.expect(Kind.ENCODE, 0)
        if start is None or predicted < spare or due < start:
            return Job(Kind.ENCODE, clip=clip, predicted=predicted)
        return None

    def _end(self, stream_id: int, reason: str) -> Ended | None:
        end = self.seats.leave(stream_id, reason)
        if end is not None and end.slot >= 0:
            self.seats.vacate(np.array([end.slot]))
        return end
