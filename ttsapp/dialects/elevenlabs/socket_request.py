"""What the address of a socket asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ttsapp import strict
from ttsapp.dialects.elevenlabs import formats
from ttsapp.dialects.elevenlabs.request import Wanted, check_query
from ttsapp.dialects.elevenlabs.settings import VoiceSettings
from ttsapp.errors import invalid
from ttsapp.keys.credentials import KEY_PARAMETERS
from ttsapp.speech.prepared import TextWish
from ttsapp.speech.text.markup import Markup

_FLAGS = (
    *("enable_logging", "enable_ssml_parsing", "sync_alignment", "auto_mode"),
    "apply_language_text_normalization",
)
_KNOWN = (
    *("model_id", "output_format", "language_code", "inactivity_timeout", "seed"),
    *("apply_text_normalization", "optimize_streaming_latency", *_FLAGS),
)
_USUAL_TIMEOUT, _LONGEST_TIMEOUT = 20, 180


@dataclass(frozen=True, slots=True)
class SocketWanted:
    """`timeout`: seconds without a message after which a context, and an idle socket, ends."""

    speech: Wanted
    timeout: int
    is_auto: bool


def parse(query: Mapping[str, str]) -> SocketWanted:
    """Raises ApiError 400, naming the parameter that is at fault."""
    given = {name: value for name, value in query.items() if name not in KEY_PARAMETERS}
    check_query(given, _KNOWN)
    flags = {name: _flag(given, name) for name in _FLAGS}
    strict.check_choice(given, "apply_text_normalization", ("auto", "on", "off"))
    speech = Wanted(
        text="",
        model=given.get("model_id"),
        audio=formats.output_format(given.get("output_format", formats.DEFAULT)),
        settings=VoiceSettings({}),
        language=given.get("language_code", "auto"),
        seed=_whole(given, "seed", 0, 2**32 - 1),
        wish=TextWish(
            is_normalised=given.get("apply_text_normalization") == "on",
            # Who asks for SSML is told of what of it cannot be honoured in a growing text.
            markup=Markup.PAUSES_ONLY if flags["enable_ssml_parsing"] else Markup.PAUSES,
        ),
    )
    timeout = _whole(given, "inactivity_timeout", 1, _LONGEST_TIMEOUT) or _USUAL_TIMEOUT
    return SocketWanted(speech, timeout, flags["auto_mode"])


def _flag(query: Mapping[str, str], name: str) -> bool:
    value = query.get(name, "false").lower()
    if value not in ("true", "false"):
        raise invalid(f"{name} may be true or false.", name)
    return value == "true"


def _whole(query: Mapping[str, str], name: str, least: int, most: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    if re.fullmatch(r"\d{1,10}", text) is None or not least <= int(text) <= most:
        raise invalid(f"{name} must be a whole number from {least} to {most}.", name)
    return int(text)
