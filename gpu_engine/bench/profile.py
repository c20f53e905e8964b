"""`python -m gpu_engine bench profile`: one frame through all modules as a trace for Perfetto."""

from __future__ import annotations

import argparse

import torch
from rich.console import Console
from torch.profiler import ProfilerActivity, profile, record_function

from gpu_engine.bench.trials import Built, Trial, World, build
from gpu_engine.bench.variants import pick_device

REPEATS = 3


def run(arguments: argparse.Namespace) -> int:
    """The variants' kernels as they are launched, not as a graph: each has its name."""
    device = pick_device(arguments.device)
    small = device.type == "cpu"
    world = World(arguments.official, device, small, 20 if small else arguments.context)
    trials = [
        Trial("talker", arguments.talker, arguments.rows),
        Trial("predictor", arguments.predictor, arguments.rows),
        Trial("codec", arguments.codec, arguments.rows, arguments.frames),
    ]
    kinds = [ProfilerActivity.CPU] + ([] if small else [ProfilerActivity.CUDA])
    with torch.inference_mode():
        steps = [(trial, build(world, trial)) for trial in trials]
        _frame(steps)
        with profile(activities=kinds) as trace:
            for _ in range(1 if small else REPEATS):
                _frame(steps)
            if not small:
                torch.cuda.synchronize()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    trace.export_chrome_trace(str(arguments.out))
    Console().print(f"{arguments.out}: open it at https://ui.perfetto.dev")
    return 0


def _frame(steps: list[tuple[Trial, Built]]) -> None:
    for trial, step in steps:
        step.reset()
        with record_function(trial.name):
            step.run()
