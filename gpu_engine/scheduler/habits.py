"""What streams did lately, for what the next ones are expected to do."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_engine.scheduler.stream import FRAME_S

SMOOTHING = 0.2
FORGETTING, MOST_CAUTION = 0.99, 1.0
FIRST_GUESS_AUDIO, FIRST_GUESS_SHARE = 0.15, 0.35


@dataclass(slots=True)
class Habits:
    """`trim_s`: seconds of leading silence that a first chunk loses. `spoken_share`: frames that a
    stream makes, as a share of its cap. `first_audio_s`: from its slot to its first audio.
    `caution`: seconds by which listeners ran dry; later ones are given that much more."""

    trim_s: float = FRAME_S
    spoken_share: float = FIRST_GUESS_SHARE
    first_audio_s: float = FIRST_GUESS_AUDIO
    caution: float = 0.0

    def trimmed(self, seconds: float) -> None:
        self.trim_s += SMOOTHING * (seconds - self.trim_s)

    def spoke(self, share: float) -> None:
        self.spoken_share += SMOOTHING * (share - self.spoken_share)

    def waited(self, seconds: float) -> None:
        self.first_audio_s += SMOOTHING * (seconds - self.first_audio_s)

    def ran_dry(self, seconds: float) -> None:
        """What no cost model foresaw, such as a machine that others use, is remembered for some
        hundred decodes; 0 where nobody did."""
        self.caution = min(MOST_CAUTION, max(FORGETTING * self.caution, seconds))
