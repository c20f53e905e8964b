"""What the Talker is shown before the first frame, for every voice kind and text layout.

`plan_prompt` is token arithmetic and needs no weights: it can run far from the device.
`embed_prompt` turns a plan into vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from gpu_engine.config import TtsConfig
from gpu_engine.errors import InvalidRequest
from gpu_engine.models.talker import Talker
from gpu_engine.models.tokenizer import TextTokenizer

# "reference_first" is our own, for clones in context: nothing of the target's text stands before
# the reference's last frame, so that all before it can be kept. The reference package interleaves.
Layout = Literal["full", "streaming", "reference_first"]
AUTO = "auto"
# A position without a codec id: text only, or a vector that is added by `embed_prompt`.
NO_CODE = -1


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording to imitate in context: its transcript and its codes, int [frames, groups]."""

    text: str
    codes: Tensor


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """One utterance. A CustomVoice checkpoint takes `speaker`; Base takes `embedding` [H] and
    perhaps `reference`; VoiceDesign takes `instructions` as the voice's description.
    """

    text: str
    language: str = AUTO
    speaker: str = ""
    embedding: Tensor | None = None
    reference: Reference | None = None
    instructions: str = ""
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """A prompt as ids. Position i is T(text_ids[i]), plus E(codec_ids[i]) unless NO_CODE, plus the
    speaker's vector at `vector_at`, plus the reference's frames from `frames_at` on.

    The first `prefix_length` positions depend on voice (a reference's transcript and frames, as far
    as the layout puts them first), language and instructions alone, never on the text. `trailing`
    are the text ids added to the frames, one each, before T(tts_pad) is.
    """

    text_ids: tuple[int, ...]
    codec_ids: tuple[int, ...]
    trailing: tuple[int, ...]
    pad_id: int
    text_tokens: int
    prefix_length: int
    vector_at: int | None = None
    frames_at: int | None = None
    reference_frames: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """`inputs` [L, H]; `trailing` [n, H], one vector per frame; `tts_pad` [H], after those."""

    inputs: Tensor
    trailing: Tensor
    tts_pad: Tensor
    text_tokens: int
    prefix_length: int


class Promptable(Protocol):
    """What `build_prompt` needs; a Checkpoint is one."""

    @property
    def config(self) -> TtsConfig: ...
    @property
    def talker(self) -> Talker: ...
    @property
    def tokenizer(self) -> TextTokenizer: ...


def build_prompt(checkpoint: Promptable, request: PromptRequest) -> Prompt:
    """Raises InvalidRequest naming the field that this checkpoint cannot serve."""
    plan = plan_prompt(checkpoint.config, checkpoint.tokenizer, request)
    talker, frames = checkpoint.talker, None
    if request.reference is not None:
        frames = talker.embed_frame(request.reference.codes.to(talker.device, torch.int64))
    return embed_prompt(talker, plan, request.embedding, frames)


def plan_prompt(config: TtsConfig, tokenizer: TextTokenizer, request: PromptRequest) -> PromptPlan:
    """Raises InvalidRequest naming the field that this checkpoint cannot serve."""
    check_request(config, request)
    text = tokenizer.encode(request.text)
    if not text:
        raise InvalidRequest("the text is empty", "text")
    plan = _Plan(config)
    if request.instructions and takes_instructions(config):
        plan.add_text(tokenizer.wrap_instruction(request.instructions))
    plan.add_text(tokenizer.role)
    _add_codec_prefix(plan, config, request)
    prefix = len(plan.text_ids)
    layout = request.layout or default_layout(config)
    if request.reference is not None:
        transcript = tokenizer.encode(request.reference.text)
        trailing, own = plan.add_reference(transcript, text, len(request.reference.codes), layout)
        prefix += own
    else:
        trailing = plan.add_target(text, layout)
    return PromptPlan(
        text_ids=tuple(plan.text_ids),
        codec_ids=tuple(plan.codec_ids),
        trailing=tuple(trailing),
        pad_id=config.text_ids.tts_pad,
        text_tokens=len(text),
        prefix_length=prefix,
        vector_at=plan.vector_at,
        frames_at=plan.frames_at,
        reference_frames=len(request.reference.codes) if request.reference else 0,
    )


def takes_instructions(config: TtsConfig) -> bool:
    """A voice is designed from nothing else. The small CustomVoice models were not trained with
    them: the reference drops them unread, and the shipped one would speak as if there were none."""
    small = config.size in ("0b6", "tiny")
    return config.kind == "voice_design" or (config.kind == "custom_voice" and not small)


def default_layout(config: TtsConfig) -> Layout:
    """What the reference wrapper of each kind uses when nothing is asked for."""
    return "streaming" if config.kind == "base" else "full"


def check_request(config: TtsConfig, request: PromptRequest) -> None:
    """Raises InvalidRequest where the voice or language does not fit the checkpoint's kind."""
    language = request.language.lower()
    if language != AUTO and language not in config.talker.codec_language_id:
        raise InvalidRequest(f"unknown language {request.language!r}", "language")
    if config.kind == "custom_voice" and request.speaker.lower() not in config.talker.spk_id:
        raise InvalidRequest(f"unknown speaker {request.speaker!r}", "voice")
    if config.kind != "custom_voice" and request.speaker:
        raise InvalidRequest(f"a {config.kind} model has no preset speakers", "voice")
    if config.kind == "base" and request.embedding is None:
        raise InvalidRequest("a base model needs a speaker embedding", "voice")
    if config.kind != "base" and (request.embedding is not None or request.reference is not None):
        raise InvalidRequest(f"a {config.kind} model cannot clone a voice", "voice")
    if request.embedding is not None:
        _check_embedding(config, request.embedding)
    if request.reference is not None:
        _check_reference(config, request.reference)


def _check_embedding(config: TtsConfig, embedding: Tensor) -> None:
    if tuple(embedding.shape) != (config.talker.hidden_size,):
        width = config.talker.hidden_size
        raise InvalidRequest(f"this model's speaker embeddings have {width} values", "voice")
    if not bool(embedding.isfinite().all()):
        raise InvalidRequest("the speaker embedding is not finite", "voice")


def _check_reference(config: TtsConfig, reference: Reference) -> None:
    codes, entries = reference.codes, config.talker.code_predictor_config.vocab_size
    if codes.ndim != 2 or not len(codes) or codes.shape[1] != config.talker.num_code_groups:
        raise InvalidRequest("reference codes are not [frames, code groups]", "voice")
    if int(codes.min()) < 0 or int(codes.max()) >= entries:
        raise InvalidRequest(f"reference codes are not all below {entries}", "voice")
    if not reference.text.strip():
        raise InvalidRequest("the reference has no transcript", "voice")


class _Plan:
    """The positions so far. Every position has a text id; most have a codec id."""

    def __init__(self, config: TtsConfig) -> None:
        self.text_ids: list[int] = []
        self.codec_ids: list[int] = []
        self.vector_at: int | None = None
        self.frames_at: int | None = None
        self._ids, self._codec = config.text_ids, config.talker

    def add(self, text: int, code: int) -> None:
        self.text_ids.append(text)
        self.codec_ids.append(code)

    def add_text(self, ids: list[int]) -> None:
        for text in ids:
            self.add(text, NO_CODE)

    def add_vector(self) -> None:
        self.vector_at = len(self.text_ids)
        self.add(self._ids.tts_pad, NO_CODE)

    def add_target(self, text: list[int], layout: Layout) -> list[int]:
        """Returns the trailing text ids."""
        if layout != "full":
            self.add(text[0], self._codec.codec_bos_id)
            return [*text[1:], self._ids.tts_eos]
        for token in (*text, self._ids.tts_eos):
            self.add(token, self._codec.codec_pad_id)
        self.add(self._ids.tts_pad, self._codec.codec_bos_id)
        return [self._ids.tts_pad]

    def add_reference(
        self, transcript: list[int], target: list[int], frames: int, layout: Layout
    ) -> tuple[list[int], int]:
        """Returns the trailing text ids, and how many positions are the reference's alone."""
        text = [*transcript, *target, self._ids.tts_eos]
        codes = [self._codec.codec_bos_id] + [NO_CODE] * frames
        own = min(len(transcript), frames)
        if layout == "reference_first":
            # The last frame's position is the first that speaks the target, and has its first id.
            pause = [self._ids.tts_pad] * (frames - len(transcript))
            text, own = [*transcript, *pause, *target, self._ids.tts_eos], frames
        if layout == "full":
            own = len(transcript)
            for token in text:
                self.add(token, self._codec.codec_pad_id)
            text = []
        self.frames_at = len(self.text_ids) + 1
        padding = [self._ids.tts_pad] * (len(codes) - len(text))
        for token, code in zip([*text, *padding], codes, strict=False):
            self.add(token, code)
        return text[len(codes) :] or [self._ids.tts_pad], own


def _add_codec_prefix(plan: _Plan, config: TtsConfig, request: PromptRequest) -> None:
    talker, pad = config.talker, config.text_ids.tts_pad
    language = language_id(config, request.language.lower(), request.speaker.lower())
    if language is None:
        head = [talker.codec_nothink_id, talker.codec_think_bos_id]
    else:
        head = [talker.codec_think_id, talker.codec_think_bos_id, language]
    for code in (*head, talker.codec_think_eos_id):
        plan.add(pad, code)
    if request.speaker:
        plan.add(pad, talker.spk_id[request.speaker.lower()])
    elif request.embedding is not None:
        plan.add_vector()
    plan.add(config.text_ids.tts_bos, talker.codec_pad_id)


def language_id(config: TtsConfig, language: str, speaker: str) -> int | None:
    """The codec id of a lower-case language; a speaker's dialect overrides chinese and auto."""
    languages = config.talker.codec_language_id
    dialect = config.talker.spk_is_dialect.get(speaker)
    if isinstance(dialect, str) and language in (AUTO, "chinese"):
        return languages[dialect]
    return None if language == AUTO else languages[language]


@torch.no_grad()
def embed_prompt(
    talker: Talker, plan: PromptPlan, vector: Tensor | None = None, frames: Tensor | None = None
) -> Prompt:
    """`vector` [H] fills the speaker slot, `frames` [frames, H] are the reference's, embedded."""
    ids = torch.tensor([*plan.text_ids, *plan.trailing, plan.pad_id], device=talker.device)
    texts = talker.embed_text(ids)
    inputs = texts[: len(plan.text_ids)].clone()
    codec = torch.tensor(plan.codec_ids, device=talker.device)
    coded = talker.codec_embedding(codec.clamp(min=0))
    inputs += coded.masked_fill((codec == NO_CODE)[:, None], 0.0)
    if plan.vector_at is not None and vector is not None:
        inputs[plan.vector_at] += vector.to(inputs)
    if plan.frames_at is not None and frames is not None:
        inputs[plan.frames_at : plan.frames_at + len(frames)] += frames
    trailing = texts[len(plan.text_ids) : -1]
    return Prompt(inputs, trailing, texts[-1], plan.text_tokens, plan.prefix_length)
