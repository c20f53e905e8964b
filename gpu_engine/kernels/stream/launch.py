"""How the frame kernel is called: its arguments as C lays them out, the driver through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gpu_engine.kernels.stream.build import CannotBuild

POINTERS = [
    "body",
    "heads",
    "gains",
    "turns",
    "tables",
    "input",
    "residual",
    "slices",
    "qkv",
    "context",
    "inner",
    "logits",
    "cache",
    "codes",
    "slots",
    "heat",
    "top_k",
    "top_p",
    "seed",
    "frames",
    "counter",
]
_SHARED_LIMIT = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class Arguments(ctypes.Structure):
    """As in `frame.cu`."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in POINTERS),
        ("eps", ctypes.c_float),
        ("scaling", ctypes.c_float),
        ("rows", ctypes.c_int),
    ]


Launch = Callable[[Arguments], None]


def on_host(library: Path) -> Launch:
    run: Any = ctypes.CDLL(str(library)).run_frame

    def launch(arguments: Arguments) -> None:
        if run(ctypes.byref(arguments)):
            raise RuntimeError("threads of the frame kernel wait for what never comes")

    return launch


def on_gpu(cubin: Path) -> Launch:
    """Launches on torch's current stream, so that a graph being captured takes it in. All blocks
    run at once or the launch waits (cooperative): they meet many times."""
    cuda = ctypes.CDLL("libcuda.so.1")
    torch.cuda.current_stream()  # torch makes the context that the module is loaded into
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _check(cuda.cuModuleLoadData(ctypes.byref(module), cubin.read_bytes()), "load")
    _check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"frame"), "find")
    shared, threads, blocks, size = _facts(cuda, module)
    if size != ctypes.sizeof(Arguments):
        raise CannotBuild(f"its arguments are {size} bytes, not {ctypes.sizeof(Arguments)}")
    _check(cuda.cuFuncSetAttribute(function, _SHARED_LIMIT, shared), "give shared memory to")

    def launch(arguments: Arguments) -> None:
        pointer = ctypes.c_void_p(ctypes.addressof(arguments))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = cuda.cuLaunchCooperativeKernel(
            function, blocks, 1, 1, threads, 1, 1, shared, stream, ctypes.byref(pointer)
        )
        _check(status, "launch")

    return launch


def _facts(cuda: Any, module: ctypes.c_void_p) -> tuple[int, int, int, int]:
    at, size, facts = ctypes.c_void_p(), ctypes.c_size_t(), (ctypes.c_int * 4)()
    found = cuda.cuModuleGetGlobal_v2(ctypes.byref(at), ctypes.byref(size), module, b"frame_facts")
    _check(found, "ask")
    _check(cuda.cuMemcpyDtoH_v2(facts, at, ctypes.sizeof(facts)), "ask")
    return facts[0], facts[1], facts[2], facts[3]


def _check(status: int, verb: str) -> None:
    if status:
        raise CannotBuild(f"the driver would not {verb} it (error {status})")
