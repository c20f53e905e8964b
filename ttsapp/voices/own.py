"""What can be spoken with: a checkpoint's preset, or a voice of the tenant's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils import timezone

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError, invalid
from ttsapp.voices import artifacts

if TYPE_CHECKING:
    from ttsapp.voices.catalogue import SpeechModel

_FEMALE_WORDS = frozenset({"female", "woman", "girl"})


@dataclass(frozen=True, slots=True)
class Preset:
    """`name`: what it is called in requests, in the log and in keys' rules."""

    name: str
    native_language: str
    description: str

    @property
    def is_female(self) -> bool:
        return not _FEMALE_WORDS.isdisjoint(re.findall(r"\w+", self.description.casefold()))

    @property
    def names(self) -> tuple[str, ...]:
        """What a key may know it by."""
        return (self.name,)

    def to_engine(self) -> engine_pb2.Voice:
        return engine_pb2.Voice(preset=self.name)


class DescribedVoice(Preset):
    """What a VoiceDesign checkpoint makes of the order's instructions, another one each time."""

    def to_engine(self) -> engine_pb2.Voice:
        return engine_pb2.Voice(described=True)


@dataclass(frozen=True, slots=True)
class OwnVoice(Preset):
    """`name` is its id, `label` what people call it. `model` made its artifact, with the weights of
    `fingerprint`, and speaks it: `served_by`, while an engine has that. `language` and `speed`
    hold where a request names none. `is_named`: it may be asked for by its label, which its own
    tenant chose and no voice of a model's has. `refusal`: why it may not be used, as its consent's
    state."""

    label: str
    kind: str
    model: str
    fingerprint: str
    artifact: str
    language: str = "auto"
    speed: float = 1.0
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    is_shared: bool = False
    is_named: bool = False
    refusal: str = ""
    ends_at: datetime | None = None
    served_by: SpeechModel | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.label) if self.is_named else (self.name,)

    @property
    def is_usable(self) -> bool:
        return self.served_by is not None and not self._ended

    def to_engine(self) -> engine_pb2.Voice:
        """Its artifact, which `artifacts.warm` has fetched."""
        content = artifacts.held(self.artifact)
        return engine_pb2.Voice(artifact=engine_pb2.Artifact(data=content))

    def check(self, model: str, *, is_stand_in: bool) -> None:
        """Raises ApiError 403 once its consent has ended, 400 on `model` if another was named than
        the one that speaks it, 503 while no engine has that."""
        if self._ended:
            message = (
                f"The speaker's consent for the voice {self.label[:50]!r} is {self._ended}: it may "
                "not be used. Choose another, or record a new consent."
            )
            raise ApiError(403, f"consent_{self._ended}", message, field="voice")
        if not is_stand_in and model != self.model:
            message = (
                f"The voice {self.label[:50]!r} is spoken by the model {self.model!r}, not by "
                f"{model!r}: ask for that, or for tts-1."
            )
            raise invalid(message, "model", "wrong_model")
        if self.served_by is None:
            message = (
                f"The voice {self.label[:50]!r} needs the model {self.model!r} (kind base), which "
                "no engine has ready as it was when the voice was made."
            )
            raise ApiError(503, "voice_not_served", message, field="voice", retry_after_ms=5000)

    @property
    def _ended(self) -> str:
        if self.refusal:
            return self.refusal
        is_over = self.ends_at is not None and self.ends_at <= timezone.now()
        return "expired" if is_over else ""
