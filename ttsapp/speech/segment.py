"""One engine stream, and the piece of a context's text that it speaks."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from django.conf import settings

from billing.rating import Part, expected_ms
from gpu_engine.proto import engine_pb2
from ttsapp import background
from ttsapp.engine import errors
from ttsapp.engine.client import client
from ttsapp.engine.connection import EngineStream
from ttsapp.errors import ApiError
from ttsapp.speech.encoders.samples import BYTES_PER_MS, BYTES_PER_SAMPLE
from ttsapp.speech.order import Order
from ttsapp.speech.telling import SpokenWord, Telling, Texts, as_written

CANCEL_SECONDS = 1.0

Sound = bytes | list[SpokenWord]
_WHOLE = (engine_pb2.FINISH_REASON_STOP, engine_pb2.FINISH_REASON_LENGTH)


class Segment:
    """`is_open`: its text still grows (token mode), until `end`. Read `sound` once `open`ed.

    What it is told goes to the engine in that order, without anyone waiting for it."""

    def __init__(
        self, order: Order, text: str, *, is_open: bool = False, texts: Texts | None = None
    ) -> None:
        self.text = text
        self.is_open = is_open
        self.made_bytes = 0
        self.delivered_bytes = 0
        self.engine = ""
        # What of its answer's frames is left for it; 0: the answer has no bound of its own.
        self.max_frames = 0
        self.finished: engine_pb2.Finished | None = None
        # When the engine was asked, and when it said yes.
        self.asked_at: float | None = None
        self.accepted_at: float | None = None
        self._text_at = time.monotonic()
        self._order = order
        self._stream: EngineStream | None = None
        self._writing: asyncio.Task[None] | None = None
        self._limit: asyncio.Timeout | None = None
        self._is_cancelled = False
        self._telling = Telling(texts or as_written(lambda: self.text))

    @property
    def is_started(self) -> bool:
        return self._stream is not None

    @property
    def sent_bytes(self) -> int:
        """What `sound` has given of it."""
        return self.made_bytes

    @property
    def text_at(self) -> float:
        """Since when all of its text is there. While it is open, silence may be the client's."""
        return math.inf if self.is_open else self._text_at

    @property
    def remaining_ms(self) -> float:
        """Listening time still to be made, by the yardstick of the charge rules."""
        if self.finished is not None:
            return 0
        return (expected_ms(self.text) - self.made_bytes // BYTES_PER_MS) / self._order.speed

    def open(self) -> None:
        """Asks for the engine's stream; again after a refusal, with all text so far. Where it
        raises ApiError, it has not begun."""
        self.asked_at = time.monotonic()
        is_complete, most = not self.is_open, self.max_frames
        start = self._order.start(self.text, is_complete=is_complete, max_frames=most)
        self._stream = client().synthesize(self._order.model.id)
        self._writing = None
        self._tell(self._stream.start(start))

    def append(self, text: str) -> None:
        self.text += text
        if text and self._stream is not None:
            self._tell(self._stream.append(text))

    def end(self) -> None:
        """No more text follows."""
        self.is_open = False
        self._text_at = time.monotonic()
        self._set_limit()
        if self._stream is not None:
            self._tell(self._stream.end())

    def abort(self) -> None:
        """Frees the engine at once; it says nothing more."""
        if self._stream is not None:
            self._stream.abort()

    def cancel(self) -> None:
        """Frees the engine within a scheduler turn; `sound` ends once it has said what it spent,
        or after a second."""
        if self._stream is not None and self.finished is None:
            self._is_cancelled = True
            self._set_limit()
            self._tell(self._stream.cancel())

    async def sound(self) -> AsyncIterator[Sound]:
        """PCM as the engine makes it, and words as it finds them, up to its end. Raises
        ApiError."""
        while self.finished is None:
            try:
                event = await self._next()
            except ApiError as error:
                if self._is_cancelled:
                    return
                if not self._may_ask_another(error):
                    raise
                self.open()
                continue
            if event.HasField("finished"):
                self._note_finished(event.finished)
            elif event.HasField("accepted"):
                self.engine = event.accepted.engine_id
                self.accepted_at = time.monotonic()
            elif self._is_cancelled:
                continue
            elif event.HasField("audio"):
                self.made_bytes += len(event.audio.pcm)
                yield event.audio.pcm
            elif event.HasField("words") and (told := self._telling.tell(event.words.words)):
                yield told
        if not self._is_cancelled and (told := self._telling.finish()):
            yield told

    def _may_ask_another(self, error: ApiError) -> bool:
        """Before any of it was made, where an engine that has not just refused serves its model."""
        if self.made_bytes or error.code not in errors.ENGINE_BUSY:
            return False
        return client().has_another(self._order.model.id)

    def part(self, heard_bytes: int | None = None) -> Part:
        """What of it was delivered, or heard, for the charge rules."""
        total_ms = None
        if self.finished is not None and self.finished.reason in _WHOLE:
            total_ms = self.finished.samples * BYTES_PER_SAMPLE // BYTES_PER_MS
        heard = self.delivered_bytes if heard_bytes is None else heard_bytes
        return Part(len(self.text), expected_ms(self.text), heard // BYTES_PER_MS, total_ms)

    async def _next(self) -> engine_pb2.SynthesizeEvent:
        assert self._stream is not None
        try:
            async with asyncio.timeout(self._patience()) as self._limit:
                return await self._stream.next(self._order.text_field)
        except TimeoutError:
            raise errors.stalled() from None
        finally:
            self._limit = None

    def _patience(self) -> float | None:
        """Seconds to the engine's next word. While text is open, silence may be the client's."""
        if self._is_cancelled:
            return CANCEL_SECONDS
        if self.is_open:
            return None
        begun = self.made_bytes > 0
        return float(settings.STALL_SECONDS if begun else settings.FIRST_AUDIO_SECONDS)

    def _set_limit(self) -> None:
        patience = self._patience()
        if self._limit is not None and patience is not None:
            self._limit.reschedule(asyncio.get_running_loop().time() + patience)

    def _note_finished(self, finished: engine_pb2.Finished) -> None:
        if not self._is_cancelled:
            if finished.reason == engine_pb2.FINISH_REASON_CANCELLED:
                raise errors.unavailable()
            if finished.samples == 0 and not self._is_cut_by_wish(finished):
                raise errors.empty()
        self.finished = finished

    def _is_cut_by_wish(self, finished: engine_pb2.Finished) -> bool:
        return finished.reason == engine_pb2.FINISH_REASON_LENGTH and self.max_frames > 0

    def _tell(self, write: Coroutine[Any, Any, None]) -> None:
        self._writing = background.spawn(_after(self._writing, write))


async def _after(earlier: asyncio.Task[None] | None, write: Coroutine[Any, Any, None]) -> None:
    """gRPC takes one write at a time."""
    if earlier is not None:
        await asyncio.wait({earlier})
    await write
