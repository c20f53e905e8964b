"""The voice that a request names, where OpenAI's own names are known."""

from __future__ import annotations

from ttsapp.errors import ApiError
from ttsapp.voices import kinds
from ttsapp.voices.catalogue import Catalogue, SpeechModel
from ttsapp.voices.own import Preset


def speaker(
    served: Catalogue, model: SpeechModel, voice: str | None, task: str, description: str
) -> tuple[SpeechModel, Preset]:
    """As `kinds.speaker`; who named an unknown voice is told of those names too."""
    try:
        return kinds.speaker(served, model, voice, task, description)
    except ApiError as error:
        is_alias = voice is not None and voice.casefold() in model.aliases
        if error.code == "unknown_voice" and not is_alias:
            error.message += " OpenAI's own names, like alloy, are taken as well."
        raise
