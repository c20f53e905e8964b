"""The models and voices that can be asked for: read from the engine, under its names and the
names that OpenAI's clients send; and a tenant's own beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from gpu_engine.proto import engine_pb2
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.rules import KeyRules
from ttsapp.speech.text.languages import NAMES
from ttsapp.voices.own import OwnVoice, Preset

RETIRED_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_DATED = re.compile(rf"(?:{'|'.join(RETIRED_MODELS)})(?:-20\d\d-\d\d-\d\d)?", re.ASCII)
_LANGUAGE_TAG = re.compile(r"([a-z]{2})(?:-[a-z0-9]{2,8})*")

# The stock names by the kind of voice that callers know them for.
_STOCK_FEMALE = ("alloy", "coral", "marin", "nova", "sage", "shimmer")
_STOCK_MALE = ("ash", "ballad", "cedar", "echo", "fable", "onyx", "verse")
STOCK_VOICES = tuple(sorted(_STOCK_FEMALE + _STOCK_MALE))


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """One checkpoint that the engine serves; `fingerprint` changes when its weights do.

    `own`: the voices of the tenant that asks, by id and by name in lower case. `is_stand_in`: it
    was not asked for by its own name, so a voice may choose another."""

    id: str
    kind: str
    presets: tuple[Preset, ...]
    languages: tuple[str, ...]
    fingerprint: str
    can_clone: bool = False
    can_clone_in_context: bool = False
    embedding_size: int = 0
    word_languages: tuple[str, ...] = ()
    own: Mapping[str, OwnVoice] = field(default_factory=dict, compare=False, repr=False)
    is_stand_in: bool = field(default=False, compare=False)

    def preset(self, name: str) -> Preset:
        """The voice of that name, stock names included; no voice of a tenant's has one of theirs.

        Raises ApiError 400 on `voice` for one that is not there, 403 for one that may no longer
        be used, 400 on `model` for one that another model speaks."""
        wanted = name.casefold()
        if own := self.own.get(wanted):
            own.check(self.id, is_stand_in=self.is_stand_in)
            return own
        for preset in self.presets:
            if preset.name.casefold() == wanted:
                return preset
        stand_in = stock_voices(self).get(wanted)
        if stand_in is None:
            raise invalid(
                f"Unknown voice {_short(name)}: {_choices(self)}.", "voice", "unknown_voice"
            )
        return stand_in

    def tells_words(self, language: str) -> bool:
        """Whether times of words can be had in it; `auto`: in the languages that they can."""
        return bool(self.word_languages) and language in ("auto", *self.word_languages)

    def language(self, name: str) -> str:
        """The engine's name for a language. Raises ApiError 400 on `language`."""
        wanted = name.casefold()
        if tag := _LANGUAGE_TAG.fullmatch(wanted):
            wanted = NAMES.get(tag[1], wanted)
        if wanted == "auto" or wanted in self.languages:
            return wanted
        known = ", ".join(("auto", *self.languages))
        if wanted in NAMES.values():
            spoken = f"The model {self.id!r} does not speak {wanted.title()}"
            message = f"{spoken}: choose one of {known}."
        else:
            message = f"Unknown language {_short(name)}: choose one of {known}."
        raise invalid(message, "language")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`hidden`: presets, in lower case, that the tenant does not want to be shown, or, in what is
    `listed` for a key, that it may not use."""

    models: tuple[SpeechModel, ...]
    hidden: frozenset[str] = frozenset()

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
        """What a retired name stands for: the first model with voices of its own, or else one
        that the tenant's speak by."""
        found = next((model for model in self.models if model.presets), None)
        if found is None and self.own:
            found = self.models[0] if self.models else None
        return replace(found, is_stand_in=True) if found is not None else None

    @property
    def own(self) -> tuple[OwnVoice, ...]:
        """The tenant's, those that can be spoken with now."""
        found = self.models[0].own.values() if self.models else ()
        return tuple(dict.fromkeys(voice for voice in found if voice.is_usable))

    def shown(self, model: SpeechModel) -> tuple[Preset, ...]:
        """The model's voices that belong into lists."""
        return tuple(each for each in model.presets if self.shows(each))

    def shows(self, preset: Preset) -> bool:
        return preset.name.casefold() not in self.hidden

    def listed(self, rules: KeyRules | None) -> Catalogue:
        """What a caller may use of it: for lists. What is asked for by name is looked up in all of
        it, so that the refusal can tell what is not there from what the key may not use."""
        if rules is None or not (rules.models or rules.voices):
            return self
        barred = (
            preset.name.casefold()
            for model in self.models
            for preset in model.presets
            if not rules.allows_voice(known_by(model, preset))
        )
        models = (model for model in self.models if rules.allows_model(model.id))
        return Catalogue(
            tuple(replace(model, own=_usable(model.own, rules)) for model in models),
            self.hidden.union(barred),
        )

    def taken(self) -> frozenset[str]:
        """Names that no voice of a tenant's can be asked for by: those of the models' voices and
        OpenAI's, in lower case. A key that is bound to one of them is bound to that voice."""
        presets = (preset.name.casefold() for model in self.models for preset in model.presets)
        return frozenset((*presets, *STOCK_VOICES))

    def maker(self, *, in_context: bool) -> SpeechModel | None:
        """The model that makes clones."""
        can = (
            model
            for model in self.models
            if (model.can_clone_in_context if in_context else model.can_clone)
        )
        return next(can, None)

    def describer(self) -> SpeechModel | None:
        """The model that speaks as it is described to."""
        return next((model for model in self.models if model.kind == "voice_design"), None)

    def of_tenant(self, voices: Iterable[OwnVoice], hidden: frozenset[str]) -> Catalogue:
        """With a tenant's own voices in every model, and without the presets that it hides."""
        served = {(model.id, model.fingerprint): model for model in self.models}
        voices = tuple(voices)
        taken = self.taken().union(voice.name for voice in voices)
        by_name: dict[str, OwnVoice] = {}
        for voice in voices:
            model = served.get((voice.model, voice.fingerprint))
            label = voice.label.casefold()
            is_named = not voice.is_shared and label not in taken
            placed = replace(voice, served_by=model, is_named=is_named)
            by_name[voice.name] = placed
            if is_named:
                by_name.setdefault(label, placed)
        own = MappingProxyType(by_name)
        return Catalogue(tuple(replace(model, own=own) for model in self.models), hidden)


def _usable(own: Mapping[str, OwnVoice], rules: KeyRules) -> Mapping[str, OwnVoice]:
    return {
        name: voice
        for name, voice in own.items()
        if rules.allows_voice(voice.names) and rules.allows_model(voice.model)
    }


def is_retired(name: str) -> bool:
    """OpenAI's own model names and their dated snapshots."""
    return _DATED.fullmatch(name) is not None


def stock_voices(model: SpeechModel) -> dict[str, Preset]:
    """OpenAI's thirteen names."""
    return stand_ins(model, _STOCK_FEMALE, _STOCK_MALE)


def known_by(model: SpeechModel, voice: Preset | OwnVoice) -> tuple[str, ...]:
    """All names that a key may be bound to the voice by, stock names included."""
    stock = (name for name, preset in stock_voices(model).items() if preset == voice)
    return (*voice.names, *stock)


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
        can_clone=model.can_encode_voice,
        can_clone_in_context=model.can_encode_reference,
        embedding_size=model.embedding_size,
        word_languages=tuple(model.word_time_languages),
    )


def _short(name: str) -> str:
    """A caller's own word, quoted back to them at a length that stays readable."""
    return repr(name[:50])


def _choices(model: SpeechModel) -> str:
    if not model.presets:
        needed = "a preset needs one of kind custom_voice"
        return f"the model {model.id!r} of kind {model.kind} has no voices of its own, {needed}"
    names = ", ".join(preset.name for preset in model.presets)
    return f"choose one of {names}, an OpenAI voice name, or the id of a voice of your own"
