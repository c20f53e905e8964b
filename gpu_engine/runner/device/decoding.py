"""The codec's lane: which frames of which slots become audio, and the audio's way to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from gpu_engine.kernels.slots import Arena
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.runner.device.lanes import Lane, Pending, Reader, Replay, outcome
from gpu_engine.runner.device.module_codec import ModuleCodec
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.memory import tensors_of
from gpu_engine.runner.protocol import Outcome, Slots

if TYPE_CHECKING:
    from gpu_engine.runner.device.codec import CodecArena
    from gpu_engine.runner.device.codec_weights import CodecWeights

Step = Callable[[Tensor, Tensor, Tensor], Tensor]


class Framed:
    """Which jobs made the frames that are decoded next: nothing else is waited for. The job before
    a slot's last is looked at where that makes a frame that nobody asks for yet."""

    def __init__(self, slots: int) -> None:
        self._made = np.zeros(slots, np.int64)
        self._heard = np.zeros(slots, np.int64)
        self._ends = np.full((2, slots), None, object)

    def open(self, slot: int) -> None:
        self._made[slot] = self._heard[slot] = 0
        self._ends[:, slot] = None

    def launch(self, slots: Slots, job: Pending) -> None:
        self._made[slots] += 1
        self._ends[0, slots] = self._ends[1, slots]
        self._ends[1, slots] = job.end

    def decode(self, slots: Slots, frames: int) -> Iterable[Any]:
        """The ends of jobs that the next frames of these slots come from."""
        self._heard[slots] += frames
        last = (self._made[slots] <= self._heard[slots]).astype(np.int64)
        return {id(end): end for end in self._ends[last, slots].tolist()}.values()


class Decoding:
    """Graphs by rows and frames; a chunk of another length is padded to the next by the kernels,
    the modules take any length as it is."""

    def __init__(self, decoder: CodecDecoder, arena: Arena, plan: Plan, most: int) -> None:
        device = arena.hidden.device
        self._arena, self._plan = arena, plan
        # Audio is what somebody waits for; beside a lone step a decode took three times as long.
        self.lane = Lane(device, most, arena.scratch, urgent=True)
        self._framed = Framed(plan.slots)
        self._done = torch.zeros(plan.slots + 1, dtype=torch.int64, device=device)
        self._real = torch.ones(1, dtype=torch.int64, device=device)
        self._real_staged = self.lane.ring((1,), torch.int64)
        self._samples = decoder.config.samples_per_frame
        self._out: dict[tuple[int, int], Tensor] = {}
        most_samples = plan.codec_rows[-1] * plan.codec_frames[-1] * self._samples
        self._heard = self.lane.ring((most_samples,), torch.float32)
        self._replays: dict[tuple[int, int], Replay] = {}
        self._steps: dict[tuple[int, int], Step] = {}
        self._make, self._memory, self.weights = self._codec(decoder)
        shapes = [(r, f) for r in plan.codec_rows for f in plan.codec_frames]
        for rows, frames in shapes:
            self._capture(rows, frames)
        self._opened = torch.full((1,), arena.scratch, dtype=torch.int64, device=device)
        self._forget = self.lane.capture(self._fresh)

    def _fresh(self) -> None:
        self._memory.reset(self._opened)
        self._done.index_fill_(0, self._opened, 0)

    def _codec(
        self, decoder: CodecDecoder
    ) -> tuple[Callable[[int, int], Step], ModuleCodec | CodecArena, CodecWeights | None]:
        plan = self._plan
        if plan.codec == "module":
            module = ModuleCodec(decoder, plan.slots)
            return (lambda _rows, _frames: module), module, None
        from gpu_engine.runner.device.codec import CodecArena, CodecStep
        from gpu_engine.runner.device.codec_weights import CodecWeights

        weights = CodecWeights(decoder, plan.codec_dtype)
        memory = CodecArena(weights, plan.slots)

        def make(rows: int, frames: int) -> Step:
            return CodecStep(weights, memory, rows, frames)

        return make, memory, weights

    def _capture(self, rows: int, frames: int) -> None:
        key, arena = (rows, frames), self._arena
        step = self._steps[key] = self._make(rows, frames)
        device = arena.hidden.device
        out = self._out[key] = torch.zeros(rows, frames * self._samples, device=device)
        steps = torch.arange(frames, device=device)
        last = arena.codes.shape[1] - 1
        self._real.fill_(frames)

        def run() -> None:
            slots = self.lane.slots[:rows]
            places = (self._done[slots][:, None] + steps).clamp(max=last)
            out.copy_(step(slots, arena.codes[slots[:, None], places], self._real))
            self._done.index_add_(0, slots, self._real.expand(rows))
            self._done[-1].zero_()

        self._replays[key] = self.lane.capture(run)

    @property
    def state(self) -> tuple[Tensor, ...]:
        """Every slot's memory."""
        memory = self._memory
        kept = memory.state if isinstance(memory, ModuleCodec) else memory
        return tensors_of(kept, self._done)

    @torch.inference_mode()
    def open(self, slot: int, heard: Sequence[Tensor] | None) -> None:
        """A fresh memory, or one that has `heard` a reference."""
        self._framed.open(slot)
        with self.lane.here():
            self._opened.fill_(slot)
            self._forget()
            if heard is not None:
                self._memory.load(slot, heard)

    def framed(self, slots: Slots, job: Pending) -> None:
        """A frame of each was launched, elsewhere."""
        self._framed.launch(slots, job)

    @property
    def most_heard(self) -> int:
        """Frames of a reference that one call of `hear` takes."""
        return self._plan.codec_frames[-1]

    @torch.inference_mode()
    def hear(self, slot: int, codes: Tensor, main: Lane) -> Pending:
        """The next frames of a reference: a clone in context goes on where its audio ends."""
        size, device, rows = self.most_heard, self._done.device, self._plan.codec_rows[0]
        assert rows == 1, "one row is always a captured batch"
        step = self._steps[rows, size]
        self.lane.follow(main)

        def run() -> None:
            # The modules take a part as it is; the kernels a whole chunk, of which it is real.
            real = torch.full((1,), len(codes), dtype=torch.int64, device=device)
            padding = 0 if self._plan.codec == "module" else size - len(codes)
            frames = torch.nn.functional.pad(codes.to(device, torch.int64), (0, 0, 0, padding))
            step(self.lane.slots[:1], frames[None], real)

        return self.lane.launch(np.array([slot]), 1, run, lambda _: partial(outcome, 1))

    @torch.inference_mode()
    def heard(self, slot: int) -> list[Tensor]:
        """What a slot's codec remembers now, for others that begin with the same."""
        with self.lane.here():
            return self._memory.save(slot)

    def launch(self, slots: Slots, frames: int) -> Pending:
        rows = next(size for size in self._plan.codec_rows if size >= len(slots))
        key = rows, self._padded(frames)
        if key not in self._replays:
            self._capture(*key)
        self.lane.after(self._framed.decode(slots, frames))

        def replay() -> None:
            self._real.fill_(frames)
            self._replays[key]()

        def read(turn: int) -> Reader:
            out = self._out[key]
            heard = self._heard[turn][: out.numel()].view(out.shape)
            heard.copy_(out, non_blocking=True)
            cut = frames * self._samples
            return lambda seconds: _audio(heard[: len(slots), :cut], seconds)

        return self.lane.launch(slots, rows, replay, read)

    def _padded(self, frames: int) -> int:
        if self._plan.codec == "module":
            return frames
        return next(size for size in self._plan.codec_frames if size >= frames)


def _audio(heard: Tensor, seconds: float) -> Outcome:
    audio = heard.numpy().copy()
    broken = ~np.isfinite(audio).all(1)
    return Outcome(seconds, np.zeros_like(broken), broken, audio)
