"""Compiles `frame.cu`: for the GPU with nvcc, for tests on a CPU with the host's own compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from gpu_engine.errors import EngineError
from gpu_engine.kernels.stream.pack import Shape

FOLDER = Path(__file__).parent
SOURCES = tuple(FOLDER / name for name in ("frame.cu", "gpu.h", "host.h"))


class CannotBuild(EngineError):
    """No compiler, or one that refused."""

    def __init__(self, problem: str) -> None:
        super().__init__("kernel_build", f"the streaming frame kernel cannot be built: {problem}")


def build_for_gpu(shape: Shape, architecture: str = "90a") -> Path:
    """A cubin. Raises CannotBuild."""
    tool = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    target = f"arch=compute_{architecture},code=sm_{architecture}"
    command = [tool, "-cubin", "-O3", "-gencode", target, *shape.defines()]
    return _built(command, FOLDER / "frame.cu", ".cubin")


def build_for_host(shape: Shape) -> Path:
    """A shared library in which every GPU thread is a fiber. Raises CannotBuild."""
    tool = shutil.which("g++") or shutil.which("c++") or "c++"
    command = [tool, "-O2", "-std=c++17", "-shared", "-fPIC", "-Wno-unknown-pragmas"]
    command += ["-DFRAME_ON_HOST", *shape.defines(), "-x", "c++"]
    return _built(command, FOLDER / "frame.cu", ".so")


def _built(command: list[str], source: Path, suffix: str) -> Path:
    """Once for a command and the sources' content."""
    digest = hashlib.sha256(" ".join(command).encode())
    for file in SOURCES:
        digest.update(file.read_bytes())
    target = _cache() / f"frame-{digest.hexdigest()[:16]}{suffix}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_suffix(f".{os.getpid()}{suffix}")
    try:
        done = subprocess.run(
            [*command, "-o", str(made), str(source)], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise CannotBuild(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise CannotBuild(done.stderr.strip()[-2000:])
    made.replace(target)
    return target


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "parlance"
