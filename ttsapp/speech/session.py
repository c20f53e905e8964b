"""A text that is all there, spoken in one go: for answers made of bytes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cached_property

from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Done, Failed, Made, Word, Words
from ttsapp.speech.order import Order
from ttsapp.speech.tally import Tally
from ttsapp.speech.text.languages import AUTO
from ttsapp.speech.text.prepare import Prepared


class Session:
    """A context whose events are read as plain audio. `words` are those told so far, `end` is there
    once the audio has ended. Nothing begins, and no clock runs, before it is spoken."""

    def __init__(self, order: Order, text: str, prepared: Prepared | None = None) -> None:
        self.order = order
        self.words: list[Word] = []
        self.end: Done | Failed | None = None
        self.text = text
        self._prepared = prepared

    @cached_property
    def context(self) -> Context:
        return Context(self.order)

    @property
    def tally(self) -> Tally:
        return self.context.tally

    @property
    def language(self) -> str:
        """Of the text, as far as it is known: named, or detected for what was done to it."""
        found = self._prepared.language if self._prepared else AUTO
        return self.order.spoken_language if found == AUTO else found

    async def audio(self) -> AsyncGenerator[bytes]:
        """PCM as the engine makes it. Raises ApiError for whatever is not the reader leaving.

        A chunk counts as delivered when the reader comes back for the next one. Of an order that
        is answered whole the last chunk is empty: all is made, and who comes back has sent it."""
        async with aclosing(self.context.events()) as events:
            if self._prepared is None:
                self.context.say(self.text)
            else:
                self.context.say_prepared(self.text, self._prepared)
            async for event in events:
                if isinstance(event, Audio):
                    yield event.pcm
                elif isinstance(event, Made):
                    yield b""
                elif isinstance(event, Words):
                    self.words.extend(event.words)
                elif isinstance(event, Done | Failed):
                    self.end = event
        if isinstance(self.end, Failed):
            raise self.end.error
