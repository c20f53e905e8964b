"""Which trials a run makes, in which order."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_engine.bench import cuts, kernel_trials
from gpu_engine.bench.trials import Trial, World


def every_trial(world: World, batches: list[int], chunks: list[int]) -> Iterator[Trial]:
    """In order of what is to be learnt first: a budget may cut the end."""
    tried: dict[Trial, None] = {}
    for module, variant, least, most in _dry() if world.device.type == "cpu" else _listed():
        for rows in batches:
            for frames in chunks if module == "codec" else [0]:
                if least <= rows <= most:
                    tried[Trial(module, variant, rows, frames)] = None
    yield from tried


def _dry() -> Iterator[tuple[str, str, int, int]]:
    """What an interpreter can show."""
    yield from (("kernel", name, 1, 1) for name in kernel_trials.KERNELS)
    yield from (("predictor", name, 1, 4) for name in ("fused", "streamed"))
    yield from (("talker", name, 1, 4) for name in ("fused", "fused-fp8"))
    yield "codec", "fused-tf32", 1, 4


def _listed() -> Iterator[tuple[str, str, int, int]]:
    """Module, variant, fewest and most rows."""
    yield from (("kernel", f"{part}.attend", 1, 64) for part in ("talker", "predictor"))
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
    yield from (("kernel", name, 1, 64) for name in kernel_trials.KERNELS[8:])
    yield from (("kernel", name, 1, 4) for name in kernel_trials.KERNELS[:8])
    for module in ("talker", "predictor"):
        yield module, "library", 1, 1 << 30
        yield module, "fused", 1, 1 << 30
    yield "codec", "fused-fp16", 1, 1 << 30
    yield "codec", "module", 1, 64
    yield "codec", "fused-bf16", 1, 1
