"""Compiles kernels at official width for sm_90, without a GPU, and prints what each one takes.

python -m tests.kernels.compiled [TRIAL ...]     such as talker/early/1 codec/fused-fp16/64/4
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import torch

from gpu_engine.bench.trials import Trial, World, build
from gpu_engine.kernels.building import Builds, usage

USUAL = ["talker/early/1", "predictor/fused-fp8/64"]


def main(names: list[str]) -> int:
    """One layer of each stack: the others launch the same kernels."""
    world = World("1.7B", torch.device("meta"), False, 90)
    config = world.talker_config
    shallow = replace(config.code_predictor_config, num_hidden_layers=1)
    world.talker_config = replace(config, num_hidden_layers=1, code_predictor_config=shallow)
    world.codec_config = replace(world.codec_config, num_hidden_layers=1)
    found = {}
    for name in names or USUAL:
        module, variant, rows, *frames = name.split("/")
        trial = Trial(module, variant, int(rows), int(frames[0]) if frames else 0)
        with Builds() as builds, torch.inference_mode():
            builds.of = name
            build(world, trial).run()
        for kernel, built in builds.kernels.items():
            found[kernel] = usage(built)
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
