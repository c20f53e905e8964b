"""Compiles what trials will launch, in as many processes as there are cores, while others run."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, wait
from itertools import product
from types import TracebackType

import torch

from gpu_engine.bench.trials import SPARE, Trial, World, build
from gpu_engine.runner.device.plan import Plan

SECONDS = 240.0


class Ahead:
    """Kernels into the caches on disk, in the order of the trials. Nothing is run."""

    def __init__(self, size: str, trials: list[Trial], context: int, slots: int = 0) -> None:
        # One core is left to what launches and times meanwhile.
        workers = max(1, min((os.cpu_count() or 1) - 1, len(trials)))
        self._pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
        self._jobs = {t: self._pool.submit(_build, size, t, context, slots) for t in trials}

    def wait(self, trial: Trial) -> None:
        """Until the trial's kernels are there or cannot be: then the trial itself will tell why."""
        wait([self._jobs[trial]], SECONDS)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        """What nobody will wait for is not compiled to its end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


def build_all(size: str, plan: Plan) -> None:
    """Whatever a device of this plan captures, on all cores."""
    suffix = "-fp8" if plan.fp8 else ""
    # The longest come first.
    trials = [
        *(
            Trial("codec", "fused-fp16", *shape)
            for shape in product(plan.codec_rows, plan.codec_frames)
        ),
        *(
            Trial(module, plan.variant_of(rows) + suffix, rows)
            for module, rows in product(("predictor", "talker"), plan.step_rows)
            if module == "talker" or not plan.folds(rows)
        ),
        *(Trial("predictor", "folded", rows) for rows in plan.step_rows if plan.folds(rows)),
    ]
    with Ahead(size, trials, plan.positions - SPARE, plan.slots) as ahead:
        for trial in trials:
            ahead.wait(trial)


def _build(size: str, trial: Trial, context: int, slots: int) -> None:
    torch.set_num_threads(1)
    from gpu_engine.kernels.building import Builds

    world = World(size, torch.device("meta"), False, context, slots)
    with Builds(), torch.inference_mode():
        build(world, trial).run()
