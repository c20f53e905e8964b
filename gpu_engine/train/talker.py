"""Trains the Talker, the Code Predictor and the speaker encoder on encoded speech."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gpu_engine.config import SpeakerEncoderConfig, TtsConfig
from gpu_engine.models.speaker import SpeakerEncoder
from gpu_engine.models.talker import Talker
from gpu_engine.train.feed import BatchShape, Feed, training_samples
from gpu_engine.train.objective import Learner, Weights, initialise
from gpu_engine.train.packing import plan_epoch
from gpu_engine.train.runtime import (
    WARM_UP_CALLS,
    Captured,
    Clock,
    FlatGradients,
    Schedule,
    World,
    agreed,
    share_weights,
)
from gpu_engine.train.sequence import SequenceBuilder
from gpu_engine.train.store import CodeStore


@dataclass(frozen=True, slots=True)
class Settings:
    """A run ends after `seconds`, or after `steps` if that is set."""

    seconds: float = 540.0
    steps: int = 0
    rate: float = 2e-3
    decay: float = 0.02
    warm_up: int = 200
    clip: float = 1.0
    average: float = 0.999
    shape: BatchShape = field(default_factory=BatchShape)
    picks: int = 32  # speaker vectors renewed in a step
    guide: float = 1.0
    guide_share: float = 0.35  # of the run, after which guidance has faded to nothing
    seed: int = 1
    capture: bool = True
    compile: bool = True
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True, slots=True)
class Slots:
    """The tensors that a captured step reads its batch from."""

    sample: Tensor
    place: Tensor
    style: Tensor
    picks: Tensor
    guidance: Tensor

    @classmethod
    def empty(cls, settings: Settings, device: torch.device) -> Slots:
        shape = settings.shape.rows, settings.shape.length
        return cls(
            torch.full(shape, -1, dtype=torch.int32, device=device),
            torch.zeros(shape, dtype=torch.int16, device=device),
            torch.zeros(shape, dtype=torch.uint8, device=device),
            torch.zeros(settings.picks, dtype=torch.int64, device=device),
            torch.zeros((), device=device),
        )


class Trainer:
    """One run's state: weights, their average, the optimiser and where it stands."""

    def __init__(
        self,
        config: TtsConfig,
        role: list[int],
        store: CodeStore,
        settings: Settings,
        world: World,
        speaker: SpeakerEncoderConfig | None = None,
    ) -> None:
        self.settings, self.world, self.store = settings, world, store
        torch.manual_seed(settings.seed)
        talker = Talker(config.talker)
        encoder = SpeakerEncoder(speaker) if speaker is not None else None
        initialise(talker, encoder, settings.seed)
        words = config.text_ids.im_start  # what is added to the vocabulary lies above
        learner = Learner(talker, encoder, store.capacity.speakers, settings.weights, words)
        self.learner = learner.to(world.device).train()
        share_weights(self.learner, world)
        self.builder = SequenceBuilder(config, role, store)
        self.slots = Slots.empty(settings, world.device)
        self.feed = Feed(store, settings.shape, world)
        self.report = torch.zeros(len(learner.figures), device=world.device)
        self._unguided = torch.zeros((), device=world.device)
        self.parameters = [p for p in self.learner.parameters() if p.requires_grad]
        self._values = [p.detach() for p in self.parameters]
        self.average = [value.clone() for value in self._values]
        self.gradients = FlatGradients(self.parameters, world)
        self.optimiser = _optimiser(self.parameters, settings, world)
        self.step, self.clock = 0, Clock()
        self.pause_after = float("inf")  # seconds of training
        self._elapsed, self._asked = 0.0, -1
        if world.device.type == "cuda":
            # cuDNN's attention plans anew for masks; the memory-efficient kernel takes them as is.
            torch.backends.cuda.enable_cudnn_sdp(False)
        if settings.compile and world.device.type == "cuda":
            learner.run = torch.compile(learner.losses, dynamic=False)
        capture = settings.capture and world.device.type == "cuda"
        self._backward = Captured(self._pass, world) if capture else self._pass

    def _pass(self) -> None:
        """Gradients of the batch in the slots; what a graph captures."""
        slots, learner = self.slots, self.learner
        self.gradients.zero()
        with torch.no_grad():
            rows = self.builder(slots.sample, slots.place, slots.style)
            mels = self._mels(slots.picks)
        with torch.autocast(self.world.device.type, torch.bfloat16, self._half):
            report, vectors = learner(rows, mels, slots.picks, slots.guidance)
        report[0].backward()
        self.report.copy_(report.detach())
        learner.vectors.copy_(vectors)

    @property
    def _half(self) -> bool:
        return self.world.device.type == "cuda"

    def _mels(self, picks: Tensor) -> Tensor:
        """A random recording of each picked speaker."""
        counts = self.store.reference_counts[picks]
        drawn = (torch.rand(len(picks), device=picks.device) * counts).long()
        return self.store.references[picks, drawn].float()

    def prepare(self) -> None:
        """Compiles and captures the step on an empty batch, while data is still being made."""
        for _ in range(WARM_UP_CALLS + 1):
            self._backward()
        self.learner.vectors.zero_()

    def advance(self) -> None:
        """One step of training."""
        settings, step = self.settings, self.step
        slots = self.slots
        self._pick(step, self.feed.fill((slots.sample, slots.place, slots.style)))
        done = self.done()
        slots.guidance.fill_(settings.guide * max(0.0, 1 - done / settings.guide_share))
        torch.manual_seed((settings.seed * 1_000_003 + step) * 64 + self.world.rank)
        self._backward()
        self.gradients.average()
        self.gradients.clip(settings.clip)
        budget = Schedule(settings.rate, 1.0, settings.warm_up, 0.02)
        for group in self.optimiser.param_groups:
            group["lr"] = budget.rate(step, done)
        self.optimiser.step()
        share = 1 - min(settings.average, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.average, self._values, share)
        self.step += 1

    def _pick(self, step: int, speaking: NDArray[np.int64]) -> None:
        """Those that the batch needs come first: only they teach the encoder."""
        known = np.flatnonzero(self.store.known)
        if self.learner.speaker is not None and len(known):
            rng = np.random.default_rng([self.settings.seed, step, self.world.rank])
            needed = rng.permutation(np.intersect1d(speaking, known))
            others = rng.permutation(np.setdiff1d(known, needed))
            drawn = np.concatenate([needed, others])[: self.settings.picks]
            filled = np.resize(drawn, self.settings.picks)
            self.slots.picks.copy_(torch.from_numpy(filled), non_blocking=True)

    def done(self) -> float:
        """How much of the budget is used, 0 to 1; the first rank's clock decides."""
        if self.settings.steps:
            return min(1.0, self.step / self.settings.steps)
        if self.world.size == 1:
            self._elapsed = self.clock.elapsed()
        elif self._asked != self.step and (self.step % 25 == 0 or not self._half):
            self._asked = self.step
            self._elapsed = agreed(self.clock.elapsed(), self.world)
        return min(1.0, self._elapsed / self.settings.seconds)

    @property
    def paused(self) -> bool:
        """As of the last call of `done`, so that all ranks agree."""
        return self._elapsed >= self.pause_after

    @contextmanager
    def averaged(self) -> Iterator[nn.Module]:
        """Inside, the learner has the averaged weights."""
        kept = [p.detach().clone() for p in self.parameters]
        self._set(self.average)
        self.learner.eval()
        try:
            yield self.learner
        finally:
            self._set(kept)
            self.learner.train()

    @torch.no_grad()
    def _set(self, values: list[Tensor]) -> None:
        for parameter, value in zip(self.parameters, values, strict=True):
            parameter.copy_(value)

    @property
    def held_out(self) -> NDArray[np.int64]:
        return training_samples(self.store, held_out=True)

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Losses on texts that are never trained on, with the averaged weights."""
        settings, device = self.settings, self.world.device
        rng = np.random.default_rng(settings.seed)
        held = self.held_out[:2000]
        shape = settings.shape
        mix = replace(shape.mix, plain=1.0)
        plan = plan_epoch(self.store, held, shape.length, mix, rng)
        part = [
            torch.from_numpy(array[: shape.rows]).to(device)
            for array in (plan.sample, plan.place, plan.style)
        ]
        torch.manual_seed(settings.seed)
        with self.averaged(), torch.autocast(device.type, torch.bfloat16, self._half):
            rows = self.builder(*part)
            report = self.learner.losses(self.learner.vectors, self._unguided, *rows.tensors())
        figures = zip(self.learner.figures, report.tolist(), strict=True)
        return {f"held_out_{name}": value for name, value in figures}


def _optimiser(
    parameters: list[nn.Parameter], settings: Settings, world: World
) -> torch.optim.Optimizer:
    matrices = [p for p in parameters if p.ndim > 1]
    others = [p for p in parameters if p.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": settings.decay},
        {"params": others, "weight_decay": 0.0},
    ]
    fused = world.device.type == "cuda"
    return torch.optim.AdamW(groups, settings.rate, (0.9, 0.98), eps=1e-8, fused=fused)
