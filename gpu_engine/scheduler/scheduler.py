"""One scheduler for prefill, Talker, Code Predictor and codec jobs: a pure function of its state
and the `now` it is given. It knows no tensors, no sockets and no clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from gpu_engine.errors import EngineFull
from gpu_engine.scheduler.jobs import Job, Kind, Result, next_chunk, next_step
from gpu_engine.scheduler.policy import SchedulerSettings, deadline, within_lead
from gpu_engine.scheduler.stream import Stage, Stream
from gpu_engine.scheduler.waiting import WaitingRoom

# Where the two wait estimates start before the first stream has been seen, in seconds.
FIRST_GUESS_HOLD = 3.0
FIRST_GUESS_AUDIO = 0.15
SMOOTHING = 0.2


@dataclass(slots=True)
class Totals:
    streams: int = 0
    frames: int = 0
    underruns: int = 0


@dataclass(slots=True)
class Scheduler:
    """`submit`, `extend` and `cancel` bring news, `next_job` decides, `complete` books a result."""

    settings: SchedulerSettings
    streams: dict[int, Stream] = field(default_factory=dict)
    waiting: WaitingRoom = field(init=False)
    free: list[int] = field(init=False)
    clips: deque[tuple[int, float]] = field(default_factory=deque)
    totals: Totals = field(default_factory=Totals)
    hold_s: float = FIRST_GUESS_HOLD
    first_audio_s: float = FIRST_GUESS_AUDIO

    def __post_init__(self) -> None:
        self.waiting = WaitingRoom(self.settings.waiting, self.settings.background_patience)
        self.free = list(range(self.settings.slots))[::-1]

    # ---- news

    def submit(self, stream: Stream, now: float) -> float:
        """Takes a stream in and returns its expected seconds to first audio. Raises EngineFull."""
        assert stream.id not in self.streams, "a stream's id is used once"
        if not self.free and self.waiting.full:
            raise EngineFull(retry_after_ms=round(1000 * self._slot_wait()))
        wait = 0.0 if self.free else self._slot_wait()
        self.streams[stream.id] = stream
        self.totals.streams += 1
        self.waiting.push(stream)
        self._admit(now)
        return wait + self.first_audio_s

    def extend(self, stream_id: int, text: int, done: bool, frame_cap: int, now: float) -> None:
        """More text for a stream in streaming layout; news of a stream that is gone is dropped."""
        stream = self.streams.get(stream_id)
        if stream is None:
            return
        if stream.out_of_text:
            # The client ran out of text, not we out of time: its clocks start again here.
            stream.dry_at = max(stream.dry_at, now + self.settings.first_audio_target)
            stream.arrived = now if stream.first_audio_at is None else stream.arrived
        stream.text += text
        stream.text_done = stream.text_done or done
        stream.frame_cap = max(stream.frame_cap, frame_cap)

    def cancel(self, stream_id: int) -> Stream | None:
        """Ends a stream at once and frees its slot; None when it has ended already."""
        stream = self.streams.get(stream_id)
        if stream is not None:
            self._end(stream, "cancelled")
        return stream

    def cut(self, stream_id: int) -> Stream | None:
        """Ends a stream that has lost its way as its frame cap would; drops what is undecoded.
        None when it has ended already."""
        stream = self.streams.get(stream_id)
        if stream is not None:
            self._end(stream, "length")
        return stream

    def add_clip(self, clip: int, now: float) -> None:
        """Queues a voice to encode: background work with a bounded wait."""
        self.clips.append((clip, now + self.settings.background_patience))

    # ---- decisions

    def next_job(self, now: float) -> Job | None:
        """The most urgent job with its batch filled, or None while nothing may run."""
        self._admit(now)
        for lead in (self.settings.busy_lead, self.settings.idle_lead):
            job = self._most_urgent(lead, now)
            if job is not None:
                return job
        return None

    def wakes_at(self, now: float) -> float | None:
        """When pacing next lets a stream go on, if no news comes first."""
        held = [s for s in self.streams.values() if next_step(s) is not None]
        if not held:
            return None
        return now + max(0.0, min(s.ahead(now) for s in held) - self.settings.idle_lead)

    # ---- results

    def complete(self, job: Job, result: Result, now: float) -> list[Stream]:
        """Books a job's result; returns the streams that it ended, their slots free again."""
        for stream in job.rows:
            stream.progressed = now
            if stream.id in result.broken:
                self._end(stream, "error")
            else:
                self._advance(stream, job, result, now)
        ended = [stream for stream in job.rows if stream.stage == Stage.DONE]
        for stream in ended:
            self.hold_s += SMOOTHING * (now - stream.admitted - self.hold_s)
        return ended

    def check(self) -> None:
        """Verifies the books, when idle. A broken invariant is our bug and stops the core."""
        held = [s.slot for s in self.streams.values() if s.slot >= 0]
        assert sorted(held + self.free) == list(range(self.settings.slots)), "a slot is lost"
        assert len(self.streams) == len(held) + len(self.waiting), "a stream is lost"

    @property
    def waiting_first_audio(self) -> int:
        return sum(stream.first_audio_at is None for stream in self.streams.values())

    # ---- inside

    def _admit(self, now: float) -> None:
        while self.free and self.waiting:
            stream = self.waiting.pop(now)
            stream.slot = self.free.pop()
            stream.stage = Stage.PREFILL
            stream.admitted = stream.progressed = now

    def _slot_wait(self) -> float:
        return self.hold_s * (len(self.waiting) + 1) / self.settings.slots

    def _most_urgent(self, lead: float, now: float) -> Job | None:
        order = sorted(
            (s for s in self.streams.values() if s.slot >= 0),
            key=lambda s: (deadline(s, self.settings), s.id),
        )
        for stream in order:
            frames = next_chunk(stream, self.settings.rush, now)
            kind = Kind.CODEC if frames else self._step(stream, lead, now)
            if kind is not None:
                if self.clips and self.clips[0][1] < deadline(stream, self.settings):
                    break
                return self._fill(stream, kind, frames, order, lead, now)
        return Job(Kind.ENCODE, clip=self.clips.popleft()[0]) if self.clips else None

    def _step(self, stream: Stream, lead: float, now: float) -> Kind | None:
        return next_step(stream) if within_lead(stream, lead, now) else None

    def _fill(
        self, anchor: Stream, kind: Kind, frames: int, order: list[Stream], lead: float, now: float
    ) -> Job:
        """A first frame is not made to wait for rows that have time to spare."""
        horizon = float("inf")
        if anchor.first_audio_at is None and not anchor.background:
            horizon = now + self.settings.fill_horizon
        rows = [anchor]
        for stream in order:
            if len(rows) >= self._limit(kind, frames) or deadline(stream, self.settings) > horizon:
                break
            if stream is not anchor and self._fits(stream, kind, frames, lead, now):
                rows.append(stream)
        return Job(kind, tuple(rows), frames)

    def _fits(self, stream: Stream, kind: Kind, frames: int, lead: float, now: float) -> bool:
        if kind is Kind.CODEC:
            return next_chunk(stream, self.settings.rush, now) == frames
        return self._step(stream, lead, now) is kind

    def _limit(self, kind: Kind, frames: int) -> int:
        if kind is Kind.CODEC:
            return max(1, self.settings.codec_frames // frames)
        return self.settings.prefill_rows if kind is Kind.PREFILL else self.settings.step_rows

    def _advance(self, stream: Stream, job: Job, result: Result, now: float) -> None:
        if job.kind is Kind.CODEC:
            self._play(stream, job.frames, result.delivered.get(stream.id, 0.0), now)
        elif job.kind is Kind.PREDICTOR:
            stream.frames += 1
            self.totals.frames += 1
            stream.stage = Stage.TALK
        elif stream.id in result.stopped:
            self._generated(stream, "stop")
        elif stream.frames >= stream.frame_cap:
            self._generated(stream, "length")
        else:
            stream.stage = Stage.PREDICT

    def _play(self, stream: Stream, frames: int, seconds: float, now: float) -> None:
        stream.decoded += frames
        if seconds > 0:
            first = stream.first_audio_at is None
            self.totals.underruns += stream.deliver(seconds, now)
            if first and not stream.background:
                self.first_audio_s += SMOOTHING * (now - stream.admitted - self.first_audio_s)
        if stream.stage == Stage.GENERATED and not stream.pending:
            self._end(stream, stream.reason)

    def _generated(self, stream: Stream, reason: str) -> None:
        stream.stage, stream.reason = Stage.GENERATED, reason
        if not stream.pending:
            self._end(stream, reason)

    def _end(self, stream: Stream, reason: str) -> None:
        if stream.slot >= 0:
            self.free.append(stream.slot)
        else:
            self.waiting.remove(stream)
        stream.slot, stream.stage, stream.reason = -1, Stage.DONE, reason
        del self.streams[stream.id]
