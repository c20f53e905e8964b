"""The listener's clock: what is delivered is played from the first audio on, without a pause."""

from __future__ import annotations


class Playback:
    """Counts underruns: times that all audio was played before more of it was there.

    Only what we are to blame for counts: the reader asked in time, and the text was there."""

    def __init__(self) -> None:
        self.underruns = 0
        self._played_at: float | None = None

    def hear(self, seconds: float, *, asked_at: float, came_at: float, text_at: float) -> bool:
        """So much more audio: asked for by the reader then, and of text that came then. Whether it
        came too late."""
        end = self._played_at if self._played_at is not None else came_at
        is_late = max(asked_at, text_at) <= end < came_at
        self.underruns += is_late
        self._played_at = max(end, came_at) + seconds
        return is_late
