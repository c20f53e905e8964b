"""Batches for the Talker: which utterances are trained on, and epochs planned ahead."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gpu_engine.train.packing import Epoch, Mix, plan_epoch
from gpu_engine.train.runtime import World
from gpu_engine.train.store import HELD, SPEAKER, CodeStore

LEAST = 100  # utterances; a smaller corpus is trained on whole


@dataclass(frozen=True, slots=True)
class BatchShape:
    """`rows` times `length` positions a step, and what an epoch draws."""

    rows: int = 64
    length: int = 384
    seed: int = 1
    mix: Mix = field(default_factory=Mix)


class Feed:
    """Endless batches: the next epoch is planned on another thread while this one is used."""

    def __init__(self, store: CodeStore, shape: BatchShape, world: World) -> None:
        self._store, self._shape, self._world = store, shape, world
        self._pool = ThreadPoolExecutor(1)
        self.epoch, self.position = 0, 0
        self._next: Future[Epoch] | None = None
        self._planned: Epoch | None = None
        self._now: list[Tensor] = []

    def fill(self, slots: tuple[Tensor, Tensor, Tensor]) -> NDArray[np.int64]:
        """Copies the next batch into sample, place and style. Returns who speaks in it, as rows of
        the store's references."""
        rows = self._shape.rows
        if not self._now:
            self._begin(self._plan(self.epoch))
        while self.position + rows > len(self._now[0]):
            assert self._next is not None
            self.epoch, self.position = self.epoch + 1, 0
            self._begin(self._next.result())
        part = slice(self.position, self.position + rows)
        for slot, values in zip(slots, self._now, strict=True):
            slot.copy_(values[part])
        self.position += rows
        return self._speakers(part)

    def _begin(self, epoch: Epoch) -> None:
        self._planned, self._now = epoch, self._upload(epoch)
        self._next = self._pool.submit(self._plan, self.epoch + 1)

    def _speakers(self, part: slice) -> NDArray[np.int64]:
        store, epoch = self._store, self._planned
        assert epoch is not None
        sample = epoch.sample[part]
        begun = sample[(sample >= 0) & (epoch.place[part] == 0)]
        numbers, presets = store.rows[begun, SPEAKER], len(store.presets)
        return np.unique(np.where(numbers < presets, numbers, numbers - presets))

    def _plan(self, number: int) -> Epoch:
        shape, store = self._shape, self._store
        rng = np.random.default_rng([shape.seed, number, self._world.rank])
        samples = training_samples(store)
        plan = plan_epoch(store, samples, shape.length, shape.mix, rng)
        short = -len(plan.sample) % shape.rows if len(plan.sample) < shape.rows else 0
        padding = (0, short), (0, 0)
        return Epoch(
            np.pad(plan.sample, padding, constant_values=-1),
            np.pad(plan.place, padding),
            np.pad(plan.style, padding),
        )

    def _upload(self, epoch: Epoch) -> list[Tensor]:
        device = self._world.device
        arrays = epoch.sample, epoch.place, epoch.style
        return [torch.from_numpy(array).to(device) for array in arrays]


def training_samples(store: CodeStore, held_out: bool = False) -> NDArray[np.int64]:
    """Canonical spellings of the utterances that are trained on, or of those whose text is not."""
    held = store.rows[:: store.spellings, HELD] > 0
    spared = held & (len(held) >= LEAST)
    chosen: NDArray[np.int64] = np.flatnonzero(spared == held_out) * store.spellings
    return chosen
