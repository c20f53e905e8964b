"""What a session has done so far, and what that makes of its usage and its log row."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from billing.rating import Delivery, Outcome, billed_characters, expected_ms
from billing.services import Usage
from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError
from ttsapp.speech.formats import BYTES_PER_MS, BYTES_PER_SAMPLE
from ttsapp.speech.services import Record

CLIENT_LEFT = 499

_REASONS = {
    engine_pb2.FINISH_REASON_STOP: "stop",
    engine_pb2.FINISH_REASON_LENGTH: "length",
    engine_pb2.FINISH_REASON_CANCELLED: "cancelled",
}

_WHOLE = (engine_pb2.FINISH_REASON_STOP, engine_pb2.FINISH_REASON_LENGTH)


@dataclass(slots=True)
class Tally:
    """`delivered_bytes` counts PCM that the client's connection has taken."""

    started: float = field(default_factory=time.monotonic)
    characters: int = 0
    expected_ms: int = 0
    delivered_bytes: int = 0
    first_audio_ms: int | None = None
    is_cancelled: bool = False
    is_our_stop: bool = False
    finished: engine_pb2.Finished | None = None

    def add_text(self, text: str) -> None:
        self.characters += len(text)
        self.expected_ms += expected_ms(text)

    def note_audio(self) -> None:
        if self.first_audio_ms is None:
            self.first_audio_ms = self.elapsed_ms

    def note_taken(self, pcm: bytes, is_whole: bool) -> None:
        """Of an answer that is sent whole, nothing has been taken before its end."""
        if not is_whole:
            self.delivered_bytes += len(pcm)

    @property
    def elapsed_ms(self) -> int:
        return round((time.monotonic() - self.started) * 1000)

    @property
    def audio_ms(self) -> int:
        return self.delivered_bytes // BYTES_PER_MS

    @property
    def finish_reason(self) -> str:
        """stop, length, cancelled or error; of a stream that has ended."""
        if self.is_cancelled:
            return "error" if self.is_our_stop else "cancelled"
        if self.finished is None:
            return "error"
        return _REASONS.get(self.finished.reason, "error")

    def outcome(self, failure: ApiError | None) -> Outcome:
        if failure is not None or self.finish_reason == "error":
            return Outcome.FAILED
        return Outcome.CANCELLED if self.finish_reason == "cancelled" else Outcome.COMPLETED

    def usage(self, outcome: Outcome, *, is_whole: bool) -> Usage:
        finished = self.finished or engine_pb2.Finished()
        if is_whole and outcome is Outcome.COMPLETED:
            self.delivered_bytes = finished.samples * BYTES_PER_SAMPLE
        return Usage(
            outcome=outcome,
            characters=self.characters,
            billed_characters=billed_characters(self._delivery(outcome)),
            audio_ms=self.audio_ms,
            frames=finished.frames,
            text_tokens=finished.text_tokens,
            talker_ms=finished.gpu.talker_ms,
            predictor_ms=finished.gpu.predictor_ms,
            codec_ms=finished.gpu.codec_ms,
        )

    def record(self, outcome: Outcome, failure: ApiError | None) -> Record:
        return Record(
            status=self._status(outcome, failure),
            total_ms=self.elapsed_ms,
            first_audio_ms=self.first_audio_ms,
            finish_reason="error" if outcome is Outcome.FAILED else self.finish_reason,
            error=failure,
        )

    def _status(self, outcome: Outcome, failure: ApiError | None) -> int:
        if outcome is Outcome.FAILED:
            return failure.status if failure else 500
        # A cancel that the engine answered was asked for; otherwise the client just left.
        return CLIENT_LEFT if self.finished is None and self.is_cancelled else 200

    def _delivery(self, outcome: Outcome) -> Delivery:
        total_ms = None
        if self.finished is not None and self.finished.reason in _WHOLE:
            total_ms = self.finished.samples * BYTES_PER_SAMPLE // BYTES_PER_MS
        return Delivery(outcome, self.characters, self.expected_ms, self.audio_ms, total_ms)
