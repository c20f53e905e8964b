"""Modules of official shape and random weights, in every variant, ready to be checked and timed.

A trial is built on a device, or on `meta` to compile its kernels ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gpu_engine.bench import cuts, kernel_trials
from gpu_engine.bench.official import (
    CODEC,
    TALKERS,
    narrow,
    narrow_codec,
    random_codec,
    random_talker,
)
from gpu_engine.config import CodecDecoderConfig, SamplingConfig, TalkerConfig
from gpu_engine.kernels.ops import Ops, make_ops
from gpu_engine.kernels.slots import Arena, arena_for
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.talker import Talker
from gpu_engine.runner.device.frame import FrameStep, FrameWeights
from gpu_engine.runner.device.module_codec import ModuleCodec
from gpu_engine.runner.device.talker import TalkerStep

CODEC_KINDS = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32}
SPARE = 16  # positions and frames behind the context
Run = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Trial:
    """One module in one variant at one batch. `frames` counts a codec decode's, 0 elsewhere."""

    module: str
    variant: str
    rows: int
    frames: int = 0

    @property
    def name(self) -> str:
        chunk = f" x {self.frames} frames" if self.frames else ""
        return f"{self.module} {self.variant}, {self.rows} rows{chunk}"


@dataclass(frozen=True, slots=True)
class Built:
    """`run` is what a graph holds, a kernel `repeats` times; `reset` puts counters back, outside
    the time. `outcome` tells what the last run made, for comparison; `reference` what it should
    be, where it is not a whole module's."""

    run: Run
    reset: Run
    outcome: Callable[[], Tensor]
    reference: Callable[[], Tensor] | None = None
    repeats: int = 1


class World:
    """The modules on one device, made when first asked for; all variants share their weights.
    `slots`: of an arena that has more than a trial's rows, as an engine's."""

    def __init__(
        self, size: str, device: torch.device, small: bool, context: int, slots: int = 0
    ) -> None:
        config: TalkerConfig = TALKERS[size]
        self.talker_config = narrow(config) if small else config
        self.codec_config: CodecDecoderConfig = narrow_codec(CODEC) if small else CODEC
        self.device, self.small, self.context = device, small, context
        self._slots = slots
        self.dtype = torch.bfloat16 if device.type != "cpu" else torch.float32

    @cached_property
    def talker(self) -> Talker:
        return random_talker(self.talker_config, self.device, self.dtype)

    @cached_property
    def codec(self) -> CodecDecoder:
        return random_codec(self.codec_config, self.device)

    @cached_property
    def frame_weights(self) -> dict[bool, FrameWeights]:
        return {}

    def weights(self, fp8: bool) -> FrameWeights:
        found = self.frame_weights
        if fp8 not in found:
            found[fp8] = FrameWeights(self.talker, fp8)
        return found[fp8]

    def arena(self, rows: int, dtype: torch.dtype | None = None) -> Arena:
        """`rows` streams in the middle of speech, the same numbers in any dtype."""
        like = torch.empty(0, device=self.device, dtype=dtype or self.dtype)
        slots = max(rows, self._slots)
        arena = arena_for(self.talker_config, slots, self.context + SPARE, 2, like)
        if self.device.type == "meta":
            return arena
        generator = torch.Generator(self.device).manual_seed(17)
        for tensor in (arena.hidden, arena.next_input, arena.keys, arena.values):
            for part in tensor if tensor.ndim > 2 else [tensor]:
                noise = torch.randn(part.shape, generator=generator, device=self.device)
                part.copy_(noise.bfloat16() if self.dtype == torch.bfloat16 else noise)
        for slot in range(rows):
            arena.open(slot, 1000 + slot, SamplingConfig())
        return arena

    def slots(self, rows: int) -> Tensor:
        return torch.arange(rows, device=self.device)


def operators(world: World, variant: str) -> Ops:
    """`fused`, `early`, `library`, `plain`, or one with a tuning ("early:deep"), each with an
    optional "-fp8" that is not looked at here."""
    name, _, tuning = variant.removesuffix("-fp8").partition(":")
    if world.device.type == "cpu" and name != "plain":
        return make_ops(name, cuts.coarse())  # type: ignore[arg-type]
    return make_ops(name, cuts.tunings()[tuning] if tuning else None)  # type: ignore[arg-type]


def build(world: World, trial: Trial) -> Built:
    """Raises whatever a variant that does not work raises."""
    with torch.inference_mode():
        match trial.module:
            case "talker":
                return _talker(world, trial)
            case "predictor":
                return _predictor(world, trial)
            case "codec":
                return _codec(world, trial)
            case "kernel":
                return _kernel(world, trial)
    raise ValueError(trial.module)


def _talker(world: World, trial: Trial) -> Built:
    arena, slots = world.arena(trial.rows), world.slots(trial.rows)
    ops, fp8 = operators(world, trial.variant), trial.variant.endswith("-fp8")
    step = TalkerStep(world.talker, arena, ops, fp8)

    def reset() -> None:
        arena.position[:-1] = world.context
        arena.frames[:-1] = 1

    return Built(lambda: step(slots), reset, lambda: arena.hidden[:-1].clone())


def talker_reference(world: World, rows: int, dtype: torch.dtype) -> Tensor:
    """Hidden states [rows, H] by plain PyTorch in `dtype`."""
    talker = world.talker if dtype == world.dtype else _cast(world.talker, dtype)
    arena = world.arena(rows, dtype)
    arena.position[:-1] = world.context
    arena.frames[:-1] = 1
    with _tf32(False):
        TalkerStep(talker, arena, make_ops("plain"))(world.slots(rows))
    return arena.hidden[:-1].clone()


def _cast(talker: Talker, dtype: torch.dtype) -> Talker:
    with torch.device("meta"):
        other = Talker(talker.config)
    state = {name: tensor.to(dtype) for name, tensor in talker.state_dict().items()}
    other.load_state_dict(state, assign=True, strict=False)
    return other.eval().requires_grad_(False)


class Recorded:
    """Ops that keep the logits of a frame's last draw, or take every code from `given`."""

    def __init__(self, ops: Ops, given: Tensor | None = None) -> None:
        self.ops, self.given = ops, given
        self.logits = torch.empty(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ops, name)

    def draw_code(
        self,
        logits: Tensor,
        arena: Arena,
        rows: Tensor,
        codes: Tensor,
        group: int,
        table: Tensor | None,
    ) -> Tensor:
        self.logits = logits
        if self.given is None:
            return self.ops.draw_code(logits, arena, rows, codes, group, table)
        codes[:, group] = self.given[:, group]
        return logits if table is None else table[codes[:, group]]


def _predictor(world: World, trial: Trial) -> Built:
    arena, slots = world.arena(trial.rows), world.slots(trial.rows)
    fp8 = trial.variant.endswith("-fp8")
    form = _form(trial.variant)
    recorded: Any = Recorded(operators(world, trial.variant.replace("folded", "library")))
    frame = form(world.weights(fp8), arena, recorded, trial.rows)

    def reset() -> None:
        arena.frames[:-1] = 0

    def outcome() -> Tensor:
        """Last logits and the codes that led to them, [rows, vocabulary + groups]."""
        return torch.cat([recorded.logits.float(), arena.codes[:-1, 0].float()], 1)

    return Built(lambda: frame(slots), reset, outcome)


def _form(variant: str) -> type[FrameStep]:
    if not variant.startswith("folded"):
        return FrameStep
    from gpu_engine.runner.device.folded import FoldedFrame

    return FoldedFrame


def predictor_reference(world: World, rows: int, codes: Tensor, dtype: torch.dtype) -> Tensor:
    """The last draw's logits [rows, V] by plain PyTorch, fed with `codes` [rows, groups]."""
    talker = world.talker if dtype == world.dtype else _cast(world.talker, dtype)
    arena = world.arena(rows, dtype)
    recorded: Any = Recorded(make_ops("plain"), codes.long())
    with _tf32(False):
        FrameStep(FrameWeights(talker), arena, recorded, rows)(world.slots(rows))
    logits: Tensor = recorded.logits
    return logits


def _codec(world: World, trial: Trial) -> Built:
    slots, rows = world.slots(trial.rows), trial.rows
    codes = codec_codes(world, rows, trial.frames)
    real = torch.full((1,), trial.frames, dtype=torch.int64, device=world.device)
    out: list[Tensor] = []
    step: Any
    if trial.variant == "module":
        step = ModuleCodec(world.codec, rows)
    else:
        from gpu_engine.runner.device.codec import CodecArena, CodecStep
        from gpu_engine.runner.device.codec_weights import CodecWeights

        kind, _, cut = trial.variant.removeprefix("fused-").partition(":")
        weights = CodecWeights(world.codec, CODEC_KINDS[kind])
        tiles = (
            cuts.few() if world.device.type == "cpu" else cuts.convolutions()[cut] if cut else None
        )
        step = CodecStep(weights, CodecArena(weights, rows), rows, trial.frames, cuts=tiles)

    def run() -> None:
        out[:] = [step(slots, codes, real)]

    return Built(run, lambda: None, lambda: out[0].clone())


def _kernel(world: World, trial: Trial) -> Built:
    """A kernel of the `fused` set; the variant is its name, a product's of a layer after the other:
    one that was just read would still be in the cache."""
    ops, rows, slots = operators(world, "fused"), trial.rows, world.slots(trial.rows)
    part, _, rest = trial.variant.partition(".")
    name, _, cut = rest.partition(":")
    arena = world.arena(rows)
    arena.position[:-1] = world.context
    if part == "talker":
        step = TalkerStep(world.talker, arena, ops)
        stack, rules = step.stack, step.rules
    else:
        stack = world.weights(False).stack
        rules = None
    repeats = kernel_trials.REPEATS if world.device.type != "cpu" else 1
    others: list[Run] = []
    if name in kernel_trials.PRODUCTS:
        every = [
            kernel_trials.product(ops, stack, index, name, rows, arena.hidden)
            for index in range(repeats)
        ]
        run, reference = every[0]
        others = [each for each, _ in every[1:]]
    elif name == "attend" and rules is not None:
        run, reference = kernel_trials.attend_slots(ops, stack, arena, slots, cut)
    elif name == "attend":
        run, reference = kernel_trials.attend_frame(ops, stack, rows, arena.hidden)
    elif rules is not None:
        run, reference = kernel_trials.draw_talker(ops, arena, slots, rules)
    else:
        vocabulary = world.talker_config.code_predictor_config.vocab_size
        run, reference = kernel_trials.draw_code(ops, arena, slots, vocabulary)
    out: list[Tensor] = []

    def call() -> None:
        for other in others or [run] * (repeats - 1):
            other()
        out[:] = [run()]

    return Built(call, lambda: None, lambda: out[0].clone(), reference, repeats)


def codec_codes(world: World, rows: int, frames: int) -> Tensor:
    config = world.codec_config
    shape = rows, frames, config.num_quantizers
    if world.device.type == "meta":
        return torch.empty(shape, dtype=torch.int64, device="meta")
    generator = torch.Generator(world.device).manual_seed(23)
    return torch.randint(0, config.codebook_size, shape, generator=generator, device=world.device)


def codec_reference(
    world: World, rows: int, frames: int, dtype: torch.dtype | None = None
) -> Tensor:
    """Audio [rows, samples] of a first chunk by the modules: in float32 with nothing rounded to
    tf32, or with products in `dtype` (float32: in tf32 where there is a GPU)."""
    half = dtype not in (None, torch.float32)
    codes = codec_codes(world, rows, frames).transpose(1, 2)
    with _tf32(dtype is not None), torch.autocast(world.device.type, dtype, enabled=half):
        state = world.codec.initial_state(rows, world.device)
        return world.codec.step(codes, state)[0].float()


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    """Whether PyTorch may round float32 products, convolutions and others."""
    parts: tuple[Any, ...] = torch.backends.cudnn, torch.backends.cuda.matmul
    before = [part.allow_tf32 for part in parts]
    for part in parts:
        part.allow_tf32 = allowed
    try:
        yield
    finally:
        for part, was in zip(parts, before, strict=True):
            part.allow_tf32 = was
