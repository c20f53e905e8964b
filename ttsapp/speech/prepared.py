"""Text that has been prepared, on its way through a context: pauses, rates, charges."""

from __future__ import annotations

import asyncio
from bisect import bisect
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from django.conf import settings

from billing.rating import Part, expected_ms
from ttsapp.keys.authentication import Caller
from ttsapp.lexicon.selectors import lexicon
from ttsapp.speech.encoders.beside import Stretching
from ttsapp.speech.encoders.samples import BYTES_PER_MS
from ttsapp.speech.order import Order
from ttsapp.speech.segment import Segment, Sound
from ttsapp.speech.telling import SpokenWord
from ttsapp.speech.text import languages
from ttsapp.speech.text.detect import detect
from ttsapp.speech.text.lexicon import EMPTY
from ttsapp.speech.text.mapped import Mapped
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import (
    Prepared,
    PreparedSegment,
    TextOptions,
    prepare,
    without_markup,
)
from ttsapp.speech.text.tokens import Token

_SILENCE_MS = 80
# So many characters are prepared in less time than a thread takes to begin.
_QUICK_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class TextWish:
    """What a request wants done to its text."""

    is_normalised: bool = False
    markup: Markup = Markup.NONE
    has_lexicon: bool = True


class PreparedSpeech(Segment):
    """A segment with silence around it and a rate of its own; charged by original characters.

    `is_first`: of its answer. Its silence then waits for the engine's word, or a refusal by that
    would come too late to be told as one."""

    def __init__(
        self,
        order: Order,
        prepared: PreparedSegment,
        final_pause_ms: int = 0,
        *,
        is_first: bool = False,
    ) -> None:
        super().__init__(order, prepared.text, texts=self._texts)
        self._prepared = prepared
        self._is_first = is_first
        self._final_pause_ms = final_pause_ms
        self._pause_ms, self._paused_ms = prepared.pause_ms, 0
        # Bytes that left, and bytes of the engine's that they hold, after each chunk.
        self._sent: list[tuple[int, int]] = [(0, 0)]

    async def sound(self) -> AsyncIterator[Sound]:
        # A second attempt after a refusal by the engine does not pause again.
        pause, self._pause_ms = self._pause_ms, 0
        self._paused_ms += pause
        before = list(_silence(pause))
        if not self._is_first:
            for silence in before:
                yield self._noted(silence)
            before = []
        stretching = Stretching(self._prepared.rate)
        async for sound in super().sound():
            for silence in before:
                yield self._noted(silence)
            before = []
            if isinstance(sound, list):
                yield [self._placed(word) for word in sound]
            elif chunk := await stretching.push(sound):
                yield self._noted(chunk)
        if tail := await stretching.finish():
            yield self._noted(tail)
        for silence in _silence(self._final_pause_ms):
            yield self._noted(silence)

    @property
    def sent_bytes(self) -> int:
        return self._sent[-1][0]

    def part(self, heard_bytes: int | None = None) -> Part:
        spoken = super().part()
        heard = self.delivered_bytes if heard_bytes is None else heard_bytes
        delivered_ms = self._made_of(heard) // BYTES_PER_MS
        return Part(
            self._prepared.characters, expected_ms(self.text), delivered_ms, spoken.total_ms
        )

    def _texts(self) -> tuple[Mapped, list[Token]]:
        return self._prepared.mapped, self._tokens

    @cached_property
    def _tokens(self) -> list[Token]:
        return self._prepared.tokens()

    def _placed(self, word: SpokenWord) -> SpokenWord:
        """Behind the silence, at the segment's own rate."""
        rate, pause = self._prepared.rate, self._paused_ms
        start_ms, end_ms = (pause + at / rate for at in (word.start_ms, word.end_ms))
        return replace(word, start_ms=start_ms, end_ms=end_ms)

    def _made_of(self, sent_bytes: int) -> int:
        """How much of the engine's audio the first so many bytes hold."""
        after = bisect(self._sent, (sent_bytes, self.made_bytes))
        sent, made = self._sent[after - 1]
        if after == len(self._sent):
            return made
        next_sent, next_made = self._sent[after]
        return made + (sent_bytes - sent) * (next_made - made) // (next_sent - sent)

    def _noted(self, chunk: bytes) -> bytes:
        self._sent.append((self._sent[-1][0] + len(chunk), self.made_bytes))
        return chunk


def _silence(milliseconds: int) -> Iterator[bytes]:
    while milliseconds > 0:
        yield bytes(min(milliseconds, _SILENCE_MS) * BYTES_PER_MS)
        milliseconds -= _SILENCE_MS


def speeches(order: Order, prepared: Prepared, *, begin: bool = False) -> list[Segment]:
    """The engine streams that say it, in order. `begin`: an answer begins with them."""
    last = len(prepared.segments) - 1
    return [
        PreparedSpeech(
            order,
            segment,
            prepared.final_pause_ms if place == last else 0,
            is_first=begin and place == 0,
        )
        for place, segment in enumerate(prepared.segments)
    ]


def cleaned(order: Order) -> Callable[[str], Prepared]:
    """What every text goes through, whether or not anything was asked for."""
    options = TextOptions(language=order.language, limit=settings.SEGMENT_CHARACTERS)
    return partial(prepare, options=options)


async def live_text(
    order: Order,
    *,
    is_normalised: bool = False,
    has_lexicon: bool = True,
    markup: Markup = Markup.NONE,
) -> Callable[[str], Prepared]:
    """For a context that gets its text in parts; of tags in it, pauses can be honoured. Without a
    language of the order's, each part is looked at by itself."""
    native = languages.code(order.voice.native_language)
    chosen = languages.code(order.language)
    words = await lexicon(order.caller.tenant_id, chosen) if has_lexicon else EMPTY
    if chosen == languages.AUTO and (is_normalised or words.version > 0):
        # Loads what a part must not wait for.
        await asyncio.to_thread(detect, "Hello there.", native)
        words = await lexicon(order.caller.tenant_id, native) if has_lexicon else EMPTY
    options = TextOptions(
        language=chosen,
        default_language=native,
        is_normalised=is_normalised,
        markup=markup,
        lexicon=words,
        limit=settings.SEGMENT_CHARACTERS,
        field=order.text_field,
    )
    return partial(prepare, options=options)


async def whole_text(order: Order, text: str, wish: TextWish) -> Prepared:
    """For a request whose text is all there. Raises ApiError 400."""
    return await prepared_text(
        text,
        wish,
        order.caller,
        language=order.language,
        voice_language=order.voice.native_language,
        field=order.text_field,
    )


async def prepared_text(
    text: str, wish: TextWish, caller: Caller, *, language: str, voice_language: str, field: str
) -> Prepared:
    """The text as the wish has it, with the caller's own words. Raises ApiError 400."""
    chosen = languages.code(language)
    words = await lexicon(caller.tenant_id, chosen) if wish.has_lexicon else EMPTY
    needs_language = wish.is_normalised or wish.markup is Markup.SSML or words.version > 0
    if chosen == languages.AUTO and needs_language:
        written = without_markup(text, wish.markup, field)
        chosen = await asyncio.to_thread(detect, written, languages.code(voice_language))
        words = await lexicon(caller.tenant_id, chosen) if wish.has_lexicon else EMPTY
    options = TextOptions(
        language=chosen,
        is_normalised=wish.is_normalised,
        markup=wish.markup,
        lexicon=words,
        limit=settings.SEGMENT_CHARACTERS,
        field=field,
    )
    if len(text) <= _QUICK_CHARACTERS or not needs_language:
        return prepare(text, options)
    return await asyncio.to_thread(prepare, text, options)
