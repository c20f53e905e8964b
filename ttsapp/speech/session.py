"""One synthesis, from its first text to its settlement: what every API of ours is built on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import structlog
from django.conf import settings
from django.db import Error as DatabaseError

from billing import services as billing
from billing.rating import Outcome
from gpu_engine.proto import engine_pb2
from ttsapp import background, database
from ttsapp.engine import errors
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.speech import services
from ttsapp.speech.order import Order
from ttsapp.speech.tally import Tally

log = structlog.get_logger()

CANCEL_SECONDS = 1.0
SETTLE_SECONDS = 1.0
RETRY_SECONDS = (0.1, 0.5, 2.0, 10.0, 30.0, 60.0, 120.0)


class Session:
    """Read `audio`; meanwhile, unless the first text was the last, `append`, `finish`, `cancel`.

    Whatever ends `audio` (the engine, an error, the reader going away), the engine's stream is
    freed at once and the usage is settled exactly once."""

    def __init__(self, order: Order, text: str, *, is_last: bool) -> None:
        self.order = order
        self.tally = Tally()
        self._first_text = text
        self._is_last = is_last
        self._stream = client().synthesize()
        self._opened = asyncio.Event()
        self._reservation: asyncio.Task[None] | None = None
        self._limit: asyncio.Timeout | None = None

    async def append(self, text: str) -> None:
        await self._opened.wait()
        self.tally.add_text(text)
        await self._stream.append(text)

    async def finish(self) -> None:
        """Says that no more text follows."""
        await self._opened.wait()
        self._is_last = True
        self._set_limit()
        await self._stream.end()

    async def cancel(self) -> None:
        """Asks the engine to stop; `audio` gives nothing more and ends within a second."""
        await self._opened.wait()
        self.tally.is_cancelled = True
        self._set_limit()
        await self._stream.cancel()

    async def audio(self) -> AsyncIterator[bytes]:
        """PCM as the engine makes it. Raises ApiError for whatever is not the reader leaving.

        A chunk counts as delivered when the reader comes back for the next one."""
        failure: ApiError | None = None
        try:
            await self._open()
            async for pcm in self._chunks():
                self.tally.note_audio()
                yield pcm
                self.tally.note_taken(pcm, self.order.whole)
        except ApiError as error:
            failure = error
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self.tally.is_cancelled = True
            raise
        finally:
            settlement = self._close(failure)
        # The row is there before the answer ends, unless the database is slow.
        await asyncio.wait({settlement}, timeout=SETTLE_SECONDS)

    async def _open(self) -> None:
        """The reservation is written while the engine works, never before."""
        self.tally.add_text(self._first_text)
        start = self.order.start(self._first_text)
        await self._stream.start(start, is_last=self._is_last)
        request = services.metered(self.order)
        self._reservation = background.spawn(database.run(billing.reserve, request))
        self._opened.set()

    async def _chunks(self) -> AsyncIterator[bytes]:
        while self.tally.finished is None:
            try:
                event = await self._next()
            except ApiError:
                if self.tally.is_cancelled:
                    return
                raise
            if event.HasField("finished"):
                self._note_finished(event.finished)
            elif event.HasField("audio") and not self.tally.is_cancelled:
                yield event.audio.pcm

    async def _next(self) -> engine_pb2.SynthesizeEvent:
        try:
            async with asyncio.timeout(self._patience()) as self._limit:
                return await self._stream.next()
        except TimeoutError:
            raise errors.stalled() from None
        finally:
            self._limit = None

    def _patience(self) -> float | None:
        """Seconds to the engine's next word. While text is open, silence may be the client's."""
        if self.tally.is_cancelled:
            return CANCEL_SECONDS
        if not self._is_last:
            return None
        begun = self.tally.first_audio_ms is not None
        return float(settings.STALL_SECONDS if begun else settings.FIRST_AUDIO_SECONDS)

    def _set_limit(self) -> None:
        patience = self._patience()
        if self._limit is not None and patience is not None:
            self._limit.reschedule(asyncio.get_running_loop().time() + patience)

    def _note_finished(self, finished: engine_pb2.Finished) -> None:
        if not self.tally.is_cancelled:
            if finished.reason == engine_pb2.FINISH_REASON_CANCELLED:
                raise errors.unavailable()
            if finished.samples == 0:
                raise errors.empty()
        self.tally.finished = finished

    def _close(self, failure: ApiError | None) -> asyncio.Task[None]:
        """Frees the engine now, and settles in a task that a vanished caller cannot cancel."""
        self._stream.abort()
        self._opened.set()
        outcome = self.tally.outcome(failure)
        usage = self.tally.usage(outcome, is_whole=self.order.whole)
        record = self.tally.record(outcome, failure)
        if outcome is Outcome.FAILED:
            log.warning("speech failed", code=failure.code if failure else "internal_error")
        return background.spawn(self._settle(usage, record))

    async def _settle(self, usage: billing.Usage, record: services.Record) -> None:
        if self._reservation is not None:
            await asyncio.wait({self._reservation})
        for pause in RETRY_SECONDS:
            try:
                await database.run(services.close, self.order, usage, record)
                return
            except DatabaseError as error:
                log.error("usage not settled yet", request=str(self.order.id), error=str(error))
                await asyncio.sleep(pause)
        await database.run(services.close, self.order, usage, record)
