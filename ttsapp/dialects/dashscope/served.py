"""What the names of models, voices and languages in a request stand for here."""

from __future__ import annotations

import re

from ttsapp.dialects.dashscope import voices
from ttsapp.errors import ApiError, invalid, voice_error
from ttsapp.voices.catalogue import Catalogue, SpeechModel, stand_ins
from ttsapp.voices.own import Preset

_HOSTED = re.compile(r"(?:qwen\d*(?:-audio)?-tts|cosyvoice)(?:-[a-z0-9.-]{1,60})?", re.ASCII)
# Newer generations of a voice, which are the same to us.
_GENERATION = re.compile(r"_v\d$")


def served_model(catalogue: Catalogue, name: str) -> SpeechModel:
    """Hosted names, Qwen TTS's and CosyVoice's, stand for the first model with voices. Raises
    ApiError 404."""
    default = catalogue.default()
    if default is not None and _HOSTED.fullmatch(name):
        return default
    return catalogue.model(name)


def served_voice(model: SpeechModel, name: str, field: str) -> Preset:
    """One of ours by its name, or the one that stands in. Raises ApiError 400 on `field`."""
    wanted = name.casefold()
    if wanted in model.own:
        return _preset(model, name, field)
    own = wanted.replace(" ", "_")
    for preset in model.presets:
        if preset.name.casefold() in (wanted, own):
            return preset
    bare = _GENERATION.sub("", wanted)
    if stand_in := stand_ins(model, voices.FEMALE, voices.MALE).get(bare):
        return stand_in
    return _preset(model, name, field)


def _preset(model: SpeechModel, name: str, field: str) -> Preset:
    try:
        return model.preset(name)
    except ApiError as error:
        raise voice_error(error, field) from None


def served_language(model: SpeechModel, name: str, field: str) -> str:
    """Raises ApiError 400 on `field`."""
    try:
        return model.language(name)
    except ApiError as error:
        raise invalid(error.message, field, error.code) from None
