"""One stream on the device side: its prompt, its settings and where it stands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from hashlib import sha256

import torch
from torch import Tensor

from gpu_engine.audio import LeadingSilence
from gpu_engine.config import SamplingConfig
from gpu_engine.models.prompt import PromptPlan
from gpu_engine.models.sampling import uniform_noise
from gpu_engine.runner.parts import Part

NOISE_FRAMES = 64


@dataclass(slots=True, eq=False)
class Session:
    """`slot` and `inputs` (the prompt's vectors [L, H]) are set when the slot is taken, and with
    them `parts`, what each prefill still has to read of it. `position` is the next KV position,
    `frames` the frames made, `decoded` the frames turned into audio, `trailing` [n, H] the text
    vectors still to come."""

    plan: PromptPlan
    sampling: SamplingConfig
    seed: int
    vector: Tensor | None = None
    codes: Tensor | None = None
    silence: LeadingSilence = field(default_factory=LeadingSilence)
    slot: int = -1
    inputs: Tensor | None = None
    parts: deque[tuple[Part, ...]] = field(default_factory=deque)
    position: int = 0
    frames: int = 0
    decoded: int = 0
    trailing: Tensor | None = None
    pad: Tensor | None = None
    unembedded: list[int] = field(default_factory=list)
    _noise: Tensor | None = None
    _voice: bytes | None = None

    @property
    def voice(self) -> bytes:
        """Equal for equal clones, whatever they are called; empty for a voice of the checkpoint."""
        if self._voice is None:
            self._voice = _digest(self.vector, self.codes)
        return self._voice

    def text_vector(self) -> Tensor:
        """What the step after the newest frame adds to it, [H]: nothing before the first, whose
        input is the prompt's own last position."""
        assert self.trailing is not None, "a slot comes first"
        assert self.pad is not None, "a slot comes first"
        if not self.frames:
            return torch.zeros_like(self.pad)
        index = self.frames - 1
        return self.trailing[index] if index < len(self.trailing) else self.pad

    def prompt_inputs(self) -> Tensor:
        """[L, H], the whole prompt."""
        assert self.inputs is not None, "a slot comes first"
        return self.inputs

    def noise(self, groups: int, device: torch.device) -> Tensor:
        """Uniform numbers [groups] of the frame being made, from the seed and its index alone."""
        offset = self.frames % NOISE_FRAMES
        if self._noise is None or offset == 0:
            frames = torch.arange(self.frames, self.frames + NOISE_FRAMES, device=device)
            seeds = torch.full_like(frames, _signed(self.seed))
            self._noise = uniform_noise(seeds, frames, groups)
        return self._noise[offset]


def _digest(vector: Tensor | None, codes: Tensor | None) -> bytes:
    if vector is None:
        return b""
    digest = sha256(vector.float().cpu().numpy().tobytes())
    if codes is not None:
        digest.update(codes.cpu().numpy().tobytes())
    return digest.digest()


def _signed(seed: int) -> int:
    """A 64-bit pattern as the int64 that tensors hold."""
    return seed - (1 << 64) if seed >> 63 else seed
