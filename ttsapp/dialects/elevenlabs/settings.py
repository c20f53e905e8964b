"""`voice_settings`: all are taken, and the speed is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ttsapp import strict
from ttsapp.speech.order import check_speed

DEFAULTS = {
    "stability": 0.5,
    "similarity_boost": 0.75,
    "style": 0.0,
    "use_speaker_boost": True,
    "speed": 1.0,
}


FIELDS: dict[str, Any] = {
    "stability": float,
    "similarity_boost": float,
    "style": float,
    "use_speaker_boost": bool,
    "speed": float,
    "clone_strength": float,
}


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """As they were given: a socket's may be said again, but not changed."""

    given: Mapping[str, Any]

    @property
    def speed(self) -> float:
        speed: float = self.given.get("speed", 1.0)
        return speed


def voice_settings(raw: bytes) -> VoiceSettings:
    """Raises ApiError 400 naming the setting."""
    given = strict.fields(raw, FIELDS, (), within="voice_settings", has_nulls=True)
    settings = VoiceSettings(given)
    check_speed(settings.speed, "voice_settings.speed")
    return settings
