"""The kernels compile for the GPU that they are meant for and fit it, which an interpreter cannot
tell: a variable that changes its type, registers that spill, tiles that outgrow shared memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SHARED_LIMIT = 232_448  # bytes a block may use on sm_90

pytestmark = [
    pytest.mark.usefixtures("fused"),
    pytest.mark.skipif(
        "PARLANCE_COMPILE_KERNELS" not in os.environ,
        reason="takes minutes: PARLANCE_COMPILE_KERNELS=1 compiles the kernels for sm_90",
    ),
    pytest.mark.timeout(1800),
]


@pytest.mark.parametrize(
    "trial",
    [
        "talker/early/1",
        "talker/library-early/64",
        "predictor/early/4",
        "predictor/fused-fp8/64",
        "codec/fused-fp16/1/1",
        "codec/fused-tf32/64/4",
    ],
)
def test_kernels_fit_the_gpu(trial: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.kernels.compiled", trial]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    for kernel, takes in found.items():
        assert takes["shared"] <= SHARED_LIMIT, kernel
        assert takes["local"] <= 64, kernel
