"""Compiles kernels for a GPU that is not there: calls are recorded, built for sm_90 and not run.

    python -m tests.kernels.compiled

prints registers, shared memory and spills of every kernel at the official shapes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from gpu_engine.kernels.fused.attention import attend_frame, attend_slots
from gpu_engine.kernels.fused.linear import Tuning, gated, linear
from gpu_engine.kernels.fused.sampling import draw_code, draw_talker
from gpu_engine.kernels.slots import arena_for
from gpu_engine.kernels.weights import StackWeights, quantised, stack_weights
from gpu_engine.models.sampling import SpeechRules
from gpu_engine.models.talker import Talker

SHARED_LIMIT = 232_448  # bytes a block may use on sm_90


class Absent:
    """The driver of a GPU that nobody asks to run anything."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")


class Builds:
    """Every kernel that was asked for, built once a shape."""

    def __init__(self) -> None:
        self.kernels: dict[str, Any] = {}
        self.of = ""
        self._run = JITFunction.run

    def __enter__(self) -> Builds:
        driver.set_active(Absent())
        builds = self

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
            built = builds._run(kernel, *args, grid=grid, warmup=True, **options)
            builds.kernels[f"{builds.of} {kernel.__name__}"] = built
            return built

        JITFunction.run = run
        return self

    def __exit__(self, *_: object) -> None:
        JITFunction.run = self._run


def usage(kernel: Any) -> dict[str, int]:
    """Registers and local-memory bytes a thread, shared bytes a block."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
        command = [str(tool), "-res-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {key: int(value) for key, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", text)}
    return {
        "registers": found["REG"],
        "local": found["STACK"] + found["LOCAL"],
        "shared": kernel.metadata.shared,
    }


def official(config: Any) -> Talker:
    """A Talker of official width and two layers, with no numbers in it."""
    with torch.device("meta"):
        return Talker(config).to(torch.bfloat16)


def build_all(builds: Builds, talker: Talker, batches: list[int], early: bool) -> Iterator[str]:
    """Asks for every kernel of a frame at the batch sizes; yields what is being built."""
    config = talker.config
    predictor = config.code_predictor_config
    mine, theirs = talker.model, talker.code_predictor.model
    stacks = {
        "talker": stack_weights(mine.layers, mine.norm.weight, config.rope_theta, 256),
        "predictor": stack_weights(theirs.layers, theirs.norm.weight, predictor.rope_theta, 16),
    }
    tuning = Tuning(early=early)
    for rows in batches:
        for name, stack in stacks.items():
            builds.of = f"{name} {rows} rows"
            yield builds.of
            _layer(stack, rows, tuning)
        builds.of = f"draws {rows} rows"
        yield builds.of
        _draws(talker, rows, early)


def _layer(stack: StackWeights, rows: int, tuning: Tuning) -> None:
    layer = stack.layers[0]
    for fp8 in (False, True):
        qkv, out, gate_up, down = (quantised(m) if fp8 else m for m in layer.matrices)
        hidden = torch.empty(rows, qkv.shape[1], dtype=torch.bfloat16, device="meta")
        linear(hidden, qkv, gain=layer.input_gain, eps=stack.eps, tuning=tuning)
        h = gated(hidden, gate_up, gain=layer.post_gain, eps=stack.eps, tuning=tuning)
        linear(h, down, residual=hidden, tuning=tuning)
        wide = torch.empty(rows, out.shape[1], dtype=torch.bfloat16, device="meta")
        linear(wide, out, residual=hidden, tuning=tuning)


def _draws(talker: Talker, rows: int, early: bool) -> None:
    config = talker.config
    predictor = config.code_predictor_config
    like = torch.empty(0, dtype=torch.bfloat16, device="meta")
    arena = arena_for(config, 4, 256, 8, like)
    slots = torch.empty(rows, dtype=torch.int64, device="meta")
    rules = SpeechRules(
        config.codec_eos_token_id, torch.empty(config.vocab_size, dtype=torch.bool, device="meta")
    )
    draw_talker(like.new_empty(rows, config.vocab_size), arena, slots, rules, early)
    codes = slots.new_empty(rows, 16)
    table = like.new_empty(predictor.vocab_size, predictor.hidden_size)
    draw_code(like.new_empty(rows, predictor.vocab_size), arena, slots, codes, 1, table, early)
    stack = stack_weights(talker.model.layers, talker.model.norm.weight, 1e6, 256)
    width = (stack.heads + 2 * stack.kv_heads) * stack.head_dim
    attend_slots(like.new_empty(rows, width), stack, 0, arena, slots, early)
    cache = like.new_empty(1, 2, rows, 16, stack.kv_heads, stack.head_dim)
    for count in (1, 2):
        attend_frame(like.new_empty(rows * count, width), stack, 0, cache, 3, count, early)


def main() -> int:
    from gpu_engine.bench.official import TALKER_1B7

    with Builds() as builds:
        for step in build_all(builds, official(TALKER_1B7), [1, 2, 4, 16, 64], early=True):
            print(step, file=sys.stderr)
    for name, kernel in builds.kernels.items():
        print(f"{name:40}", usage(kernel))
    return 0


if __name__ == "__main__":
    sys.exit(main())
