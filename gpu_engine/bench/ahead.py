"""Compiles what trials will launch, in as many processes as there are cores."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed

import torch

from gpu_engine.bench.trials import Trial, World, build

SECONDS = 240.0


def build_ahead(size: str, trials: list[Trial], context: int) -> list[str]:
    """Into the caches on disk; names of what did not build. Nothing is run."""
    spawn = multiprocessing.get_context("spawn")
    tasks = _distinct(trials)
    failed = []
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(tasks)), spawn) as pool:
        jobs = {pool.submit(_build, size, trial, context): trial for trial in tasks}
        for job in as_completed(jobs, timeout=SECONDS):
            problem = job.exception() or job.result()
            if problem:
                failed.append(f"{jobs[job].name}: {str(problem)[:200]}")
    return failed


def _distinct(trials: list[Trial]) -> list[Trial]:
    """Streamed frames are compiled for a GPU by nvcc, the same for several batches."""
    seen: dict[object, Trial] = {}
    for trial in trials:
        seen.setdefault(trial, trial)
    return list(seen.values())


def _build(size: str, trial: Trial, context: int) -> str:
    torch.set_num_threads(1)
    try:
        if trial.variant.startswith("streamed"):
            return _build_streamed(size, trial)
        from gpu_engine.kernels.building import Builds

        world = World(size, torch.device("meta"), False, context)
        with Builds(), torch.inference_mode():
            build(world, trial).run()
    except Exception as problem:  # noqa: BLE001 - the trial itself will tell; others go on
        return f"{type(problem).__name__}: {problem}"
    return ""


def _build_streamed(size: str, trial: Trial) -> str:
    from gpu_engine.kernels.stream.build import build_for_gpu
    from gpu_engine.runner.device.streamed import shape_of

    world = World(size, torch.device("meta"), False, 1)
    build_for_gpu(shape_of(world.weights(False), trial.rows))
    return ""
