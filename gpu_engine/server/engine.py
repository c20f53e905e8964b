"""The core's heart: news in, one job a turn, messages out. No sockets, no clock, no processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from gpu_engine import messages as m
from gpu_engine.audio import QuietRun, to_pcm16
from gpu_engine.audio.level import Samples
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.errors import EngineFull
from gpu_engine.runner import Runner, Sampled, Session
from gpu_engine.scheduler import Job, Kind, Result, Scheduler, Stream
from gpu_engine.server.sessions import open_session

log = structlog.get_logger()

# Nobody pauses for four seconds in the middle of a text; a stream that does never comes back.
LONGEST_QUIET = 4 * SAMPLE_RATE


@dataclass(slots=True, eq=False)
class Voiceover:
    """One stream's two halves and its account: samples delivered, milliseconds of device time.
    A `guarded` stream is cut when it falls silent for long; who keeps silence keeps all of it."""

    stream: Stream
    session: Session
    text_tokens: int
    guarded: bool
    samples: int = 0
    spent_ms: dict[Kind, float] = field(default_factory=dict)
    quiet: QuietRun = field(default_factory=QuietRun)


@dataclass(slots=True)
class Counters:
    steps: int = 0
    rows: int = 0
    busy: float = 0.0
    last_ms: float = 0.0


class Engine:
    """Joins the scheduler, which decides, to the runner, which does."""

    def __init__(
        self, runner: Runner, scheduler: Scheduler, send: Callable[[m.ToFront], None]
    ) -> None:
        self.runner, self.scheduler, self._send = runner, scheduler, send
        self.live: dict[int, Voiceover] = {}
        self.clips: dict[int, bytes] = {}
        self.counters = {kind: Counters() for kind in Kind}

    # ---- news

    def handle(self, message: m.ToCore, now: float) -> None:
        match message:
            case m.Submit():
                self._submit(message, now)
            case m.Extend():
                self._extend(message, now)
            case m.CancelStream():
                self._cancel(message.stream)
            case m.EncodeClip():
                self.clips[message.clip] = message.pcm
                self.scheduler.add_clip(message.clip, now)

    def _submit(self, submit: m.Submit, now: float) -> None:
        stream = Stream(
            id=submit.stream,
            arrived=now,
            frame_cap=submit.frame_cap,
            ramp=submit.ramp,
            tenant=submit.tenant,
            background=submit.background,
            paced=submit.paced,
            text=len(submit.prompt.trailing),
            text_done=submit.text_done,
        )
        try:
            wait = self.scheduler.submit(stream, now)
        except EngineFull as full:
            self._send(
                m.StreamFailed(
                    submit.stream,
                    full.code,
                    full.message,
                    retryable=True,
                    retry_after_ms=full.retry_after_ms,
                )
            )
            return
        session = open_session(submit, self.runner.checkpoint.config)
        tokens = submit.prompt.text_tokens
        self.live[stream.id] = Voiceover(stream, session, tokens, guarded=submit.trim_silence)
        self._send(m.StreamAccepted(stream.id, round(1000 * wait)))

    def _extend(self, more: m.Extend, now: float) -> None:
        voiceover = self.live.get(more.stream)
        if voiceover is None:
            return
        voiceover.session.unembedded += more.trailing
        voiceover.text_tokens += more.text_tokens
        self.scheduler.extend(more.stream, len(more.trailing), more.done, more.frame_cap, now)

    def _cancel(self, stream_id: int) -> None:
        stream = self.scheduler.cancel(stream_id)
        if stream is not None:
            self._finish(stream)

    # ---- one turn

    def turn(self, clock: Callable[[], float] = time.monotonic) -> bool:
        """Runs the most urgent job, if there is one."""
        job = self.scheduler.next_job(clock())
        if job is None:
            return False
        began = clock()
        result, heard = self._run(job)
        self.runner.settle()
        now = clock()
        self._account(job, now - began)
        for voiceover, audio in heard:
            self._deliver(voiceover, audio)
        for stream in self.scheduler.complete(job, result, now):
            self._finish(stream)
        for voiceover, _ in heard:
            self._cut_if_lost(voiceover)
        return True

    def _run(self, job: Job) -> tuple[Result, list[tuple[Voiceover, Samples]]]:
        rows = [self.live[stream.id] for stream in job.rows]
        sessions = [row.session for row in rows]
        match job.kind:
            case Kind.PREFILL:
                return self._prefill(rows), []
            case Kind.TALKER:
                return _result(rows, self.runner.talk(sessions)), []
            case Kind.PREDICTOR:
                self.runner.predict(sessions)
            case Kind.CODEC:
                audio = self.runner.decode(sessions, job.frames)
                heard = list(zip(rows, audio, strict=True))
                seconds = {row.stream.id: len(audio) / SAMPLE_RATE for row, audio in heard}
                return Result(delivered=seconds), heard
            case Kind.ENCODE:
                self._encode(job.clip)
        return Result(), []

    def _prefill(self, rows: list[Voiceover]) -> Result:
        """The one job whose shape is a client's: what goes wrong in it ends that stream alone."""
        stopped: set[int] = set()
        broken: set[int] = set()
        for row in rows:
            try:
                sampled = self.runner.prefill(row.session, row.stream.slot)
            except (RuntimeError, ValueError, IndexError):
                log.exception("prefill failed", stream=row.stream.id)
                broken.add(row.stream.id)
                continue
            if sampled.broken[0]:
                broken.add(row.stream.id)
            elif sampled.stopped[0]:
                stopped.add(row.stream.id)
        return Result(frozenset(stopped), frozenset(broken))

    def _encode(self, clip: int) -> None:
        try:
            embedding, codes = self.runner.encode_voice(self.clips.pop(clip))
        except (RuntimeError, ValueError):
            log.exception("voice encoding failed", clip=clip)
            self._send(m.ClipFailed(clip, "internal", "the voice could not be encoded"))
            return
        self._send(m.ClipEncoded(clip, embedding, codes))

    # ---- what comes out

    def _deliver(self, voiceover: Voiceover, audio: Samples) -> None:
        if not len(audio):
            return
        voiceover.quiet.push(audio)
        self._send(m.AudioChunk(voiceover.stream.id, to_pcm16(audio), voiceover.samples))
        voiceover.samples += len(audio)

    def _cut_if_lost(self, voiceover: Voiceover) -> None:
        if not voiceover.guarded or voiceover.quiet.samples < LONGEST_QUIET:
            return
        stream = self.scheduler.cut(voiceover.stream.id)
        if stream is not None:
            log.warning("stream lost in silence", stream=stream.id, frames=stream.frames)
            self._finish(stream)

    def _finish(self, stream: Stream) -> None:
        voiceover = self.live.pop(stream.id)
        if stream.reason == "error":
            problem = "the model produced numbers that are not finite"
            self._send(m.StreamFailed(stream.id, "internal", problem, retryable=True))
        elif stream.reason != "cancelled" and not voiceover.samples:
            problem = "the model produced no speech for this text"
            self._send(m.StreamFailed(stream.id, "no_audio", problem, retryable=True))
        else:
            self._send(_finished(voiceover))

    def _account(self, job: Job, seconds: float) -> None:
        counters = self.counters[job.kind]
        counters.steps += 1
        counters.rows += len(job.rows)
        counters.busy += seconds
        counters.last_ms = 1000 * seconds
        for stream in job.rows:
            spent = self.live[stream.id].spent_ms
            spent[job.kind] = spent.get(job.kind, 0.0) + 1000 * seconds / len(job.rows)

    def status(self, memory_bytes: int) -> m.CoreStatus:
        totals = self.scheduler.totals
        return m.CoreStatus(
            streams=len(self.scheduler.streams),
            waiting_first_audio=self.scheduler.waiting_first_audio,
            streams_total=totals.streams,
            frames_total=totals.frames,
            underruns_total=totals.underruns,
            memory_bytes=memory_bytes,
            modules={
                kind.value: m.ModuleCounters(c.steps, c.rows, c.busy, c.last_ms)
                for kind, c in self.counters.items()
            },
        )


def _result(rows: list[Voiceover], sampled: Sampled) -> Result:
    ids = [row.stream.id for row in rows]
    return Result(
        frozenset(i for i, stopped in zip(ids, sampled.stopped, strict=False) if stopped),
        frozenset(i for i, broken in zip(ids, sampled.broken, strict=False) if broken),
    )


def _finished(voiceover: Voiceover) -> m.StreamFinished:
    stream, spent = voiceover.stream, voiceover.spent_ms
    first = stream.first_audio_at
    return m.StreamFinished(
        stream=stream.id,
        reason=stream.reason,
        samples=voiceover.samples,
        frames=stream.frames,
        text_tokens=voiceover.text_tokens,
        first_audio_ms=0.0 if first is None else 1000 * (first - stream.submitted),
        trimmed_samples=voiceover.session.silence.trimmed,
        talker_ms=spent.get(Kind.PREFILL, 0.0) + spent.get(Kind.TALKER, 0.0),
        predictor_ms=spent.get(Kind.PREDICTOR, 0.0),
        codec_ms=spent.get(Kind.CODEC, 0.0),
    )
