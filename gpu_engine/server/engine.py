"""The core's heart: news in, jobs launched and collected, messages out. No sockets, no clock, no
processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np
import structlog

from gpu_engine import messages as m
from gpu_engine.align import Aligner
from gpu_engine.config import TtsConfig
from gpu_engine.errors import EngineFull
from gpu_engine.runner import Device, Outcome, VoiceEncoding
from gpu_engine.scheduler import BooksError, Ended, Job, Kind, Result, Scheduler, Stream
from gpu_engine.server.flight import Flight
from gpu_engine.server.memory import Meter
from gpu_engine.server.sessions import open_session
from gpu_engine.server.tracer import Tracer
from gpu_engine.server.voiceover import Voiceover, finished
from gpu_engine.server.words import Captions

log = structlog.get_logger()

Clock = Callable[[], float]


@dataclass(slots=True)
class Counters:
    steps: int = 0
    rows: int = 0
    busy: float = 0.0
    last_ms: float = 0.0


class Engine:
    """Joins the scheduler, which decides, to the device, which does.

    The plain loop collects each job before it decides on the next. The overlapped one decides and
    launches while a job runs and collects results one step late. Both give the same tokens.
    """

    def __init__(
        self,
        device: Device,
        scheduler: Scheduler,
        config: TtsConfig,
        send: Callable[[m.ToFront], None],
        overlapped: bool = False,
        aligner: Aligner | None = None,
    ) -> None:
        self.device, self.scheduler = device, scheduler
        self._config, self._send = config, send
        self.live: dict[int, Voiceover] = {}
        self.clips: dict[int, VoiceEncoding] = {}
        self.counters = {kind: Counters() for kind in Kind}
        self.captions = Captions(aligner, scheduler, send)
        self.flight = Flight(device, overlapped, self.captions.look)
        self.tracer = Tracer(scheduler, send)
        self.memory = Meter(device, aligner)

    # ---- news

    def handle(self, message: m.ToCore, now: float) -> None:
        match message:
            case m.Submit():
                self._submit(message, now)
            case m.Extend():
                self._extend(message, now)
            case m.CancelStream():
                self._finish(self.scheduler.cancel(message.stream), now)
                self.captions.drop(message.stream)
            case m.EncodeClip():
                voice = self.device.begin_voice(message.pcm, message.with_codes)
                self.clips[message.clip] = voice
                self.scheduler.add_clip(message.clip, now)
            case m.KeepVoice():
                self._keep(message)
            case m.BeginTrace():
                self.tracer.begin(message, tuple(self.live), now)
        self._seat()

    def _submit(self, submit: m.Submit, now: float) -> None:
        room = self.device.shapes.longest - len(submit.prompt.text_ids) - 1
        cap = min(submit.frame_cap, room)
        stream = Stream(
            id=submit.stream,
            arrived=now,
            frame_cap=cap,
            ramp=submit.ramp,
            tenant=submit.tenant,
            share=submit.share,
            background=submit.background,
            paced=submit.paced,
            text=len(submit.prompt.trailing),
            text_done=submit.text_done,
            # Nobody knows how long a text that still grows will be.
            positions=self.device.shapes.longest - (room - cap) * submit.text_done,
        )
        session = open_session(submit, self._config)
        self.live[stream.id] = Voiceover.of(submit, session)
        try:
            wait = self.scheduler.submit(stream, now)
        except EngineFull as full:
            del self.live[stream.id]
            self._send(_refusal(submit.stream, full))
            return
        if submit.artifact:
            self.device.kept.name(submit.artifact, session.voice, self._voices())
        self.captions.open(submit)
        self.tracer.note(stream.id, "begin", now)
        self._send(m.StreamAccepted(stream.id, round(1000 * wait)))

    def _extend(self, more: m.Extend, now: float) -> None:
        voiceover = self.live.get(more.stream)
        if voiceover is None:
            return
        self.captions.add_text(more)
        if voiceover.slot >= 0:
            self.device.extend(voiceover.slot, more.trailing)
        else:
            voiceover.session.unembedded += more.trailing
        voiceover.text_tokens += more.text_tokens
        cap = min(more.frame_cap, voiceover.room(self.device.shapes.longest))
        self.scheduler.extend(more.stream, len(more.trailing), more.done, cap, now)

    def _keep(self, message: m.KeepVoice) -> None:
        """What is unloaded is not brought back by who speaks by it still."""
        kept = self.device.kept
        before, after = kept.keep(message.speaker, message.act)
        if message.act == "unload" and before.speaker in self._voices():
            kept.barred.add(before.speaker)
        self._send(m.VoiceKept(message.ask, before, after))

    def _voices(self) -> set[bytes]:
        """Of the clones that speak, or wait for it."""
        return {row.session.voice for row in self.live.values() if row.session.vector is not None}

    # ---- one turn

    def turn(self, clock: Clock = time.monotonic) -> bool:
        """Launches the most urgent job, if there is one, and collects what is due."""
        now = clock()
        self.captions.ask(now)
        job = self.scheduler.next_job(now, self.flight.closed, self.flight.behind)
        self._seat()
        self.tracer.tell(now)
        if job is not None:
            began = clock()
            self.scheduler.launch(job, began)
            self.tracer.launched(job, began)
            self.flight.launch(job, self.clips.get(job.clip))
        landed = self.flight.land(waiting=job is None)
        for done, outcome in landed:
            self._book(done, outcome, clock())
        return job is not None or bool(landed)

    def _book(self, job: Job, outcome: Outcome, now: float) -> None:
        self._account(job, outcome.seconds)
        self.tracer.landed(job, outcome.seconds, now)
        if job.kind is Kind.ENCODE:
            self._book_voice(job, outcome, now)
            return
        if job.kind is Kind.ALIGN:
            self.scheduler.complete(job, Result(seconds=outcome.seconds), now)
            self.captions.tell(job.stream)
            return
        rows, seconds = [], None
        if outcome.audio is not None:
            rows = [self.live.get(number) for number in job.ids.tolist()]
            made = zip(rows, outcome.audio, outcome.broken.tolist(), strict=True)
            heard = [
                0.0 if row is None or bad else row.hear(audio, now) for row, audio, bad in made
            ]
            seconds = np.array(heard)
        result = Result(outcome.stopped, outcome.broken, seconds, seconds=outcome.seconds)
        booked = self.scheduler.complete(job, result, now)
        for row, leaves in zip(rows, booked.released.tolist(), strict=False):
            if row is not None and leaves:
                self._deliver(row, now)
        for ended in booked.ended:
            self._finish(ended, now)
        self._cut_the_lost(rows, now)
        self._seat()

    def _seat(self) -> None:
        """Follows the scheduler: slots that were given up, slots that were taken."""
        news = self.scheduler.seats
        for slot in news.vacated:
            self.device.close(slot)
        news.vacated.clear()
        for slot, number in news.seated:
            voiceover = self.live[number]
            voiceover.slot = slot
            self.scheduler.expect_prefills(slot, self.device.open(slot, voiceover.session))
        news.seated.clear()

    # ---- what comes out

    def _deliver(self, voiceover: Voiceover, now: float) -> None:
        pcm = voiceover.take()
        if pcm:
            if voiceover.samples == len(pcm) // 2:
                self.tracer.note(voiceover.id, "first audio", now)
            first = voiceover.samples - len(pcm) // 2
            self._send(m.AudioChunk(voiceover.id, pcm, first, voiceover.decoded))
            self.captions.hear(voiceover.id, pcm)

    def _cut_the_lost(self, rows: list[Voiceover | None], now: float) -> None:
        for row in rows:
            if row is not None and row.is_lost and row.id in self.live:
                log.warning("stream lost in silence", stream=row.id)
                self._finish(self.scheduler.cut(row.id), now)

    def _finish(self, ended: Ended | None, now: float) -> None:
        if ended is None:
            return
        voiceover = self.live.pop(ended.id)
        if self.device.kept.barred:
            self.device.kept.barred &= self._voices()
        if ended.reason in ("stop", "length"):
            self._deliver(voiceover, now)
        self.tracer.note(ended.id, "end", now)
        if ended.reason == "error" or not voiceover.samples:
            self.captions.drop(ended.id)
        if ended.reason == "error":
            problem = "the model produced numbers that are not finite"
            self._send(m.StreamFailed(ended.id, "internal", problem, retryable=True))
        elif ended.reason != "cancelled" and not voiceover.samples:
            problem = "the model produced no speech for this text"
            self._send(m.StreamFailed(ended.id, "no_audio", problem, retryable=True))
        else:
            self.captions.end(finished(voiceover, ended))

    def _book_voice(self, job: Job, outcome: Outcome, now: float) -> None:
        broken = bool(outcome.broken.any())
        more = outcome.voice is None and not broken
        self.scheduler.complete(job, Result(more=more, seconds=outcome.seconds), now)
        if more:
            return
        del self.clips[job.clip]
        if outcome.voice is None:
            self._send(m.ClipFailed(job.clip, "internal", "the voice could not be encoded"))
        else:
            self._send(m.ClipEncoded(job.clip, *outcome.voice))

    def _account(self, job: Job, seconds: float) -> None:
        counters = self.counters[job.kind]
        counters.steps += 1
        counters.rows += job.rows
        counters.busy += seconds
        counters.last_ms = 1000 * seconds
        for number in job.ids.tolist():
            row = self.live.get(number)
            if row is not None:
                row.spent_ms[job.kind] += 1000 * seconds / job.rows

    def check(self) -> None:
        """Verifies the books, when idle. What is lost is our bug: raises BooksError."""
        self.scheduler.check()
        self.captions.check()
        if len(self.live) != len(self.scheduler):
            raise BooksError(f"{len(self.live)} streams live, {len(self.scheduler)} scheduled")
        if len(self.clips) != len(self.scheduler.clips):
            raise BooksError("a voice is lost")

    def status(self, memory_bytes: int, now: float) -> m.CoreStatus:
        totals, load = self.scheduler.totals, self.scheduler.load(now)
        return m.CoreStatus(
            streams=len(self.scheduler),
            waiting_first_audio=self.scheduler.waiting_first_audio,
            streams_total=totals.streams,
            frames_total=totals.frames,
            underruns_total=totals.underruns,
            memory_bytes=memory_bytes,
            modules={
                kind.value: m.ModuleCounters(c.steps, c.rows, c.busy, c.last_ms)
                for kind, c in self.counters.items()
            },
            caches={
                name: m.CacheCounters(*astuple(stats))
                for name, stats in self.device.kept.stats().items()
            },
            waiting_background=load.waiting_background,
            lead_low_ms=round(1000 * load.lead_low),
            lead_median_ms=round(1000 * load.lead_median),
            pinned=tuple(map(self.device.kept.held, self.device.kept.pinned)),
            waits={
                name: m.WaitTimes(wait.rows, 1000 * wait.median, 1000 * wait.p95)
                for name, wait in self.scheduler.waits.told(now).items()
            },
            memory=self.memory.told(now),
            longest_wait_ms=round(1000 * self.scheduler.waiting.longest(now)),
        )


def _refusal(stream: int, full: EngineFull) -> m.StreamFailed:
    pause = full.retry_after_ms
    return m.StreamFailed(stream, full.code, full.message, retryable=True, retry_after_ms=pause)
