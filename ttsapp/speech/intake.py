"""A context's text on its way to the segments that are spoken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.conf import settings

from ttsapp.errors import ApiError, invalid
from ttsapp.speech.feed import Piece, TextMode, feed
from ttsapp.speech.order import Order, is_speakable
from ttsapp.speech.prepared import speeches
from ttsapp.speech.segment import Segment
from ttsapp.speech.tally import Tally
from ttsapp.speech.text.markup import LONGEST_SILENCE_MS, TOO_SILENT
from ttsapp.speech.text.prepare import Prepared, TextOptions
from ttsapp.speech.text.segments import split


@dataclass(frozen=True, slots=True)
class Hands:
    """What becomes of it, in order: `begin` has a segment spoken, `show` tells of signs that nobody
    says; `end` refuses all of it."""

    begin: Callable[[Segment], None]
    show: Callable[[str], None]
    end: Callable[[ApiError], None]


class Intake:
    """`prepare` decides what is said for a part that is whole; what is spoken while it grows is
    said as it comes. `tally` counts what was taken, `options` are what was last done to it; `text`
    is all of it, where its tenant wants it kept."""

    def __init__(
        self,
        order: Order,
        mode: TextMode,
        prepare: Callable[[str], Prepared],
        tally: Tally,
        hands: Hands,
    ) -> None:
        self.has_text = False
        self.options: TextOptions | None = None
        self._texts: list[str] = []
        self._order, self._prepare, self._tally, self._hands = order, prepare, tally, hands
        self._feed = feed(mode, settings.SEGMENT_CHARACTERS, order.language)
        self._growing: Segment | None = None
        self._is_begun = False
        # Silence that waits for words to stand before, and all pauses so far.
        self._pause_ms, self._silence_ms = order.lead_silence_ms, 0

    def take(self, text: str) -> None:
        """Counts it. Raises ApiError 400 for too much."""
        if self._tally.characters + len(text) > settings.MAX_INPUT_CHARACTERS:
            message = f"The text may have {settings.MAX_INPUT_CHARACTERS} characters in all."
            raise invalid(message, self._order.text_field, "string_above_max_length")
        self._tally.characters += len(text)
        if self._order.caller.text_days:
            self._texts.append(text)
        self.has_text = self.has_text or bool(text.strip())

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def push(self, text: str) -> None:
        self._speak(self._feed.push(text))

    def flush(self) -> None:
        """Speaks what is held back."""
        self._speak(self._feed.flush())

    def say(self, text: str) -> None:
        """A text that is all there, cut with its end in view."""
        parts = split(text, self._order.language, settings.SEGMENT_CHARACTERS)
        self._speak([Piece(part, True) for part in parts])

    def say_prepared(self, text: str, prepared: Prepared) -> None:
        if self._may_begin("".join(segment.text for segment in prepared.segments)):
            self._begin_all(text, prepared)

    def _speak(self, pieces: list[Piece]) -> None:
        said = "".join(piece.text for piece in pieces if is_speakable(piece.text))
        if said and not self._is_begun:
            self._tally.begin()
            if not self._may_begin(said):
                return
        for piece in pieces:
            if self._growing is not None:
                self._grow(self._growing, piece)
            elif not is_speakable(piece.text):
                self._hands.show(piece.text)
            elif piece.is_last:
                if not self._say(piece.text):
                    return
            else:
                self._growing = Segment(self._order, piece.text, is_open=True)
                self._begin(self._growing)

    def _grow(self, growing: Segment, piece: Piece) -> None:
        growing.append(piece.text)
        if piece.is_last:
            growing.end()
            self._growing = None

    def _say(self, text: str) -> bool:
        """A part that is whole. Ends the context, and False, for markup that cannot be honoured."""
        try:
            prepared = self._prepare(text)
            pauses = sum(segment.pause_ms for segment in prepared.segments)
            self._silence_ms += pauses + prepared.final_pause_ms
            if self._silence_ms > LONGEST_SILENCE_MS:
                raise invalid(TOO_SILENT, self._order.text_field, "invalid_markup")
        except ApiError as error:
            self._hands.end(error)
            return False
        self._begin_all(text, prepared)
        return True

    def _after_pause(self, prepared: Prepared) -> Prepared:
        """With the pause of a part that had no words to put it behind."""
        if not prepared.segments:
            self._pause_ms += prepared.final_pause_ms
            return prepared
        first, *rest = prepared.segments
        pause, self._pause_ms = self._pause_ms, 0
        first = replace(first, pause_ms=first.pause_ms + pause)
        return replace(prepared, segments=(first, *rest))

    def _begin_all(self, text: str, prepared: Prepared) -> None:
        """Charged is what of the text is no markup."""
        self.options = prepared.options
        self._tally.characters += prepared.characters - len(text)
        said = self._after_pause(prepared)
        for segment in speeches(self._order, said, begin=not self._is_begun):
            self._begin(segment)

    def _begin(self, segment: Segment) -> None:
        self._is_begun = True
        self._hands.begin(segment)

    def _may_begin(self, text: str) -> bool:
        """Ends it where nothing of the text, or of the first that is spoken, is in a language of
        the model's. Text that comes after may be in any."""
        try:
            self._order.check_script(text)
        except ApiError as error:
            self._hands.end(error)
            return False
        return True
