"""A request's audio as it was made, where its tenant wants it kept to be heard again."""

from __future__ import annotations

from ttsapp import background
from ttsapp.speech import kept
from ttsapp.speech.encoders.plain import wav_header
from ttsapp.speech.encoders.samples import BYTES_PER_MS, SAMPLE_RATE
from ttsapp.speech.order import Order

# Of a longer one its beginning is kept.
MOST_BYTES = 15 * 60 * 1000 * BYTES_PER_MS


class Recording:
    """`name`: of the file that there will be; empty while there is nothing to keep."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._pcm: list[bytes] = []
        self._size = 0

    def add(self, pcm: bytes) -> None:
        if self._order.caller.audio_hours and self._size < MOST_BYTES:
            self._pcm.append(pcm)
            self._size += len(pcm)

    def keep(self) -> str:
        """Written while nobody waits for it: its name, or nothing where there is no audio."""
        if not self._pcm:
            return ""
        file = kept.named(self._order.voice, 3600 * self._order.caller.audio_hours)
        audio = b"".join((wav_header("s16", SAMPLE_RATE, self._size), *self._pcm))
        self._pcm = []
        background.spawn(kept.write(kept.RECORDINGS, file, audio))
        return file.name
