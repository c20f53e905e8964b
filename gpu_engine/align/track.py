"""What an engine asks of an aligner: a track for each stream whose words are to be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TimedWord:
    """`text[first:end]` is spoken from `first_sample` to `end_sample` of the stream's audio."""

    first: int
    end: int
    first_sample: int
    end_sample: int


class Track(Protocol):
    """One stream's text and delivered audio on their way to its words.

    `look` is one job: short, however much there is to look through, and called again while `due`.
    Each word is told once, in order; times neither overlap nor leave the audio. A stream that ended
    is `over` once nothing more will be told."""

    @property
    def due(self) -> bool: ...

    @property
    def over(self) -> bool: ...

    def add_text(self, text: str, done: bool) -> None: ...

    def hear(self, pcm: bytes) -> None:
        """Signed 16-bit samples, behind those before."""
        ...

    def end(self, complete: bool) -> None:
        """No more audio follows; `complete`: all of the text has been spoken."""
        ...

    def look(self) -> list[TimedWord]: ...


class Aligner(Protocol):
    """`languages`: what its words can be told in, by the engine's names."""

    @property
    def languages(self) -> tuple[str, ...]: ...

    def open(self) -> Track: ...
