"""The official `qwen_tts` package as a witness: the same requests, float32, greedy, step by step.

Proven with qwen-tts 0.1.1 and transformers 4.57.3, in an environment of their own.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from gpu_engine.models.attention import GrowingAttend
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptRequest, build_prompt
from gpu_engine.models.synthesis import GREEDY, Utterance, synthesise
from gpu_engine.verify.checks import (
    TEXT,
    TRANSCRIPT,
    Check,
    any_voice,
    reference_of,
    voice_like_tone,
)

# The package imports these for a tokenizer that these models do not use.
UNUSED = (
    "torchaudio",
    "torchaudio.compliance",
    "torchaudio.compliance.kaldi",
    "onnxruntime",
    "sox",
)


def reference_checks(package: Any, checkpoint: Checkpoint, frames: int) -> Iterator[Check]:
    """Prompt, hidden states, logits, codes and audio for every mode of the checkpoint's kind."""
    model = package.Qwen3TTSModel.from_pretrained(
        str(checkpoint.folder),
        dtype=torch.float32,
        attn_implementation="sdpa",
        device_map=str(checkpoint.talker.device),
    )
    for name, request in modes(checkpoint).items():
        witness = Witness(model.model)
        audio = _speak(model, checkpoint, request, frames + 1)
        witness.close()
        yield from _compare(name, checkpoint, request, witness, torch.from_numpy(audio), frames)


def import_reference() -> Any:
    """Raises ImportError where qwen_tts is not installed."""
    absent = {name for name in UNUSED if importlib.util.find_spec(name.split(".")[0]) is None}
    for name in sorted(absent):
        stand_in = types.ModuleType(name)
        stand_in.__spec__ = importlib.util.spec_from_loader(name, loader=None)
        sys.modules[name] = stand_in
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, stand_in)
    return importlib.import_module("qwen_tts")


def modes(checkpoint: Checkpoint) -> dict[str, PromptRequest]:
    """A request for every layout, language and voice rule that the kind has."""
    config = checkpoint.config
    voice = replace(any_voice(checkpoint), text=TEXT, layout="full")
    found = {"full text": voice, "streaming": replace(voice, layout="streaming")}
    found["language auto"] = replace(voice, language="auto")
    if config.kind == "custom_voice":
        found["instructions"] = replace(voice, instructions="Speak slowly and warmly.")
        for speaker, dialect in config.talker.spk_is_dialect.items():
            if dialect:
                name = f"dialect of {speaker}"
                found[name] = replace(voice, speaker=speaker, language="auto")
    if config.kind == "voice_design":
        found["no description"] = replace(voice, instructions="")
    reference = reference_of(checkpoint) if config.kind == "base" else None
    if reference is not None:
        found["in context, full text"] = replace(voice, reference=reference)
        found["in context, streaming"] = replace(voice, reference=reference, layout="streaming")
    return found


def _speak(model: Any, checkpoint: Checkpoint, request: PromptRequest, tokens: int) -> Any:
    """The package's own wrapper of the checkpoint's kind; returns float32 samples."""
    options: dict[str, Any] = {
        "text": request.text,
        "language": request.language,
        "non_streaming_mode": request.layout == "full",
        "max_new_tokens": tokens,
        "do_sample": False,
        "subtalker_dosample": False,
    }
    if checkpoint.config.kind == "base":
        options["ref_audio"] = voice_like_tone().numpy(), 24_000
        options["x_vector_only_mode"] = request.reference is None
        options["ref_text"] = TRANSCRIPT if request.reference else None
        return model.generate_voice_clone(**options)[0][0]
    if checkpoint.config.kind == "voice_design":
        return model.generate_voice_design(instruct=request.instructions, **options)[0][0]
    speak = model.generate_custom_voice
    return speak(speaker=request.speaker, instruct=request.instructions, **options)[0][0]


@dataclass
class Witness:
    """What flows through the package's Talker in one call, at the last position of each step."""

    core: Any
    inputs: list[Tensor] = field(default_factory=list)
    hidden: list[Tensor] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)
    trailing: list[Tensor] = field(default_factory=list)
    codes: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        talker = self.core.talker
        self._generate = self.core.generate
        self.core.generate = self._generated
        self._hooks = [
            talker.register_forward_pre_hook(self._called, with_kwargs=True),
            talker.model.register_forward_pre_hook(self._entered, with_kwargs=True),
            talker.model.register_forward_hook(self._left),
            talker.codec_head.register_forward_hook(self._headed),
        ]

    def close(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self.core.generate = self._generate

    def _generated(self, **options: Any) -> Any:
        result = self._generate(**options)
        self.codes = list(result[0])
        return result

    def _called(self, module: Any, values: Any, options: dict[str, Any]) -> None:
        if not self.trailing:
            self.trailing.append(options["trailing_text_hidden"].clone())

    def _entered(self, module: Any, values: Any, options: dict[str, Any]) -> None:
        self.inputs.append(options["inputs_embeds"].clone())

    def _left(self, module: Any, values: Any, output: Any) -> None:
        self.hidden.append(output.last_hidden_state[:, -1].clone())

    def _headed(self, module: Any, values: Any, output: Tensor) -> None:
        self.logits.append(output[:, -1].clone())


def _compare(
    name: str,
    checkpoint: Checkpoint,
    request: PromptRequest,
    witness: Witness,
    audio: Tensor,
    frames: int,
) -> Iterator[Check]:
    prompt = build_prompt(checkpoint, request)
    yield Check.close(f"{name}: prompt", prompt.inputs, witness.inputs[0][0])
    yield Check.close(f"{name}: text to come", prompt.trailing, witness.trailing[0][0])
    hidden, logits = _follow(checkpoint, witness.inputs)
    yield Check.close(f"{name}: hidden states", hidden, torch.stack(witness.hidden, 1))
    yield Check.close(f"{name}: logits", logits, torch.stack(witness.logits, 1))
    speech = synthesise(checkpoint, [Utterance(request, GREEDY, max_frames=frames)])[0]
    yield Check.equal(f"{name}: codes", speech.codes, witness.codes[0])
    yield Check.close(f"{name}: audio", speech.audio, audio)


@torch.inference_mode()
def _follow(checkpoint: Checkpoint, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Our hidden states and logits [1, steps, ...] on the package's inputs: no error adds up."""
    attend, hidden, start = GrowingAttend(), [], 0
    for step in inputs:
        positions = torch.arange(start, start + step.shape[1], device=step.device)[None]
        hidden.append(checkpoint.talker(step, positions, attend)[:, -1])
        start += step.shape[1]
    states = torch.stack(hidden, 1)
    return states, checkpoint.talker.logits(states)
