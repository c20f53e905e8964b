"""One stream in the core: what of its audio has left, what is held back, what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_engine import messages as m
from gpu_engine.audio import QuietRun, to_pcm16
from gpu_engine.audio.level import Samples
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.runner import Session
from gpu_engine.scheduler import Ended, Kind

# Nobody pauses for four seconds in the middle of a text; a stream that does never comes back.
LONGEST_QUIET = 4 * SAMPLE_RATE


@dataclass(slots=True, eq=False)
class Voiceover:
    """`samples` have left, `held` is decoded (since `decoded`) and waits for its release;
    `spent_ms` is device time. A `guarded` stream is cut when it falls silent for long; who keeps
    silence keeps all of it."""

    id: int
    session: Session
    text_tokens: int
    guarded: bool
    slot: int = -1
    samples: int = 0
    held: list[bytes] = field(default_factory=list)
    decoded: float = 0.0
    spent_ms: dict[Kind, float] = field(default_factory=lambda: dict.fromkeys(Kind, 0.0))
    quiet: QuietRun = field(default_factory=QuietRun)

    @classmethod
    def of(cls, submit: m.Submit, session: Session) -> Voiceover:
        return cls(submit.stream, session, submit.prompt.text_tokens, submit.trim_silence)

    def room(self, longest: int) -> int:
        """The most frames that fit behind its prompt."""
        return longest - len(self.session.plan.text_ids) - 1

    def hear(self, audio: Samples, now: float) -> float:
        """Takes decoded audio in, its leading silence removed. Seconds that are left of it."""
        audio = self.session.silence.push(audio)
        if len(audio):
            self.decoded = self.decoded if self.held else now
            self.quiet.push(audio)
            self.held.append(to_pcm16(audio))
        return len(audio) / SAMPLE_RATE

    def take(self) -> bytes:
        """All that was held back."""
        pcm = b"".join(self.held)
        self.held.clear()
        self.samples += len(pcm) // 2
        return pcm

    @property
    def is_lost(self) -> bool:
        return self.guarded and self.quiet.samples >= LONGEST_QUIET


def finished(voiceover: Voiceover, ended: Ended) -> m.StreamFinished:
    spent, first = voiceover.spent_ms, ended.first_audio
    return m.StreamFinished(
        stream=ended.id,
        reason=ended.reason,
        samples=voiceover.samples,
        frames=ended.frames,
        text_tokens=voiceover.text_tokens,
        first_audio_ms=0.0 if first is None else 1000 * first,
        trimmed_samples=voiceover.session.silence.trimmed,
        talker_ms=spent[Kind.PREFILL] + spent[Kind.TALKER],
        predictor_ms=spent[Kind.PREDICTOR],
        codec_ms=spent[Kind.CODEC],
    )
