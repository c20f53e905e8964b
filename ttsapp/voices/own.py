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

_STAGES = {
    "draft": "whoever made it has not published it",
    "review": "somebody who may approve voices has to",
    "refused": "it was refused by somebody who may approve voices",
}
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

    @property
    def state(self) -> str:
        """It is there as long as its engine is."""
        return "active"

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
    tenant chose and no voice of a model's has. `aliases`: OpenAI's names that stand for it.
    `refusal`: why it may not be used, as its consent's state; `stage`: how far it is on its way to
    be used at all."""

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
    aliases: tuple[str, ...] = ()
    refusal: str = ""
    stage: str = "live"
    ends_at: datetime | None = None
    served_by: SpeechModel | None = None

    @property
    def names(self) -> tuple[str, ...]:
        label = (self.label,) if self.is_named else ()
        return (self.name, *label, *self.aliases)

    @property
    def is_usable(self) -> bool:
        return self.state == "active"

    @property
    def state(self) -> str:
        """As its consent's; its stage until it is published; or `away` while no engine has its
        model as it was made for."""
        if self._ended or self.stage != "live":
            return self._ended or self.stage
        return "active" if self.served_by is not None else "away"

    def to_engine(self) -> engine_pb2.Voice:
        """Its artifact, which `artifacts.warm` has fetched."""
        content = artifacts.held(self.artifact)
        return engine_pb2.Voice(artifact=engine_pb2.Artifact(data=content))

    def check(self, model: str, *, is_stand_in: bool) -> None:
        """Raises ApiError 403 once its consent has ended and until it is published, 400 on `model`
        if another was named than the one that speaks it, 503 while no engine has that."""
        self.check_consent()
        self.check_stage()
        if not is_stand_in and model != self.model:
            message = (
                f"The voice {self.label[:50]!r} is spoken by the model {self.model!r}, not by "
                f"{model!r}: ask for that, or for tts-1."
            )
            raise invalid(message, "model", "wrong_model")
        self.check_served()

    def check_served(self) -> None:
        """Raises ApiError 503 while no engine speaks it."""
        if self.served_by is None:
            message = (
                f"The voice {self.label[:50]!r} needs the model {self.model!r} (kind base), which "
                "no engine has ready as it was when the voice was made."
            )
            raise ApiError(503, "voice_not_served", message, field="voice", retry_after_ms=5000)

    def check_stage(self) -> None:
        """Raises ApiError 403 until it is published."""
        if self.stage != "live":
            why = _STAGES.get(self.stage, _STAGES["draft"])
            message = f"The voice {self.label[:50]!r} may not be used yet: {why}."
            raise ApiError(403, f"voice_{self.stage}", message, field="voice")

    def check_consent(self) -> None:
        """Raises ApiError 403 once it has ended."""
        if self._ended:
            message = (
                f"The speaker's consent for the voice {self.label[:50]!r} is {self._ended}: it may "
                "not be used. Choose another, or record a new consent."
            )
            raise ApiError(403, f"consent_{self._ended}", message, field="voice")

    @property
    def _ended(self) -> str:
        if self.refusal:
            return self.refusal
        is_over = self.ends_at is not None and self.ends_at <= timezone.now()
        return "expired" if is_over else ""
