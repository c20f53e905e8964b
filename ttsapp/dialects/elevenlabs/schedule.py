"""`chunk_length_schedule`: how much text there has to be before more of it is spoken."""

from __future__ import annotations


class Schedule:
    """Text that waits for company. The last length holds for all that follows; without any, no
    text waits."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self._lengths = lengths
        self._chunks = 0
        self._waiting = ""

    def push(self, text: str) -> str:
        """What is to be spoken now: all that waits once it is long enough, else nothing."""
        self._waiting += text
        if len(self._waiting) < self._least:
            return ""
        return self.release()

    def release(self) -> str:
        """All that waits, however little it is."""
        released, self._waiting = self._waiting, ""
        self._chunks += bool(released)
        return released

    @property
    def _least(self) -> int:
        if not self._lengths:
            return 0
        return self._lengths[min(self._chunks, len(self._lengths) - 1)]
