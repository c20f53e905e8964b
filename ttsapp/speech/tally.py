"""What a context has done so far, and what that makes of its usage and its log row."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from billing.rating import Outcome, billed_characters, spoken_characters
from billing.services import Usage
from gpu_engine.proto import engine_pb2
from ttsapp import context
from ttsapp.errors import ApiError
from ttsapp.speech.encoders.samples import BYTES_PER_MS, SAMPLE_RATE
from ttsapp.speech.events import Audio, Report
from ttsapp.speech.playback import Playback
from ttsapp.speech.segment import Segment
from ttsapp.speech.services import Record
from ttsapp.speech.timeline import Chunk, Chunks, Timeline

CLIENT_LEFT = 499


@dataclass(slots=True)
class Tally:
    """`characters` counts all text taken; of it, `segments` have what was given to the engine.
    `is_whole`: nobody listens before the end; `speed`: how fast it is played; `is_cut`: the answer
    has all the frames that were asked for, and not all of the text.

    A request that comes whole is timed from its arrival, so with what was done to its text; live
    text from the first of it that can be spoken."""

    segments: list[Segment]
    is_whole: bool = False
    speed: float = 1.0
    started: float = field(default_factory=lambda: _arrival() or time.monotonic())
    characters: int = 0
    first_audio_ms: int | None = None
    playback: Playback = field(default_factory=Playback)
    chunks: Chunks = field(default_factory=Chunks)
    # What the listener says to have heard of what was delivered; all of it unless told.
    played_bytes: int | None = None
    is_cancelled: bool = False
    is_cut: bool = False
    has_left: bool = False
    is_our_stop: bool = False

    def note_audio(self, audio: Audio, *, asked_at: float, text_at: float) -> None:
        """It is here: asked for by the reader then, and of text that came then."""
        now = time.monotonic()
        came_ms = round((now - self.started) * 1000)
        if self.first_audio_ms is None:
            self.first_audio_ms = came_ms
        seconds = len(audio.pcm) / (1000 * BYTES_PER_MS * self.speed)
        is_late = not self.is_whole and self.playback.hear(
            seconds, asked_at=asked_at, came_at=now, text_at=text_at
        )
        at_ms = round(1000 * audio.first_sample / (SAMPLE_RATE * self.speed))
        self.chunks.note(Chunk(came_ms, at_ms, round(1000 * seconds), is_late))

    def begin(self) -> None:
        """The first text that can be spoken is here."""
        if _arrival() is None:
            self.started = time.monotonic()

    def limit_delivered(self, pcm_bytes: int) -> None:
        """Of what was handed over, only so much has arrived: the first of it."""
        for segment in self.segments:
            segment.delivered_bytes = min(segment.delivered_bytes, pcm_bytes)
            pcm_bytes -= segment.delivered_bytes

    @property
    def made_bytes(self) -> int:
        """Of PCM, delivered or not."""
        return sum(segment.sent_bytes for segment in self.segments)

    def deliver_all(self) -> None:
        """An answer that is sent whole is handed over when all of it is there, not before."""
        for segment in self.segments:
            segment.delivered_bytes = segment.sent_bytes

    @property
    def elapsed_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1000)

    @property
    def audio_ms(self) -> int:
        """Delivered, as long as it is heard."""
        return round(self._delivered_ms / self.speed)

    @property
    def _delivered_ms(self) -> int:
        """As long as it is at the speed at which it was made."""
        return sum(segment.delivered_bytes for segment in self.segments) // BYTES_PER_MS

    @property
    def finish_reason(self) -> str:
        """stop, length, cancelled or error; of a context that has ended."""
        if self.is_cancelled:
            return "error" if self.is_our_stop else "cancelled"
        if self.is_cut:
            return "length"
        ends = [segment.finished.reason for segment in self.segments if segment.finished]
        if not ends or len(ends) < len(self.segments):
            return "error"
        return "length" if engine_pb2.FINISH_REASON_LENGTH in ends else "stop"

    def outcome(self, failure: ApiError | None) -> Outcome:
        """An end that the client caused counts like a cancel once it had audio, and before that as
        a refusal, whoever refused."""
        if failure is not None:
            if failure.status >= 500:
                return Outcome.FAILED
            return Outcome.CANCELLED if self._delivered_ms > 0 else Outcome.REFUSED
        reason = self.finish_reason
        if reason == "error":
            return Outcome.FAILED
        return Outcome.CANCELLED if reason == "cancelled" else Outcome.COMPLETED

    def usage(self, outcome: Outcome, failure: ApiError | None = None) -> Usage:
        """One for the whole context: the sums over its engine streams."""
        spent = [segment.finished for segment in self.segments if segment.finished]
        parts = [segment.part() for segment in self.segments]
        return Usage(
            outcome=outcome,
            characters=0 if outcome is Outcome.REFUSED else self.characters,
            billed_characters=billed_characters(outcome, self.characters, parts),
            audio_ms=self.audio_ms,
            frames=sum(finished.frames for finished in spent),
            text_tokens=sum(finished.text_tokens for finished in spent),
            talker_ms=sum(finished.gpu.talker_ms for finished in spent),
            predictor_ms=sum(finished.gpu.predictor_ms for finished in spent),
            codec_ms=sum(finished.gpu.codec_ms for finished in spent),
            first_audio_ms=self.first_audio_ms,
            underruns=self.playback.underruns,
            finish_reason=self._ending(outcome, failure),
            engine=next((segment.engine for segment in self.segments if segment.engine), "")[:100],
        )

    def report(self, usage: Usage) -> Report:
        if usage.outcome is Outcome.COMPLETED:
            spoken = usage.characters
        else:
            spoken = self._spoken_characters()
        return Report(
            characters=usage.characters,
            spoken_characters=spoken,
            billed_characters=usage.billed_characters,
            audio_ms=usage.audio_ms,
            first_audio_ms=self.first_audio_ms,
            text_tokens=usage.text_tokens,
            frames=usage.frames,
        )

    def _spoken_characters(self) -> int:
        left, spoken = self.played_bytes, 0
        for segment in self.segments:
            heard = segment.delivered_bytes if left is None else min(segment.delivered_bytes, left)
            spoken += spoken_characters(segment.part(heard))
            left = None if left is None else left - heard
        return spoken

    def record(self, outcome: Outcome, failure: ApiError | None) -> Record:
        return Record(
            status=self._status(outcome, failure),
            total_ms=self.elapsed_ms,
            first_audio_ms=self.first_audio_ms,
            finish_reason=self._ending(outcome, failure),
            error=failure,
            timeline=self.timeline().pack(),
        )

    def timeline(self) -> Timeline:
        first = self.segments[0] if self.segments else None
        return Timeline(
            asked_ms=self._since(first.asked_at if first else None),
            accepted_ms=self._since(first.accepted_at if first else None),
            is_whole=self.is_whole,
            chunks=tuple(self.chunks.kept),
            left_out=self.chunks.left_out,
        )

    def _since(self, moment: float | None) -> int | None:
        return None if moment is None else round((moment - self.started) * 1000)

    def _ending(self, outcome: Outcome, failure: ApiError | None) -> str:
        """As the log has it, where what was refused has no end."""
        if outcome is Outcome.REFUSED:
            return ""
        return "error" if failure else self.finish_reason

    def _status(self, outcome: Outcome, failure: ApiError | None) -> int:
        if failure is not None:
            return failure.status
        if outcome is Outcome.FAILED:
            return 500
        return CLIENT_LEFT if self.has_left else 200


def _arrival() -> float | None:
    return context.arrived_at.get()
