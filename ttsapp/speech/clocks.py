"""What ends a context, or a turn of its text, by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from ttsapp import background
from ttsapp.engine import errors
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import standing
from ttsapp.speech.order import Order
from ttsapp.speech.permission import Permission
from ttsapp.speech.timer import Timer

# Within a second of a key's or an account's end what they have spoken ends too, and no more text is
# spoken in a voice whose consent has ended: half of that is how old what is known of them may be.
STANDING_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds a context waits for text: for its first, and for more or its end after that, once
    all before it has been heard."""

    first_text: float
    idle: float

    @classmethod
    def usual(cls) -> Deadlines:
        return cls(settings.FIRST_TEXT_SECONDS, settings.TEXT_IDLE_SECONDS)


@dataclass(frozen=True, slots=True)
class Hands:
    """What clocks do to their context: `rest` ends a turn of its text, `end` all of it; while it
    `is_busy` there is something that its client may still want to hear."""

    rest: Callable[[], None]
    end: Callable[[ApiError], None]
    is_busy: Callable[[], bool]


class Clocks:
    """Run from the beginning. `max_hold`: seconds without new text after which it rests."""

    def __init__(
        self,
        order: Order,
        permission: Permission,
        deadlines: Deadlines,
        max_hold: float | None,
        hands: Hands,
    ) -> None:
        self._order, self._permission, self._hands = order, permission, hands
        self._is_stopped = False
        self._idle = Timer(deadlines.idle, self._end_for_lack_of_text)
        self._first_text = Timer(deadlines.first_text, self._end_for_lack_of_text)
        self._rest = Timer(max_hold, hands.rest) if max_hold is not None else None
        self._age = Timer(settings.MAX_STREAM_SECONDS, self._end_for_age)
        self._standing = Timer(STANDING_SECONDS, self._look_at_standing)
        for timer in (self._first_text, self._age, self._standing):
            timer.start()

    def note_text(self) -> None:
        """More of it has come."""
        self.keep_alive()
        if self._rest is not None:
            self._rest.start()

    def keep_alive(self) -> None:
        """The client is still there, and will send more."""
        self._first_text.stop()
        self._idle.start()

    def close_text(self) -> None:
        """No more is waited for."""
        self._first_text.stop()
        self._idle.stop()
        if self._rest is not None:
            self._rest.stop()

    def stop(self) -> None:
        self._is_stopped = True
        self.close_text()
        self._age.stop()
        self._standing.stop()

    def _end_for_lack_of_text(self) -> None:
        """Not while there is still something to be heard: the client may be waiting for that."""
        if self._hands.is_busy():
            self._idle.start()
        else:
            self._hands.end(errors.text_timeout(self._order.text_field))

    def _end_for_age(self) -> None:
        self._hands.end(errors.too_long(settings.MAX_STREAM_SECONDS))

    def _look_at_standing(self) -> None:
        background.spawn(self._end_for_standing())

    async def _end_for_standing(self) -> None:
        try:
            caller = await standing(self._order.caller)
        except ApiError as error:
            # Nobody's speech ends because a database is away.
            if error.status < 500:
                self._hands.end(error)
        else:
            await self._permission.look(caller)
        if not self._is_stopped:
            self._standing.start()
