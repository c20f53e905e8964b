"""What a context tells its dialect, in the order in which it happens."""

from __future__ import annotations

from dataclasses import dataclass

from ttsapp.errors import ApiError


@dataclass(frozen=True, slots=True)
class Audio:
    """24 kHz mono, signed 16-bit little-endian. `first_sample`: on the context's one clock."""

    pcm: bytes
    first_sample: int


@dataclass(frozen=True, slots=True)
class Word:
    """Spelled as in the text; milliseconds on the context's clock. Of no length where nobody says
    it, as a dash or an emoji. `goes_on`: no blank parts it from the next one."""

    text: str
    start_ms: int
    end_ms: int
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """When words are spoken. Only where the engine can tell; each word is told once, in order."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Flushed:
    """All audio of the text before that `flush` has been given."""

    id: str


@dataclass(frozen=True, slots=True)
class Report:
    """`spoken_characters`: the part of the text, from its beginning, that was heard as audio."""

    characters: int
    spoken_characters: int
    billed_characters: int
    audio_ms: int
    first_audio_ms: int | None
    text_tokens: int
    frames: int


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of a context that ended well: `stop`, `length` or `cancelled`."""

    reason: str
    report: Report


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a context that did not. A status below 500 is the client's doing."""

    error: ApiError
    report: Report


@dataclass(frozen=True, slots=True)
class Made:
    """All of a whole answer's audio has been given. Who comes back for the next event has handed
    the answer over to its client; only that settles it."""


Event = Audio | Words | Flushed | Made | Done | Failed
