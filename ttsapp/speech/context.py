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
  for the next event: so send before asking for more.
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
revoked or an account that was suspended meanwhile. After audio these
are charged like a cancel; before it they are refusals, which use nothing. Everything from 500 on is
ours and free.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

import structlog
from django.conf import settings

from billing.rating import Outcome
from ttsapp import background, stopping
from ttsapp.engine import errors
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import check_standing
from ttsapp.speech.encoders.samples import BYTES_PER_MS, BYTES_PER_SAMPLE, SAMPLE_RATE
from ttsapp.speech.events import Done, Event, Failed, Flushed, Words
from ttsapp.speech.feed import Piece, TextMode, feed
from ttsapp.speech.order import Order, is_speakable, nothing_to_say
from ttsapp.speech.prepared import cleaned, speeches
from ttsapp.speech.segment import Segment
from ttsapp.speech.settlement import Settlement
from ttsapp.speech.speaker import Chunk, End, Speaker
from ttsapp.speech.tally import Tally
from ttsapp.speech.text.prepare import Prepared
from ttsapp.speech.text.segments import split
from ttsapp.speech.timer import Timer

log = structlog.get_logger()

SETTLE_SECONDS = 1.0
# Within a second of a key's or an account's end what they have spoken ends too: half of that is how
# old what is known of them may be.
STANDING_SECONDS = 0.4
# A token stream without new text for so long ends, to free its slot; more text begins another.
REST_SECONDS = 2.0
# Far more than any text needs: a client that flushes for ever must not fill the memory.
MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds a context waits for text: for its first, and for more or its end after that, once
    all before it has been heard."""

    first_text: float
    idle: float

    @classmethod
    def usual(cls) -> Deadlines:
        return cls(settings.FIRST_TEXT_SECONDS, settings.TEXT_IDLE_SECONDS)


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
        self._prepare = prepare or cleaned(order)
        self.is_text_open = True
        self.is_over = False
        self._settlement = Settlement(order, is_live=mode is TextMode.TOKEN)
        self._speaker = Speaker(self._settlement.admitted)
        self.tally = Tally(self._speaker.segments)
        self._feed = feed(mode, settings.SEGMENT_CHARACTERS, order.language)
        self._growing: Segment | None = None
        self._has_text = False
        self._settling: asyncio.Task[None] | None = None
        self._last: Done | Failed | None = None
        self.arrived: Callable[[], int] | None = None
        deadlines = deadlines or Deadlines.usual()
        self._idle = Timer(deadlines.idle, self._end_for_lack_of_text)
        self._first_text = Timer(deadlines.first_text, self._end_for_lack_of_text)
        if max_hold is None and mode is TextMode.TOKEN:
            max_hold = REST_SECONDS
        self._rest = Timer(max_hold, self._end_stream) if max_hold is not None else None
        self._age = Timer(settings.MAX_STREAM_SECONDS, self._end_for_age)
        self._standing = Timer(STANDING_SECONDS, self._look_at_standing)
        self._first_text.start()
        self._age.start()
        self._standing.start()

    # ---- the text

    def append(self, text: str) -> None:
        """More text. An empty one is no text, and restarts no clock.

        Raises ApiError 400 when the text has ended, or grows too long."""
        self._check_open()
        if not text:
            return
        self._take(text)
        self._restart_clocks()
        self._speak(self._feed.push(text))

    def say(self, text: str) -> None:
        """A text that is all there: `append` and `finish` in one, cut with its end in view."""
        self._check_open()
        self._take(text)
        parts = split(text, self.order.language, settings.SEGMENT_CHARACTERS)
        self._speak([Piece(part, True) for part in parts if is_speakable(part)])
        if not self.is_over:
            self.finish()

    def say_prepared(self, text: str, prepared: Prepared) -> None:
        """The same for a text whose segments, pauses and rates have been decided."""
        self._check_open()
        self._take(text)
        if self._check_script("".join(segment.text for segment in prepared.segments)):
            self._begin_all(text, prepared)
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
        self._end_stream()
        if flush_id is not None and not self.is_over:
            self._speaker.add(Flushed(flush_id))

    def finish(self) -> None:
        """No more text follows."""
        self._check_open()
        self._end_stream()
        self._close_text()
        if self._settlement.is_begun:
            self._speaker.finish()
        else:
            self._conclude(nothing_to_say(self.order.text_field))

    def keep_alive(self) -> None:
        """The client is still there, and will send more: restarts the clock between texts."""
        self._check_open()
        self._first_text.stop()
        self._idle.start()

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
                elif not self.tally.is_cancelled and self._fits(item):
                    self._note_heard(item, asked_at)
                    yield item.audio
                    self._note_taken(item)
                asked_at = time.monotonic()
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

    def _fits(self, chunk: Chunk) -> bool:
        """Ends the context where its whole answer would be longer than may be held."""
        samples = chunk.audio.first_sample + len(chunk.audio.pcm) // BYTES_PER_SAMPLE
        most = settings.MAX_WHOLE_SECONDS
        if self.order.whole and samples > most * SAMPLE_RATE * self.order.speed:
            self._conclude(errors.too_long_whole(most, self.order.text_field))
        return not self.is_over

    def _note_heard(self, chunk: Chunk, asked_at: float) -> None:
        """Nobody listens yet to an answer that is sent whole."""
        self.tally.note_audio()
        if not self.order.whole:
            self.tally.playback.hear(
                len(chunk.audio.pcm) / (1000 * BYTES_PER_MS * self.order.speed),
                asked_at=asked_at,
                came_at=time.monotonic(),
                text_at=chunk.segment.text_at,
            )

    def _note_taken(self, chunk: Chunk) -> None:
        if not (self.is_over or self.order.whole):
            chunk.segment.delivered_bytes += len(chunk.audio.pcm)

    def _check_open(self) -> None:
        if not self.is_text_open:
            raise invalid("The text has ended already.", None, "out_of_order")

    def _take(self, text: str) -> None:
        if self.tally.characters + len(text) > settings.MAX_INPUT_CHARACTERS:
            message = f"The text may have {settings.MAX_INPUT_CHARACTERS} characters in all."
            raise invalid(message, self.order.text_field, "string_above_max_length")
        self.tally.characters += len(text)
        self._has_text = self._has_text or bool(text.strip())

    def _begin_all(self, text: str, prepared: Prepared) -> None:
        """Charged is what of the text is no markup."""
        self.tally.characters += prepared.characters - len(text)
        for segment in speeches(self.order, prepared):
            self._begin(segment)

    def _speak(self, pieces: list[Piece]) -> None:
        if pieces and not self._settlement.is_begun:
            self.tally.begin()
            if not self._check_script("".join(piece.text for piece in pieces)):
                return
        for piece in pieces:
            if self._growing is None and piece.is_last:
                self._begin_all(piece.text, self._prepare(piece.text))
                continue
            if self._growing is not None:
                self._growing.append(piece.text)
            else:
                self._growing = Segment(self.order, piece.text, is_open=not piece.is_last)
                self._begin(self._growing)
            if piece.is_last:
                if self._growing.is_open:
                    self._growing.end()
                self._growing = None

    def _check_script(self, text: str) -> bool:
        """Ends the context where nothing of its text, or of the first that is spoken, is in a
        language of its model's. Text that comes after may be in any."""
        try:
            self.order.check_script(text)
        except ApiError as error:
            self._conclude(error)
        return not self.is_over

    def _begin(self, segment: Segment) -> None:
        if not self._settlement.is_begun:
            self._settlement.begin(self.tally.characters)
        self._speaker.add(segment)

    def _end_stream(self) -> None:
        self._speak(self._feed.flush())

    def _restart_clocks(self) -> None:
        self._first_text.stop()
        self._idle.start()
        if self._rest is not None:
            self._rest.start()

    def _close_text(self) -> None:
        self.is_text_open = False
        self._first_text.stop()
        self._idle.stop()
        if self._rest is not None:
            self._rest.stop()

    def _end_for_lack_of_text(self) -> None:
        """Not while there is still something to be heard: the client may be waiting for that."""
        if self._speaker.is_busy:
            self._idle.start()
        else:
            self._conclude(errors.text_timeout(self.order.text_field))

    def _look_at_standing(self) -> None:
        background.spawn(self._end_for_standing())

    async def _end_for_standing(self) -> None:
        try:
            await check_standing(self.order.caller)
        except ApiError as error:
            # Nobody's speech ends because a database is away.
            if error.status < 500:
                self._conclude(error)
        if not self.is_over:
            self._standing.start()

    def _end_for_age(self) -> None:
        self._conclude(errors.too_long(settings.MAX_STREAM_SECONDS))

    def _conclude(self, failure: ApiError | None) -> None:
        """Frees the engine, and settles, once: whether or not anyone still reads `events`."""
        if self.is_over:
            return
        self.is_over = True
        if self.tally.is_cancelled:
            failure = stopping.error() if self.tally.is_our_stop else None
        self._close_text()
        self._age.stop()
        self._standing.stop()
        self._speaker.stop(failure)
        if self.arrived is not None:
            self.tally.limit_delivered(self.arrived())
        outcome = self.tally.outcome(failure)
        if self.order.whole and outcome is Outcome.COMPLETED:
            self.tally.deliver_all()
        usage = self.tally.usage(outcome, failure)
        reached_engine = self._settlement.is_begun and not self._settlement.is_refused
        if reached_engine:
            self._settling = self._settlement.settle(usage, self.tally.record(outcome, failure))
        elif failure is not None and self._has_text:
            self._settling = self._settlement.refuse(failure)
        if outcome is Outcome.FAILED and reached_engine:
            log.warning("speech failed", code=failure.code if failure else "internal_error")
        report = self.tally.report(usage)
        self._last = Failed(failure, report) if failure else Done(self.tally.finish_reason, report)
