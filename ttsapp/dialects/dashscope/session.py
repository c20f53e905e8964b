"""What a realtime session is set to, and the orders it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from ttsapp import strict
from ttsapp.dialects.dashscope import lenient, voices
from ttsapp.dialects.dashscope.request import USUAL_VOLUME, VOLUME
from ttsapp.dialects.dashscope.served import served_language, served_model, served_voice
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.speech.context import Context
from ttsapp.speech.encoders import AudioFormat, audio_format
from ttsapp.speech.order import Order, check_instructions, check_speed, fresh_seed
from ttsapp.speech.prepared import live_text
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.selectors import catalogue

SERVER_COMMIT, COMMIT = "server_commit", "commit"
DEFAULT_MODEL = "qwen3-tts-flash-realtime"
# Not among these: pitch_rate and optimize_instructions, which have no effect.
_KNOWN: dict[str, Any] = {
    "voice": str,
    "mode": str,
    "response_format": str,
    "sample_rate": int,
    "bit_rate": int,
    "speech_rate": float,
    "volume": VOLUME,
    "language_type": str,
    "enable_tn": bool,
    "instructions": str,
}
_FORMATS = ("pcm", "wav", "mp3", "opus")
_HIGHEST_OPUS = 256


@dataclass(frozen=True, slots=True)
class Session:
    """`bit_rate` in kilobits a second; `model` as the client calls it."""

    id: str
    model: str
    voice: str = voices.DEFAULT
    mode: str = SERVER_COMMIT
    response_format: str = "pcm"
    sample_rate: int = 24_000
    bit_rate: int | None = None
    speech_rate: float = 1.0
    volume: int = USUAL_VOLUME
    language_type: str = "auto"
    enable_tn: bool = False
    instructions: str = ""

    @classmethod
    def of_model(cls, name: str) -> Session:
        return cls(f"sess_{uuid4().hex}", name)

    def updated(self, body: bytes) -> Session:
        """With the fields of a `session.update`; what it leaves out stays. Raises ApiError 400."""
        given = lenient.fields(body, _KNOWN, within="session")
        named = {f"session.{name}": value for name, value in given.items()}
        strict.check_choice(named, "session.mode", (SERVER_COMMIT, COMMIT))
        strict.check_choice(named, "session.response_format", _FORMATS)
        check_speed(given.get("speech_rate", 1.0), "session.speech_rate")
        check_instructions(given.get("instructions", ""), "session.instructions")
        changed = replace(self, **given)
        changed._audio()
        return changed

    def order(self, request_id: UUID, caller: Caller, catalogue: Catalogue) -> Order:
        """Raises ApiError 404 on `model`, 400 on `session.voice` or `session.language_type`."""
        model = served_model(catalogue, self.model)
        audio = self._audio()
        return Order(
            id=request_id,
            caller=caller,
            transport="ws",
            model=model,
            voice=served_voice(model, self.voice, "session.voice"),
            response_format=audio.name,
            sample_rate=audio.sample_rate,
            bit_rate=audio.bit_rate,
            speed=self.speech_rate,
            volume=self.volume / USUAL_VOLUME,
            language=served_language(model, self.language_type, "session.language_type"),
            instructions=self.instructions,
            seed=fresh_seed(),
            text_field="text",
            voice_field="session.voice",
            language_field="session.language_type",
        )

    async def context(self, request_id: UUID, caller: Caller) -> Context:
        """A response to be fed. Raises ApiError as `order` does."""
        order = self.order(request_id, caller, await catalogue(caller))
        return Context(order, prepare=await live_text(order, is_normalised=self.enable_tn))

    def document(self) -> dict[str, Any]:
        told = {
            "id": self.id,
            "object": "realtime.session",
            "mode": self.mode,
            "model": self.model,
            "voice": self.voice,
            "response_format": self.response_format,
            "sample_rate": self.sample_rate,
        }
        if self.language_type != "auto":
            told["language_type"] = self.language_type
        return told

    def _audio(self) -> AudioFormat:
        """A bit rate counts for mp3 and opus alone, as DashScope documents it."""
        name, rate, bits = self.response_format, self.sample_rate, self.bit_rate
        names = {"response_format": "session.response_format", "sample_rate": "session.sample_rate"}
        usual = audio_format(name, rate, None, names)
        if bits is None or usual.bit_rate is None:
            return usual
        wanted = min(bits, _HIGHEST_OPUS) if name == "opus" else bits
        try:
            return audio_format(name, rate, wanted * 1000, names)
        except ApiError:
            usually = usual.bit_rate // 1000
            message = f"bit_rate {bits} is not offered for {name} at {rate} Hz: {usually} is usual."
            raise invalid(message, "session.bit_rate") from None
