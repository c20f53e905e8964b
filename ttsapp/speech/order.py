"""A validated request to speak: what every dialect turns its own request into."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass, replace
from typing import Annotated
from uuid import UUID

import msgspec

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError, invalid, voice_error
from ttsapp.keys.authentication import Caller
from ttsapp.speech import asked_frames
from ttsapp.speech.encoders import FASTEST, SLOWEST, AudioFormat, audio_format
from ttsapp.speech.text.languages import AUTO
from ttsapp.speech.text.scripts import is_foreign
from ttsapp.voices import artifacts
from ttsapp.voices.catalogue import SpeechModel, gone_voice, known_by
from ttsapp.voices.own import OwnVoice, Preset
from ttsapp.voices.selectors import own_voice_now

# Random seeds stay small enough to be exact in every client's number type.
_SEED_BITS = 32
SEED = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

# Telephone lines that open late would else swallow the first syllable.
LEAD_SILENCE_MS = Annotated[int, msgspec.Meta(ge=0, le=5000)]

INSTRUCTIONS_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Order:
    """`whole`: the answer is sent only when all of it exists, so none of it counts before.
    `text_field`, `voice_field`, `language_field`: what the dialect calls them, for errors about
    them. `sample_rate` in Hz and `bit_rate` in bits/s: the format's usual ones if None. `speed`: of
    what is sent; times on the context's clock and the shares that are charged are those of the
    speech as it was made.
    `volume`: what each sample is multiplied with.
    `has_words`: their times are wanted, and told where the model can tell them in its language.
    `max_frames`: of the whole answer, `first_chunk`: of what is made before any of it leaves; 0: as
    many as usual. `keeps_silence`: what each stream of the engine's begins with is sent as it is.
    `lead_silence_ms`: before the first of them."""

    id: UUID
    caller: Caller
    transport: str
    model: SpeechModel
    voice: Preset
    response_format: str
    language: str
    instructions: str
    seed: int
    whole: bool = False
    text_field: str = "input"
    voice_field: str = "voice"
    language_field: str = "language"
    sample_rate: int | None = None
    bit_rate: int | None = None
    speed: float = 1.0
    volume: float = 1.0
    has_words: bool = False
    max_frames: int = 0
    first_chunk: int = 0
    keeps_silence: bool = False
    lead_silence_ms: int = 0

    def __post_init__(self) -> None:
        """Follows a tenant's own voice to its model, and to its language and speed where the
        request names none. Raises ApiError 403 for a model or a voice that the key may not use.
        Here, where no dialect can forget it."""
        if isinstance(self.voice, OwnVoice):
            self._follow(self.voice)
        if (rules := self.caller.rules) is not None:
            names = known_by(self.model, self.voice)
            known = (name for name in names if name.casefold() in rules.voices)
            rules.check_speech(self.model.id, next(known, self.voice.name))

    def _follow(self, voice: OwnVoice) -> None:
        assert voice.served_by is not None, "the catalogue gives out what is served"
        object.__setattr__(self, "model", voice.served_by)
        if self.language == AUTO:
            # It may have been said before these weights were served.
            object.__setattr__(self, "language", voice.served_by.language(voice.language))
        if self.speed == 1.0:
            object.__setattr__(self, "speed", voice.speed)

    async def make_ready(self, *, is_again: bool = False) -> None:
        """Fetches what the engine is to be sent; again for each part of a text. Raises ApiError
        400 for a voice that was deleted a moment ago, 503 for one that cannot be read."""
        if isinstance(self.voice, OwnVoice):
            try:
                await artifacts.warm(self.voice.artifact, is_counted=not is_again)
            except ApiError:
                # What was known when it was looked up is half a second old at most.
                await self.check_voice(replace(self.caller, shelf=None))
                raise

    async def check_voice(self, caller: Caller) -> None:
        """For what is still to be spoken. Raises ApiError 403 once its consent has ended, 400 once
        the voice is gone, 503 while that is not known."""
        if isinstance(self.voice, OwnVoice):
            found = await own_voice_now(caller, self.voice.name)
            try:
                if found is None:
                    raise gone_voice(self.voice)
                found.check_consent()
            except ApiError as error:
                raise voice_error(error, self.voice_field) from None

    @property
    def audio(self) -> AudioFormat:
        return audio_format(self.response_format, self.sample_rate, self.bit_rate)

    def check_script(self, text: str) -> None:
        """Raises ApiError 400 on the language, where none was named, for a text in none that the
        model speaks: what it made of that would be noise."""
        if self.language == AUTO and is_foreign(text, self.model.languages):
            raise unspoken_language(self.model, self.language_field)

    @property
    def spoken_language(self) -> str:
        """Where a model speaks one language only, it is told so: it then speaks more clearly."""
        only = len(self.model.languages) == 1 and self.language == AUTO
        return self.model.languages[0] if only else self.language

    def start(self, text: str, *, is_complete: bool, max_frames: int = 0) -> engine_pb2.Start:
        """The engine's opening message for a piece of its text. One that is still being written
        is spoken as it comes, which only the streaming layout can. `max_frames`: of it alone."""
        usual, live = engine_pb2.TEXT_LAYOUT_UNSPECIFIED, engine_pb2.TEXT_LAYOUT_STREAMING
        return engine_pb2.Start(
            request_id=str(self.id),
            model=self.model.id,
            voice=self.voice.to_engine(),
            text=text,
            language=self.spoken_language,
            instructions=self.instructions,
            layout=usual if is_complete else live,
            complete=is_complete,
            seed=self.seed,
            max_frames=asked_frames.cap(max_frames, text),
            profile=asked_frames.profile(self.first_chunk),
            keep_silence=self.keeps_silence,
            tenant=str(self.caller.tenant_id),
            share=self.caller.share,
            word_times=self.has_words and self.model.tells_words(self.language),
            priority=engine_pb2.PRIORITY_INTERACTIVE,
        )


def fresh_seed() -> int:
    """A seed for callers that name none: told back, so that any answer can be made again."""
    return secrets.randbits(_SEED_BITS)


def is_speakable(text: str) -> bool:
    """Whether there is a letter or a digit in it; blanks, punctuation and emoji are silent."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def check_text(text: str, limit: int, field: str) -> None:
    """Raises ApiError 400 for text that is too long or has nothing to say."""
    if len(text) > limit:
        message = f"The text has {len(text)} characters; the most is {limit}."
        raise invalid(message, field, "string_above_max_length")
    if not is_speakable(text):
        raise nothing_to_say(field)


def nothing_to_say(field: str) -> ApiError:
    return invalid("There is nothing to say in this text.", field, "empty_input")


def unspoken_language(model: SpeechModel, field: str) -> ApiError:
    spoken = ", ".join(name.title() for name in model.languages)
    message = f"The text is in no language of the model {model.id!r}: it speaks {spoken}."
    return invalid(message, field)


def check_speed(speed: float, field: str = "speed") -> None:
    """Raises ApiError 400 for a speed that no one could follow."""
    if not SLOWEST <= speed <= FASTEST:
        raise invalid(f"{field} may be {SLOWEST} to {FASTEST}.", field)


def check_instructions(text: str, field: str = "instructions") -> None:
    """Raises ApiError 400 for a style prompt that is too long."""
    if len(text) > INSTRUCTIONS_LIMIT:
        message = f"Instructions may have {INSTRUCTIONS_LIMIT} characters."
        raise invalid(message, field, "string_above_max_length")
