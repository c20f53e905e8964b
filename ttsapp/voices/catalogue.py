"""The models and voices that can be asked for: read from the engine, under its names and the
names that OpenAI's clients send."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError, invalid

RETIRED_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_DATED = re.compile(rf"(?:{'|'.join(RETIRED_MODELS)})(?:-20\d\d-\d\d-\d\d)?", re.ASCII)
_LANGUAGE_TAG = re.compile(r"([a-z]{2})(?:-[a-z0-9]{2,8})*")

# The stock names by the kind of voice that callers know them for.
_STOCK_FEMALE = ("alloy", "coral", "marin", "nova", "sage", "shimmer")
_STOCK_MALE = ("ash", "ballad", "cedar", "echo", "fable", "onyx", "verse")
STOCK_VOICES = tuple(sorted(_STOCK_FEMALE + _STOCK_MALE))

_FEMALE_WORDS = frozenset({"female", "woman", "girl"})

# Two-letter codes for the engine's language names.
_LANGUAGE_CODES = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "pt": "portuguese",
    "ru": "russian",
    "zh": "chinese",
}


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    native_language: str
    description: str

    @property
    def is_female(self) -> bool:
        return not _FEMALE_WORDS.isdisjoint(re.findall(r"\w+", self.description.casefold()))


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """One checkpoint that the engine serves; `fingerprint` changes when its weights do."""

    id: str
    kind: str
    presets: tuple[Preset, ...]
    languages: tuple[str, ...]
    fingerprint: str

    def preset(self, name: str) -> Preset:
        """The voice of that name, stock names included. Raises ApiError 400 on `voice`."""
        wanted = name.casefold()
        for preset in self.presets:
            if preset.name.casefold() == wanted:
                return preset
        stand_in = stock_voices(self).get(wanted)
        if stand_in is None:
            raise invalid(
                f"Unknown voice {_short(name)}: {_choices(self)}.", "voice", "unknown_voice"
            )
        return stand_in

    def language(self, name: str) -> str:
        """The engine's name for a language. Raises ApiError 400 on `language`."""
        wanted = name.casefold()
        if tag := _LANGUAGE_TAG.fullmatch(wanted):
            wanted = _LANGUAGE_CODES.get(tag[1], wanted)
        if wanted == "auto" or wanted in self.languages:
            return wanted
        known = ", ".join(("auto", *self.languages))
        if wanted in _LANGUAGE_CODES.values():
            spoken = f"The model {self.id!r} does not speak {wanted.title()}"
            message = f"{spoken}: choose one of {known}."
        else:
            message = f"Unknown language {_short(name)}: choose one of {known}."
        raise invalid(message, "language")


@dataclass(frozen=True, slots=True)
class Catalogue:
    models: tuple[SpeechModel, ...]

    def model(self, name: str) -> SpeechModel:
        """The model of that name, retired ones included. Raises ApiError 404 on `model`."""
        for model in self.models:
            if model.id == name:
                return model
        if is_retired(name) and (default := self.default()) is not None:
            return default
        known = ", ".join(model.id for model in self.models)
        message = f"The model {_short(name)} does not exist: choose one of {known}, or tts-1."
        raise ApiError(404, "model_not_found", message, field="model")

    def default(self) -> SpeechModel | None:
        """What a retired name stands for: the first model with voices of its own."""
        return next((model for model in self.models if model.presets), None)


def is_retired(name: str) -> bool:
    """OpenAI's own model names and their dated snapshots."""
    return _DATED.fullmatch(name) is not None


def stock_voices(model: SpeechModel) -> dict[str, Preset]:
    """OpenAI's thirteen names."""
    return stand_ins(model, _STOCK_FEMALE, _STOCK_MALE)


@lru_cache(maxsize=64)
def stand_ins(
    model: SpeechModel, female_names: tuple[str, ...], male_names: tuple[str, ...]
) -> dict[str, Preset]:
    """Another service's voice names, shared out over the model's voices of the same kind."""
    female = tuple(preset for preset in model.presets if preset.is_female)
    male = tuple(preset for preset in model.presets if preset not in female)
    names: dict[str, Preset] = {}
    for group, voices in ((female_names, female), (male_names, male)):
        pool = _english(voices) or voices or model.presets
        if pool:
            names.update((name, pool[place % len(pool)]) for place, name in enumerate(group))
    return names


def _english(presets: tuple[Preset, ...]) -> tuple[Preset, ...]:
    """Callers of the stock names mostly speak English: its native voices come first."""
    return tuple(preset for preset in presets if preset.native_language == "english")


def read(models: list[engine_pb2.Model]) -> Catalogue:
    return Catalogue(tuple(_model(model) for model in models))


def _model(model: engine_pb2.Model) -> SpeechModel:
    return SpeechModel(
        id=model.id,
        kind=model.kind,
        presets=tuple(
            Preset(preset.name, preset.native_language, preset.description)
            for preset in model.presets
        ),
        languages=tuple(model.languages),
        fingerprint=model.fingerprint,
    )


def _short(name: str) -> str:
    """A caller's own word, quoted back to them at a length that stays readable."""
    return repr(name[:50])


def _choices(model: SpeechModel) -> str:
    if not model.presets:
        return f"the model {model.id!r} has no voices of its own"
    names = ", ".join(preset.name for preset in model.presets)
    return f"choose one of {names}, or an OpenAI voice name"
