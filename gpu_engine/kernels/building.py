"""Builds Triton kernels without running them, even for a GPU that is not there.

Inside `Builds` a step called on meta tensors compiles what it would launch, for sm_90, into the
cache on disk: several processes at once fill it in a fraction of the time.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction


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
    """`kernels`: every kernel that was asked for, by `of` and its name."""

    def __init__(self) -> None:
        self.kernels: dict[str, Any] = {}
        self.of = ""
        self._run = JITFunction.run

    def __enter__(self) -> Builds:
        driver.set_active(Absent())
        builds = self

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
            built = builds._run(kernel, *args, grid=grid, warmup=True, **options)
            key = f"{builds.of} {kernel.__name__} {len(builds.kernels)}"
            if built not in builds.kernels.values():
                builds.kernels[key] = built
            return built

        JITFunction.run = run
        return self

    def __exit__(self, *_: object) -> None:
        JITFunction.run = self._run


def usage(kernel: Any) -> dict[str, int]:
    """Registers and bytes of local memory a thread, bytes of shared memory a block."""
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        command = [str(tool), "-res-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {key: int(value) for key, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", text)}
    return {
        "registers": found["REG"],
        "local": found["STACK"] + found["LOCAL"],
        "shared": kernel.metadata.shared,
    }
