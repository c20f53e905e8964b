"""The plain loop: whole batches from prompt to audio, the measure of every other path.

Verification, parity tests and training evaluation use it; serving has its own runner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gpu_engine.config import SamplingConfig
from gpu_engine.models.attention import GrowingAttend, left_padded_positions
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.prompt import Prompt, PromptRequest, build_prompt
from gpu_engine.models.sampling import (
    RowSampling,
    SpeechRules,
    choose_multinomial,
    choose_seeded,
    talker_scores,
    uniform_noise,
)
from gpu_engine.models.talker import Talker

GREEDY = SamplingConfig(do_sample=False, subtalker_dosample=False)


@dataclass(frozen=True, slots=True)
class Utterance:
    """One row: its prompt, how to draw its codes, and when to give up waiting for its end."""

    prompt: PromptRequest
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    seed: int = 0
    max_frames: int = 2047


@dataclass(frozen=True, slots=True)
class Speech:
    """`codes` int64 [frames, groups], `audio` float32 [samples] at 24 kHz; `stopped` is false where
    the frame cap ended it.
    """

    codes: Tensor
    audio: Tensor
    stopped: bool


class Draws:
    """Chooses every code of a batch and keeps the history that the choice depends on."""

    def __init__(self, talker: Talker, rows: Sequence[Utterance], reference: bool = False) -> None:
        """`reference`: torch's global generator in the reference's order instead of row seeds."""
        device, settings = talker.device, [row.sampling for row in rows]
        self._talker_rows = RowSampling.of(settings, device)
        self._predictor_rows = RowSampling.of_predictor(settings, device)
        self._rules = SpeechRules.of(talker.config, device)
        self._reference = reference
        self._groups = talker.config.num_code_groups
        self._seen = torch.zeros(
            len(rows), talker.config.vocab_size, dtype=torch.bool, device=device
        )
        self._seeds = torch.tensor([_signed(row.seed) for row in rows], device=device)
        self._frame = torch.full((len(rows),), -1, dtype=torch.int64, device=device)
        self._noise = torch.empty(0)

    def code0(self, logits: Tensor) -> Tensor:
        """Opens the next frame: ids [B] from code-0 logits [B, V]."""
        self._frame += 1
        self._noise = uniform_noise(self._seeds, self._frame, self._groups)
        penalty = self._talker_rows.repetition_penalty
        scores = talker_scores(logits, self._seen, self._frame, penalty, self._rules)
        chosen = self._choose(scores, self._talker_rows, 0)
        self._seen.scatter_(1, chosen[:, None], True)
        return chosen

    def code(self, group: int, logits: Tensor) -> Tensor:
        """Code `group` (1..15) of the open frame."""
        return self._choose(logits.float(), self._predictor_rows, group)

    def _choose(self, scores: Tensor, rows: RowSampling, group: int) -> Tensor:
        if self._reference:
            return choose_multinomial(scores, rows)
        return choose_seeded(scores, rows, self._noise[:, group])


def _signed(seed: int) -> int:
    """A 64-bit pattern as torch's int64 holds it."""
    return (seed + 2**63) % 2**64 - 2**63


def synthesise(
    checkpoint: Checkpoint, rows: Sequence[Utterance], *, reference_draws: bool = False
) -> list[Speech]:
    """All rows as one batch, prompts padded on the left. Raises InvalidRequest for a bad row."""
    prompts = [build_prompt(checkpoint, row.prompt) for row in rows]
    draws = Draws(checkpoint.talker, rows, reference_draws)
    codes = generate(checkpoint.talker, prompts, draws, [row.max_frames for row in rows])
    return [
        Speech(frames, _decode(checkpoint.codec_decoder, row.prompt, frames), stopped)
        for row, (frames, stopped) in zip(rows, codes, strict=True)
    ]


def _decode(decoder: CodecDecoder, request: PromptRequest, frames: Tensor) -> Tensor:
    """A reference's codes are decoded ahead of the frames and their audio cut off exactly."""
    if not len(frames):
        return torch.zeros(0, device=frames.device)
    heard = 0
    if request.reference is not None:
        reference = request.reference.codes.to(frames)
        frames, heard = torch.cat([reference, frames]), len(reference)
    audio = decoder.decode(frames.T[None])[0]
    return audio[heard * decoder.config.samples_per_frame :]


@torch.inference_mode()
def generate(
    talker: Talker, prompts: Sequence[Prompt], draws: Draws, max_frames: Sequence[int]
) -> list[tuple[Tensor, bool]]:
    """Every row's codes int64 [frames, groups], and whether it ended by itself."""
    inputs, lengths = _pad_left(prompts)
    attend = GrowingAttend(lengths)
    positions = left_padded_positions(lengths, inputs.shape[1])
    hidden = talker(inputs, positions, attend)[:, -1]
    code0, frames = draws.code0(talker.logits(hidden)), []
    limits = torch.tensor(max_frames, device=talker.device)
    ends = torch.full_like(limits, max(max_frames))
    end_id = talker.config.codec_eos_token_id
    for index in range(max(max_frames)):
        ends = torch.where(code0 == end_id, ends.clamp(max=index), ends)
        if bool((ends.minimum(limits) <= index).all()):
            break
        embedded = talker.codec_embedding(code0)
        codes = talker.code_predictor.frame(hidden, embedded, draws.code)
        frames.append(torch.cat([code0[:, None], codes], 1))
        step = talker.embed_frame(frames[-1]) + _texts(prompts, index)
        hidden = talker(step[:, None], (lengths + index)[:, None], attend)[:, 0]
        code0 = draws.code0(talker.logits(hidden))
    stopped = (ends <= limits) & ((ends < len(frames)) | (code0 == end_id))
    return _cut(frames, ends.minimum(limits), stopped)


def _cut(frames: list[Tensor], ends: Tensor, stopped: Tensor) -> list[tuple[Tensor, bool]]:
    every = torch.stack(frames, 1)
    cuts = zip(every, ends.tolist(), stopped.tolist(), strict=True)
    return [(row[:end].clone(), bool(done)) for row, end, done in cuts]


def _pad_left(prompts: Sequence[Prompt]) -> tuple[Tensor, Tensor]:
    """Inputs [B, longest, H] with zeros before shorter prompts, and the lengths [B]."""
    longest = max(len(prompt.inputs) for prompt in prompts)
    inputs = torch.stack(
        [
            torch.nn.functional.pad(prompt.inputs, (0, 0, longest - len(prompt.inputs), 0))
            for prompt in prompts
        ]
    )
    lengths = [len(prompt.inputs) for prompt in prompts]
    return inputs, torch.tensor(lengths, device=inputs.device)


def _texts(prompts: Sequence[Prompt], frame: int) -> Tensor:
    """[B, H]: the text vector that each row adds to its frame's codes."""
    return torch.stack(
        [
            prompt.trailing[frame] if frame < len(prompt.trailing) else prompt.tts_pad
            for prompt in prompts
        ]
    )
