"""One voice speaking one growing text: what every dialect is a thin codec over.

A dialect turns its request into an `Order`, opens a `Context` for it, feeds it from whatever its
client sends, and turns the `events` into whatever its client expects:

    context = Context(order, mode=TextMode.SENTENCE)
    context.append("Hello there. ")      # as often as there is text
    context.flush("1")                   # speak what is held back; answered by Flushed("1")
    context.finish()                     # no more text; or `say` for a text that is all there
    async with aclosing(context.events()) as events:
        async for event in events: ...

The contract:

* `append`, `flush`, `finish`, `say`, `cancel`, `keep_alive` and `close` never wait. They raise
  ApiError 400 for what the client may not do now; the context goes on as if it had not been said.
* `events` gives Audio, Words and Flushed in the order of the text, and last exactly one Done or
  Failed. It never raises. Audio counts as delivered, and is charged, when the reader comes back
  for the next event: so send before asking for more. Of a whole answer nothing is sent before all
  of it is there: Made says so, and whoever comes back after that has sent it.
* All Audio of a context lies on one clock that starts with its first sample, whatever number of
  engine streams spoke it. A text beyond `SEGMENT_CHARACTERS` is spoken in several, at sentences.
* `cancel` is barge-in: no Audio comes after it, the engine is free within a scheduler turn, and
  Done("cancelled") says how much of the text had been spoken.
* A reader that stops reading `events` (its task cancelled, its `send` failed) and `close` have the
  same effect: the engine is freed and what was delivered is charged, at once. Always read through
  `aclosing`, so that a failed send is noticed.
* A context is one request: one id, one look at its tenant's limits before the engine is asked for
  anything, one reservation, one usage event, one log row.

Failed has a status below 500 for what the client caused: `empty_input` (finished with nothing to
say), `invalid_value` on `language` (a text in none that the model speaks), `text_timeout`,
`stream_too_long`, `audio_too_long` (a whole answer), a text of too many tokens, a key that was
revoked or an account that was suspended meanwhile, text or a part of it that comes after the end of
a voice or of its consent. After audio these are charged like a cancel; before it they are refusals,
which use nothing. Everything from 500 on is ours and free.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import structlog
from django.conf import settings

from billing.rating import Outcome
from ttsapp import background, stopping
from ttsapp.engine import errors
from ttsapp.errors import ApiError, invalid
from ttsapp.speech import asked, clocks, intake
from ttsapp.speech.clocks import Clocks, Deadlines
from ttsapp.speech.encoders.samples import BYTES_PER_MS, BYTES_PER_SAMPLE, SAMPLE_RATE
from ttsapp.speech.events import Done, Event, Failed, Flushed, Made, Words
from ttsapp.speech.feed import TextMode
from ttsapp.speech.intake import Intake
from ttsapp.speech.order import Order, nothing_to_say
from ttsapp.speech.permission import Permission
from ttsapp.speech.prepared import cleaned
from ttsapp.speech.recording import Recording
from ttsapp.speech.segment import Segment
from ttsapp.speech.settlement import Settlement
from ttsapp.speech.speaker import Chunk, End, Speaker
from ttsapp.speech.tally import Tally
from ttsapp.speech.text.prepare import Prepared

log = structlog.get_logger()

SETTLE_SECONDS = 1.0
# A token stream without new text for so long ends, to free its slot; more text begins another.
REST_SECONDS = 2.0
# Far more than any text needs: a client that flushes for ever must not fill the memory.
MOST_WAITING = 1000


class Context:
    """See above. Belongs to the event loop and to the request (or socket) that it was made in.

    `max_hold`: seconds without new text after which what is held back is spoken as it is. By
    default a sentence waits for its end, and a token stream rests for two seconds. `arrived`, where
    the dialect sets it, says how many bytes of the PCM it took have reached the client. `prepare`
    (`prepared.live_text` makes one) decides what is said for a whole part; by default its
    characters are cleaned up. Text that is spoken as it comes is not prepared."""

    def __init__(
        self,
        order: Order,
        *,
        mode: TextMode = TextMode.SENTENCE,
        deadlines: Deadlines | None = None,
        max_hold: float | None = None,
        prepare: Callable[[str], Prepared] | None = None,
    ) -> None:
        self.order = order
        self._mode: TextMode | None = None
        self._live_mode = mode
        self.is_text_open = True
        self.is_over = False
        self.arrived: Callable[[], int] | None = None
        self._settlement = Settlement(order, is_live=mode is TextMode.TOKEN)
        self._permission = Permission(order)
        self._speaker = Speaker(self._settlement.admitted, self._permission, order.max_frames)
        self.tally = Tally(self._speaker.segments, is_whole=order.whole, speed=order.speed)
        self._recording = Recording(order)
        parts = intake.Hands(self._begin, self._speaker.show, self._conclude)
        self._intake = Intake(order, mode, prepare or cleaned(order), self.tally, parts)
        self._settling: asyncio.Task[None] | None = None
        self._last: Done | Failed | None = None
        if max_hold is None and mode is TextMode.TOKEN:
            max_hold = REST_SECONDS
        ends = clocks.Hands(self._intake.flush, self._conclude, lambda: self._speaker.is_busy)
        self._clocks = Clocks(
            order, self._permission, deadlines or Deadlines.usual(), max_hold, ends
        )

    # ---- the text

    def append(self, text: str) -> None:
        """More text. An empty one is no text, and restarts no clock.

        Raises ApiError 400 when the text has ended, or grows too long."""
        self._check_open()
        if not text:
            return
        if self._takes(text):
            self._mode = self._live_mode
            self._clocks.note_text()
            self._intake.push(text)
            self._hold()

    def say(self, text: str) -> None:
        """A text that is all there: `append` and `finish` in one, cut with its end in view."""
        self._check_open()
        if self._takes(text):
            self._intake.say(text)
        if not self.is_over:
            self.finish()

    def say_prepared(self, text: str, prepared: Prepared) -> None:
        """The same for a text whose segments, pauses and rates have been decided."""
        self._check_open()
        if self._takes(text):
            self._intake.say_prepared(text, prepared)
        if not self.is_over:
            self.finish()

    def flush(self, flush_id: str | None = None) -> None:
        """Speaks what is held back. With an id, Flushed comes behind the audio of all text so far.

        For a dialect whose every message is to be spoken as it comes: flush after each append."""
        self._check_open()
        if self._speaker.waiting >= MOST_WAITING:
            message = (
                f"Wait for an answer: {MOST_WAITING} parts and flushes are still to be spoken."
            )
            raise invalid(message, None, "too_many_flushes")
        self._intake.flush()
        if flush_id is not None and not self.is_over:
            self._speaker.add(Flushed(flush_id))

    def finish(self) -> None:
        """No more text follows."""
        self._check_open()
        self._intake.flush()
        self._close_text()
        if self._settlement.is_begun:
            self._speaker.finish()
        else:
            self._conclude(nothing_to_say(self.order.text_field))

    def keep_alive(self) -> None:
        """The client is still there, and will send more: restarts the clock between texts."""
        self._check_open()
        self._clocks.keep_alive()

    # ---- the end

    def cancel(self, played_ms: int | None = None) -> None:
        """Barge-in. Once the context is over, nothing.

        `played_ms`: how much of what was sent the listener has heard, by the client's clock. What
        had been spoken is told by that, if it is less than was delivered; the charge is not."""
        if not self.is_over:
            if played_ms is not None:
                self.tally.played_bytes = round(played_ms * self.order.speed) * BYTES_PER_MS
            self.tally.is_cancelled = True
            self._close_text()
            self._speaker.cancel()

    def close(self, *, is_our_stop: bool = False) -> None:
        """The client is gone, or (`is_our_stop`, which is free) the server stops."""
        if not self.is_over:
            self.tally.is_cancelled = self.tally.has_left = True
            self.tally.is_our_stop = is_our_stop
            self._conclude(None)

    async def events(self) -> AsyncGenerator[Event]:
        """Read once, through `aclosing`."""
        try:
            asked_at = time.monotonic()
            while not isinstance(item := await self._speaker.next(), End):
                if isinstance(item, Flushed):
                    yield item
                elif isinstance(item, Words):
                    if not self.tally.is_cancelled:
                        yield item
                elif await self._may_hear(item):
                    text_at = item.segment.text_at
                    self.tally.note_audio(item.audio, asked_at=asked_at, text_at=text_at)
                    self._recording.add(item.audio.pcm)
                    yield item.audio
                    self._note_taken(item)
                asked_at = time.monotonic()
            self.tally.is_cut = item.is_cut
            if self.order.whole and item.failure is None and not self.is_over:
                self.tally.deliver_all()
                yield Made()
            self._conclude(item.failure)
        finally:
            self.close(is_our_stop=stopping.is_cut())
        assert self._last is not None
        # The row is there before the answer ends, unless the database is slow.
        if self._settling is not None:
            await asyncio.wait({self._settling}, timeout=SETTLE_SECONDS)
        yield self._last

    @property
    def limit_headers(self) -> dict[str, str]:
        """What its tenant's limits leave, once it was admitted."""
        return self._settlement.admission.headers

    # ---- inside

    async def _may_hear(self, chunk: Chunk) -> bool:
        is_held = await self._settlement.is_held()
        return is_held and not self.tally.is_cancelled and self._fits(chunk)

    def _fits(self, chunk: Chunk) -> bool:
        """Ends the context where its whole answer would be longer than may be held."""
        samples = chunk.audio.first_sample + len(chunk.audio.pcm) // BYTES_PER_SAMPLE
        most = settings.MAX_WHOLE_SECONDS
        if self.order.whole and samples > most * SAMPLE_RATE * self.order.speed:
            self._conclude(errors.too_long_whole(most, self.order.text_field))
        return not self.is_over

    def _note_taken(self, chunk: Chunk) -> None:
        if not (self.is_over or self.order.whole):
            chunk.segment.delivered_bytes += len(chunk.audio.pcm)

    def _check_open(self) -> None:
        if not self.is_text_open:
            raise invalid("The text has ended already.", None, "out_of_order")

    def _takes(self, text: str) -> bool:
        """Text for a voice whose consent has ended, or that was deleted, ends the context."""
        self._intake.take(text)
        if self._permission.refusal is not None:
            self._conclude(self._permission.refusal)
        return not self.is_over

    def _begin(self, segment: Segment) -> None:
        if not self._settlement.is_begun:
            self._settlement.begin(self.tally.characters)
        self._speaker.add(segment)
        self._hold()

    def _hold(self) -> None:
        """Text that came after the limits were asked; none of it is heard before it is held."""
        if self._settlement.is_begun and self._settlement.must_hold(self.tally.characters):
            background.spawn(self._hold_text(self.tally.characters))

    async def _hold_text(self, characters: int) -> None:
        try:
            await self._settlement.hold(characters)
        except ApiError as error:
            self._conclude(error)

    def _close_text(self) -> None:
        self.is_text_open = False
        self._clocks.close_text()

    def _conclude(self, failure: ApiError | None) -> None:
        """Frees the engine, and settles, once: whether or not anyone still reads `events`."""
        if self.is_over:
            return
        self.is_over = True
        if self.tally.is_cancelled:
            failure = stopping.error() if self.tally.is_our_stop else None
        self.is_text_open = False
        self._clocks.stop()
        self._speaker.stop(failure)
        if self.arrived is not None or self.order.whole:
            self.tally.limit_delivered(self.arrived() if self.arrived is not None else 0)
        outcome = self.tally.outcome(failure)
        if self.order.whole and outcome is Outcome.COMPLETED:
            self.tally.deliver_all()
        usage = self.tally.usage(outcome, failure)
        reached_engine = self._settlement.is_begun and not self._settlement.is_refused
        if reached_engine:
            options, mode = self._intake.options, self._mode
            found = replace(
                self.tally.record(outcome, failure),
                recording=self._recording.keep(),
                asked=asked.pack(asked.of_order(self.order, options, mode)),
                text=self._intake.text,
            )
            self._settling = self._settlement.settle(usage, found)
        elif failure is not None and self._intake.has_text:
            self._settling = self._settlement.refuse(failure)
        if outcome is Outcome.FAILED and reached_engine:
            log.warning("speech failed", code=failure.code if failure else "internal_error")
        report = self.tally.report(usage)
        self._last = Failed(failure, report) if failure else Done(self.tally.finish_reason, report)
