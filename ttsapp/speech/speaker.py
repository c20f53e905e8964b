"""Speaks a context's segments one after the other, on one clock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings

from ttsapp import background
from ttsapp.engine import errors
from ttsapp.errors import ApiError
from ttsapp.speech.encoders.samples import BYTES_PER_SAMPLE, SAMPLE_RATE
from ttsapp.speech.events import Audio, Flushed, Words
from ttsapp.speech.permission import Permission
from ttsapp.speech.segment import Segment
from ttsapp.speech.telling import placed, unsaid

# The next engine stream opens when so little of this one is left to make: its first audio takes
# a fraction of that, even on a busy CPU.
AHEAD_MS = 2000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Audio, and the segment it is charged to."""

    segment: Segment
    audio: Audio


@dataclass(frozen=True, slots=True)
class End:
    """Nothing follows; `failure`: why, if not because all is said. `is_cut`: the rest of it would
    be more frames than the answer may have."""

    failure: ApiError | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Unsaid:
    """Signs that come behind what is said."""

    text: str


Item = Chunk | Words | Flushed | End
Work = Segment | Flushed | Unsaid


class Speaker:
    """Holds one engine stream, and for a moment a second one, opened ahead so that playback has
    no gap. Reading `next` slowly slows the engine down; one item waits. Before the first of them
    it waits for `admitted`, whose ApiError is its failure; each that follows needs the voice's
    `permission`. `max_frames`: of all segments together;
    with such a bound none is opened before the one before it has ended, as it takes what is left.
    """

    def __init__(
        self, admitted: Callable[[], Awaitable[None]], permission: Permission, max_frames: int = 0
    ) -> None:
        self._admitted, self._permission = admitted, permission
        self._max_frames = max_frames
        self._is_admitted = False
        self.segments: list[Segment] = []
        self._work: deque[Work] = deque()
        self._items: asyncio.Queue[Item] = asyncio.Queue(1)
        self._news = asyncio.Event()
        self._cancelled = asyncio.Event()
        self._is_finished = False
        self._current: Segment | None = None
        self._samples = 0
        self._told_ms: int | None = None
        self._run: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether anything is still to be made or read."""
        return self._current is not None or bool(self._work) or not self._items.empty()

    @property
    def waiting(self) -> int:
        return len(self._work)

    def add(self, item: Work) -> None:
        self._work.append(item)
        if isinstance(item, Segment):
            self.segments.append(item)
            self._open_ahead()
        if self._run is None:
            self._run = background.spawn(self._speak())
            self._run.add_done_callback(self._note_ended)
        self._news.set()

    def show(self, text: str) -> None:
        """Signs that nobody says: they are told where the last word ends, if any was told."""
        if self.segments and text.strip():
            self.add(Unsaid(text))

    def finish(self) -> None:
        """Nothing more will be added."""
        self._is_finished = True
        self._news.set()
        if self._run is None:
            self._put_last(End())

    async def next(self) -> Item:
        return await self._items.get()

    def cancel(self) -> None:
        """Tells the engine to stop, drops the rest, and comes to its End within a second."""
        self._cancelled.set()
        self._work = deque(item for item in self._started())
        for segment in self._started():
            segment.cancel()
        if self._current is not None:
            self._current.cancel()
        self.finish()

    def stop(self, failure: ApiError | None = None) -> None:
        """Frees the engine at once; whatever waits to be read is replaced by an End."""
        if self._run is not None:
            self._run.cancel()
        for segment in self.segments:
            segment.abort()
        self._put_last(End(failure))

    # ---- the task

    async def _speak(self) -> None:
        failure, is_cut = None, False
        try:
            while not is_cut and (item := await self._next_work()) is not None:
                if isinstance(item, Segment):
                    await self._say(item)
                    is_cut = self._is_cut()
                elif isinstance(item, Flushed):
                    await self._items.put(item)
                elif self._told_ms is not None and (told := unsaid(item.text, self._told_ms)):
                    await self._items.put(Words(told))
        except ApiError as error:
            failure = error
        await self._items.put(End(failure, is_cut))

    async def _next_work(self) -> Work | None:
        self._current = None
        while not self._work:
            if self._is_finished:
                return None
            self._news.clear()
            await self._news.wait()
        return self._work.popleft()

    async def _say(self, segment: Segment) -> None:
        self._current = segment
        if not self._is_admitted:
            await self._admitted()
            self._is_admitted = True
        if not segment.is_started:
            await self._permission.ask()
            if self._cancelled.is_set():
                return
            self._open(segment)
        begins_ms = self._samples * 1000 / SAMPLE_RATE
        give_up = asyncio.get_running_loop().time() + settings.STALL_SECONDS
        while True:
            try:
                async for sound in segment.sound():
                    if isinstance(sound, list):
                        told = placed(sound, begins_ms)
                        self._told_ms = told.words[-1].end_ms
                        await self._items.put(told)
                        continue
                    await self._items.put(Chunk(segment, Audio(sound, self._samples)))
                    self._samples += len(sound) // BYTES_PER_SAMPLE
                    self._open_ahead()
                self._open_ahead()
                return
            except ApiError as error:
                late = asyncio.get_running_loop().time() > give_up
                if late or segment.made_bytes or segment is self.segments[0]:
                    raise
                await self._wait_to_retry(segment, error)

    async def _wait_to_retry(self, segment: Segment, error: ApiError) -> None:
        """A full or restarting engine costs a speech that has begun a pause, not its end."""
        if error.retry_after_ms is None:
            raise error
        with suppress(TimeoutError):
            async with asyncio.timeout(error.retry_after_ms / 1000):
                await self._cancelled.wait()
        await self._permission.ask()
        if not self._cancelled.is_set():
            segment.open()

    def _open(self, segment: Segment) -> None:
        if self._max_frames:
            segment.max_frames = self._max_frames - self._spent
        segment.open()

    @property
    def _spent(self) -> int:
        return sum(each.finished.frames for each in self.segments if each.finished)

    def _is_cut(self) -> bool:
        """Raises ApiError 400 where nothing of it would ever be heard."""
        if not self._max_frames or self._spent < self._max_frames:
            return False
        if not self._samples:
            raise errors.cut_before_sound()
        return any(isinstance(item, Segment) for item in self._work)

    def _open_ahead(self) -> None:
        upcoming = next((item for item in self._work if isinstance(item, Segment)), None)
        if upcoming is None or upcoming.is_started or not self._is_admitted or self._max_frames:
            return
        if self._permission.refusal is not None:
            return
        if self._current is None or self._current.remaining_ms <= AHEAD_MS:
            # What cannot be sent now is asked for once more, in its turn.
            with suppress(ApiError):
                self._open(upcoming)

    def _started(self) -> Iterator[Segment]:
        return (item for item in self._work if isinstance(item, Segment) and item.is_started)

    def _put_last(self, end: End) -> None:
        while not self._items.empty():
            self._items.get_nowait()
        self._items.put_nowait(end)

    def _note_ended(self, task: asyncio.Task[None]) -> None:
        """A fault of ours must not leave the reader waiting for ever."""
        if not task.cancelled() and task.exception() is not None:
            message = "Something went wrong on our side."
            self.stop(ApiError(500, "internal_error", message))
