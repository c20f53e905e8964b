"""What a client has taken of one answer, for whom no answer lasts for ever."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

from django.conf import settings

from ttsapp.server.connection import Connection

MOST_MARKS = 64


class Delivery:
    """One answer's audio on its way through a connection; `with` bounds how long it may take.

    A client that takes nothing for PARLANCE_DELIVERY_SECONDS is cut off by its connection. One
    that takes too little is cut off here, when the longest time of a stream is over. To the
    stream both look like a client that left: it pays for `taken`."""

    def __init__(self, connection: Connection | None) -> None:
        self._connection = connection
        # (first byte on the wire, the byte after the last, PCM bytes) of what may still be untaken.
        self._waiting: deque[tuple[int, int, int]] = deque()
        self._done = 0
        self._limit: asyncio.TimerHandle | None = None
        self.handed = 0
        self.is_late = False

    def __enter__(self) -> Delivery:
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(settings.MAX_STREAM_SECONDS, self._expire)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._limit is not None:
            self._limit.cancel()

    def hand_over(self, pcm_bytes: int, wire_bytes: int) -> None:
        """Notes audio that has just been sent: so much of it, encoded in so many bytes."""
        self.handed += pcm_bytes
        if self._connection is not None:
            end = self._connection.written
            self._waiting.append((end - wire_bytes, end, pcm_bytes))
            # What was taken long ago need not be remembered one by one.
            if len(self._waiting) > MOST_MARKS:
                self._settle(self._connection.taken)

    @property
    def taken(self) -> int:
        """PCM bytes. While the connection stands, all that was handed over is on its way; once
        it is gone, only what the client's side acknowledged has arrived."""
        if self._connection is None or not self._connection.is_gone:
            return self.handed
        taken = self._connection.taken
        self._settle(taken)
        if not self._waiting:
            return self._done
        begin, end, pcm_bytes = self._waiting[0]
        return self._done + max(0, taken - begin) * pcm_bytes // max(1, end - begin)

    @property
    def is_lost(self) -> bool:
        """Whether some of what was handed over will never arrive."""
        return self.taken < self.handed

    @property
    def is_stalled(self) -> bool:
        """Whether the client was cut off because it took nothing, or too little."""
        return self.is_late or (self._connection is not None and self._connection.is_stalled)

    def _settle(self, taken: int) -> None:
        while self._waiting and self._waiting[0][1] <= taken:
            self._done += self._waiting.popleft()[2]

    def _expire(self) -> None:
        """Where nothing waits for the client, the time was the engine's: it has its own limit."""
        connection = self._connection
        if connection is not None and connection.taken < connection.written:
            self.is_late = True
            connection.abort()
