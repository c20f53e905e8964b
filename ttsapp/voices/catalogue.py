"""The models and voices that can be asked for: read from the engine, under its names and the
names that OpenAI's clients send; and a tenant's own beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from gpu_engine.proto import engine_pb2
from ttsapp.engine.errors import RETRY_AFTER_MS
from ttsapp.errors import ApiError, invalid
from ttsapp.keys.rules import KeyRules
from ttsapp.speech.text.languages import NAMES
from ttsapp.voices.own import OwnVoice, Preset

RETIRED_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
_DATED = re.compile(rf"({'|'.join(RETIRED_MODELS)})(?:-20\d\d-\d\d-\d\d|-1106)?", re.ASCII)
_OWN_ID = re.compile(r"voice_[0-9a-f]{32}", re.ASCII)
_LANGUAGE_TAG = re.compile(r"([a-z]{2})(?:-[a-z0-9]{2,8})*")

# The stock names by the kind of voice that callers know them for.
_STOCK_FEMALE = ("alloy", "coral", "marin", "nova", "sage", "shimmer")
_STOCK_MALE = ("ash", "ballad", "cedar", "echo", "fable", "onyx", "verse")
STOCK_VOICES = tuple(sorted(_STOCK_FEMALE + _STOCK_MALE))
ALIASES = (*STOCK_VOICES, *RETIRED_MODELS)


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """One checkpoint that the engine serves; `fingerprint` changes when its weights do.

    `own`: the voices of the tenant that asks, by id and by name in lower case. `is_stand_in`: it
    was not asked for by its own name, so a voice may choose another. `lacks_some`, `aliases`: as in
    the catalogue."""

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
    lacks_some: bool = field(default=False, compare=False)
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def preset(self, name: str) -> Preset:
        """The voice of that name, stock names included; no voice of a tenant's has one of theirs.

        Raises ApiError 400 on `voice` for one that is not there, or 503 where an engine is away
        that may have it; 403 for one that may no longer be used, 400 on `model` for one that
        another model speaks."""
        wanted = name.casefold()
        if own := self.own.get(wanted):
            own.check(self.id, is_stand_in=self.is_stand_in)
            return own
        for preset in self.presets:
            if preset.name.casefold() == wanted:
                return preset
        stand_in = stock_voices(self).get(wanted)
        if stand_in is not None:
            return stand_in
        raise away("voice") if self.lacks_some else unknown_voice(self, wanted, name)

    def tells_words(self, language: str) -> bool:
        """Whether times of words can be had in it; `auto`: in the languages that they can."""
        return bool(self.word_languages) and language in ("auto", *self.word_languages)

    def language(self, name: str, field: str = "language") -> str:
        """The engine's name for a language. Raises ApiError 400."""
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
        raise invalid(message, field)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`hidden`: presets, in lower case, that the tenant does not want to be shown, or, in what is
    `listed` for a key, that it may not use. `lacks_some`: an engine is away that may serve what
    none of the others does, so what is not here may be here again in a moment. `made`: the tenant's
    own voices as in the models, whether or not they can be spoken with now. `aliases`: what those
    of OpenAI's names stand for that are not as usual."""

    models: tuple[SpeechModel, ...]
    hidden: frozenset[str] = frozenset()
    lacks_some: bool = False
    made: Mapping[str, OwnVoice] = field(default_factory=dict, compare=False, repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def model(self, name: str) -> SpeechModel:
        """The model of that name, retired ones included. Raises ApiError 404 on `model`, or 503
        where an engine is away that may serve it."""
        for model in self.models:
            if model.id == name:
                return model
        if found := self._behind(name):
            return found
        if self.lacks_some:
            raise away("model")
        known = ", ".join(model.id for model in self.models)
        if target := self.aliases.get(_undated(name)):
            message = (
                f"In this account {_short(name)} stands for {_short(target)}, which no engine "
                f"serves: have it stand for another, or choose one of {known}."
            )
        else:
            message = f"The model {_short(name)} does not exist: choose one of {known}, or tts-1."
        raise ApiError(404, "model_not_found", message, field="model")

    def _behind(self, name: str) -> SpeechModel | None:
        """What a retired name stands for."""
        if not is_retired(name):
            return None
        target = self.aliases.get(_undated(name))
        if target is None:
            return self.default()
        found = next((model for model in self.models if model.id == target), None)
        return replace(found, is_stand_in=True) if found is not None else None

    def default(self) -> SpeechModel | None:
        """What a retired name usually stands for: the first model with voices of its own, or else
        the first, by which a tenant's may be spoken with."""
        found = next((model for model in self.models if model.presets), None)
        if found is None and self.models:
            found = self.models[0]
        return replace(found, is_stand_in=True) if found is not None else None

    @property
    def own(self) -> tuple[OwnVoice, ...]:
        """The tenant's, those that can be spoken with now."""
        return tuple(voice for voice in self.every_own if voice.is_usable)

    @property
    def every_own(self) -> tuple[OwnVoice, ...]:
        """Those too that cannot: their state says why."""
        return tuple(dict.fromkeys(self.made.values()))

    def voice(self, name: str) -> tuple[SpeechModel | None, Preset]:
        """What is known by that name or id, with the model that speaks it now: to look at, not to
        speak with. Raises ApiError 404 on `voice`, or 503 where an engine is away whose own it may
        be; what a tenant made is in the database, and there whatever engine is."""
        wanted = name.casefold()
        if own := self.made.get(wanted):
            return own.served_by, own
        for model in self.models:
            for preset in self.shown(model):
                if preset.name.casefold() == wanted:
                    return model, preset
        check_whole(self, name, "voice")
        message = f"There is no voice {_short(name)}: the list of voices has their names."
        raise ApiError(404, "voice_not_found", message, field="voice")

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
        return replace(
            self,
            models=tuple(replace(model, own=_usable(model.own, rules)) for model in models),
            made=_usable(self.made, rules),
            hidden=self.hidden.union(barred),
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

    def of_tenant(
        self,
        voices: Iterable[OwnVoice],
        hidden: frozenset[str] = frozenset(),
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> Catalogue:
        """With a tenant's own voices in every model, without the presets that it hides, and with
        what it has OpenAI's names stand for."""
        plain = tuple(replace(model, aliases=aliases) for model in self.models)
        served = {(model.id, model.fingerprint): model for model in plain}
        voices = tuple(voices)
        taken = self.taken().union(voice.name for voice in voices)
        by_name: dict[str, OwnVoice] = {}
        for voice in voices:
            model = served.get((voice.model, voice.fingerprint))
            label = voice.label.casefold()
            is_named = not voice.is_shared and label not in taken
            known_as = tuple(name for name, target in aliases.items() if target == voice.name)
            placed = replace(voice, served_by=model, is_named=is_named, aliases=known_as)
            by_name |= dict.fromkeys((voice.name, *known_as), placed)
            if is_named:
                by_name.setdefault(label, placed)
        own = MappingProxyType(by_name)
        models = tuple(replace(model, own=own) for model in plain)
        return replace(self, models=models, hidden=hidden, made=own, aliases=aliases)


def _usable(own: Mapping[str, OwnVoice], rules: KeyRules) -> Mapping[str, OwnVoice]:
    return {
        name: voice
        for name, voice in own.items()
        if rules.allows_voice(voice.names) and rules.allows_model(voice.model)
    }


def away(field: str | None) -> ApiError:
    """In place of a refusal for ever, where an engine that is away may have what is asked for."""
    message = "The engine that may have this is away right now: try again in a moment."
    return ApiError(503, "engine_unavailable", message, field=field, retry_after_ms=RETRY_AFTER_MS)


def check_whole(served: Catalogue, name: str, field: str) -> None:
    """Before a name is said to be nobody's. Raises ApiError 503 where an engine is away whose own
    it may be; the ids of what tenants make are looked up in the database."""
    if served.lacks_some and not is_own_id(name):
        raise away(field)


def is_own_id(name: str) -> bool:
    return _OWN_ID.fullmatch(name) is not None


def unknown_voice(model: SpeechModel, wanted: str, name: str) -> ApiError:
    """`wanted`: the name in lower case."""
    if target := model.aliases.get(wanted):
        message = (
            f"In this account {_short(name)} stands for {_short(target)}, which the model "
            f"{model.id!r} does not speak, or which is there no more: have it stand for another."
        )
        return invalid(message, "voice", "unknown_voice")
    return invalid(f"Unknown voice {_short(name)}: {_choices(model)}.", "voice", "unknown_voice")


def gone_voice(voice: OwnVoice) -> ApiError:
    message = (
        f"The voice {_short(voice.label)} was deleted, or is shared with this account no more: "
        "choose another."
    )
    return invalid(message, "voice", "unknown_voice")


def is_retired(name: str) -> bool:
    """OpenAI's own model names and their dated snapshots."""
    return _DATED.fullmatch(name) is not None


def _undated(name: str) -> str:
    """Of a retired model."""
    match = _DATED.fullmatch(name)
    return match[1] if match is not None else ""


def usual_voices(model: SpeechModel) -> dict[str, Preset]:
    """What OpenAI's thirteen names stand for where a tenant has not said otherwise."""
    return stand_ins(model, _STOCK_FEMALE, _STOCK_MALE)


def stock_voices(model: SpeechModel) -> dict[str, Preset]:
    """OpenAI's thirteen names, without those that stand for what is not here."""
    usual, aliases = usual_voices(model), model.aliases
    if not aliases:
        return usual
    presets = {preset.name: preset for preset in model.presets}
    known: dict[str, Preset] = {**presets, **model.own}
    said = {name: known[target] for name, target in aliases.items() if target in known}
    found = {name: preset for name, preset in usual.items() if name not in aliases}
    return found | {name: each for name, each in said.items() if name in STOCK_VOICES}


def known_by(model: SpeechModel, voice: Preset | OwnVoice) -> tuple[str, ...]:
    """All names that a key may be bound to the voice by, stock names included."""
    stock = (name for name, preset in stock_voices(model).items() if preset == voice)
    return tuple(dict.fromkeys((*voice.names, *stock)))


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


def read(models: list[engine_pb2.Model], *, lacks_some: bool = False) -> Catalogue:
    found = (replace(_model(model), lacks_some=lacks_some) for model in models)
    return Catalogue(tuple(found), lacks_some=lacks_some)


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
    return f"choose one of {names}, or the id of a voice of your own"
