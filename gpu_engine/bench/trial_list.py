"""Which trials a run makes, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_engine.bench import cuts, kernel_trials
from gpu_engine.bench.trials import Trial, World

# What no run has reached yet and most depends on; then the official order.
FIRST = (
    Trial("predictor", "folded", 64),
    Trial("predictor", "folded", 8),
    Trial("predictor", "library", 64),
    Trial("predictor", "library", 8),
    Trial("codec", "fused-fp16", 1, 1),
    Trial("codec", "fused-fp16", 64, 1),
    Trial("codec", "fused-fp16", 64, 4),
)


def every_trial(world: World, batches: list[int], chunks: list[int]) -> Iterator[Trial]:
    """In order of what is to be learnt first: a budget may cut the end."""
    dry = world.device.type == "cpu"
    first = (t for t in FIRST if t.rows in batches and t.frames in (0, *chunks) and not dry)
    tried: dict[Trial, None] = dict.fromkeys(first)
    for module, variant, least, most in _dry() if dry else _listed():
        for rows in batches:
            for frames in chunks if module == "codec" else [0]:
                if least <= rows <= most:
                    tried[Trial(module, variant, rows, frames)] = None
    yield from tried


def is_wanted(trial: Trial, names: Iterable[str]) -> bool:
    """`all`, or a module, a variant, or module:variant."""
    mine = ("all", trial.module, trial.variant, f"{trial.module}:{trial.variant}")
    return any(name in mine for name in names)


def _dry() -> Iterator[tuple[str, str, int, int]]:
    """What an interpreter can show."""
    yield from (("kernel", name, 1, 1) for name in kernel_trials.KERNELS)
    yield "predictor", "fused", 1, 4
    yield from (("talker", name, 1, 4) for name in ("fused", "fused-fp8"))
    yield "codec", "fused-tf32", 1, 4


def _listed() -> Iterator[tuple[str, str, int, int]]:
    """Module, variant, fewest and most rows."""
    for module in ("talker", "predictor"):
        yield module, "early", 1, 4
        yield module, "library", 5, 64
    yield "codec", "fused-fp16", 1, 64
    for module in ("talker", "predictor"):
        yield from ((module, f"early:{cut}", 1, 4) for cut in cuts.PRODUCTS[:3])
        yield module, "library-early", 5, 64
        yield module, "fused:wide64", 5, 64
    yield from (("codec", f"fused-fp16:{cut}", 64, 64) for cut in cuts.CONVOLUTIONS)
    yield "talker", "early-fp8", 1, 4
    yield "codec", "fused-tf32", 1, 64
    yield from (("kernel", f"{part}.attend", 1, 64) for part in ("talker", "predictor"))
    yield from (("kernel", name, 1, 64) for name in kernel_trials.KERNELS[8:])
    yield from (("kernel", name, 1, 4) for name in kernel_trials.KERNELS[:8])
    for module in ("talker", "predictor"):
        yield module, "library", 1, 1 << 30
        yield module, "fused", 1, 1 << 30
    yield "codec", "fused-fp16", 1, 1 << 30
    yield "codec", "module", 1, 64
    yield "codec", "fused-bf16", 1, 1
