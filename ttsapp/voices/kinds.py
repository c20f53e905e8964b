"""Which kind of voice a request is for, and the model that speaks it: by what it names, or by what
its `task_type` says in the words of the official package."""

from __future__ import annotations

from ttsapp.errors import ApiError, invalid, not_offered
from ttsapp.voices.catalogue import STOCK_VOICES, Catalogue, SpeechModel, away
from ttsapp.voices.own import DescribedVoice, Preset

DESIGN = "voice_design"
DESIGN_TASK = "VoiceDesign"
TASKS = {"CustomVoice": "custom_voice", "Base": "base", DESIGN_TASK: DESIGN}
# What the log and keys' rules call it.
DESCRIBED = "(described)"
_SPEAKS = {"custom_voice": "presets", "base": "clones", DESIGN: "described voices"}


def speaker(
    served: Catalogue, model: SpeechModel, voice: str | None, task: str, description: str
) -> tuple[SpeechModel, Preset]:
    """`model`: what was asked for, which may stand in for others. Without a task the voice's kind
    decides; a voice that is described needs no name. Raises ApiError, 400 on `task_type` where no
    engine holds the kind of checkpoint that is needed, 503 where one that is away may."""
    if task and task not in TASKS:
        raise not_offered("task_type", task, tuple(TASKS))
    is_described = model.kind == DESIGN and not _is_own(model, voice)
    kind = TASKS.get(task, DESIGN if is_described else "")
    if kind == DESIGN and not task and model.is_stand_in and served.lacks_some:
        # The model that the name usually stands for may be the one that is away.
        raise away("voice")
    if kind == DESIGN:
        return _described(_holding(served, model, kind), voice, description)
    if voice is None:
        raise invalid("The field voice is required: add it.", "voice", "missing_field")
    if kind:
        _check(served, model, voice, task, kind)
        if kind == "custom_voice":
            model = _holding(served, model, kind)
    model = _speaking(served, model, voice.casefold())
    return model, model.preset(voice)


def _speaking(served: Catalogue, model: SpeechModel, name: str) -> SpeechModel:
    """What only stands in gives way to the model whose voice the name stands for."""
    target = model.aliases.get(name)
    if target is None or not model.is_stand_in or name in model.own:
        return model
    others = (each for each in (model, *served.models) if target in _names(each))
    return next(others, model)


def _names(model: SpeechModel) -> tuple[str, ...]:
    return tuple(preset.name for preset in model.presets)


def _described(
    model: SpeechModel, voice: str | None, description: str
) -> tuple[SpeechModel, Preset]:
    # OpenAI's clients cannot leave the voice out.
    if voice is not None and voice.casefold() not in STOCK_VOICES:
        message = "A described voice has no name: leave voice out, or save one to speak with again."
        raise invalid(message, "voice")
    if not description.strip():
        message = "instructions is empty: describe the voice, as 'A warm, low voice of a woman'."
        raise invalid(message, "instructions", "missing_field")
    return model, DescribedVoice(DESCRIBED, "english", description)


def _check(served: Catalogue, model: SpeechModel, voice: str, task: str, kind: str) -> None:
    """Whether the voice is of the task's kind."""
    if kind == "base" and not any(each.kind == kind for each in served.models):
        raise _not_held(served, kind)
    is_own = _is_own(model, voice)
    if is_own != (kind == "base"):
        right = "Base" if is_own else "CustomVoice"
        what = "a voice of your own" if is_own else "no voice of your own"
        message = f"{voice[:50]!r} is {what}: leave task_type out, or send {right}."
        raise invalid(message, "task_type")


def _is_own(model: SpeechModel, voice: str | None) -> bool:
    """A usual name beside a model that speaks as it is described is there because OpenAI's clients
    cannot leave it out."""
    if voice is None or (name := voice.casefold()) not in model.own:
        return False
    return name not in STOCK_VOICES or model.kind != DESIGN or model.is_stand_in


def _holding(served: Catalogue, model: SpeechModel, kind: str) -> SpeechModel:
    """The model that was asked for, or, where that only stands in, the first of the kind."""
    if model.kind == kind:
        return model
    found = next((each for each in served.models if each.kind == kind), None)
    if found is None:
        raise _not_held(served, kind)
    if not model.is_stand_in:
        message = (
            f"The model {model.id!r} is of kind {model.kind} and speaks no {_SPEAKS[kind]}: ask "
            f"for {found.id!r}, or for tts-1."
        )
        raise invalid(message, "model", "wrong_model")
    return found


def _not_held(served: Catalogue, kind: str) -> ApiError:
    if served.lacks_some:
        return away("task_type")
    message = f"No engine here speaks {_SPEAKS[kind]}: a checkpoint of kind {kind} is needed."
    return ApiError(400, "task_not_served", message, field="task_type")
