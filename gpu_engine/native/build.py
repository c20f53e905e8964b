"""Compiles the C files for this very processor, once, and loads them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import structlog

log = structlog.get_logger()

FOLDER = Path(__file__).parent
SOURCES = tuple(FOLDER / name for name in ("products.c", "frames.c", "codec.c"))
HEADER = FOLDER / "kernels.h"
# No fast-math: it would let sums take any order.
_VECTORS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
FLAGS: tuple[str, ...] = ("-std=gnu11", "-fPIC", "-shared", *_VECTORS)
COMPILE_S = 120


@cache
def library() -> ctypes.CDLL | None:
    """The compiled functions, or None where no compiler is or it fails: PyTorch does it then."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is None:
        log.warning("no C compiler: the CPU runs PyTorch's operators, several times slower")
        return None
    try:
        return ctypes.CDLL(str(_built(compiler)))
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or error
        log.warning("C kernels could not be built", compiler=compiler, why=str(said)[-500:])
        return None


def _built(compiler: str) -> Path:
    """The library's file, under a name that changes with sources, compiler and processor."""
    digest = hashlib.sha256(" ".join((*FLAGS, compiler, _processor())).encode())
    for file in (HEADER, *SOURCES):
        digest.update(file.read_bytes())
    target = _cache() / f"kernels-{digest.hexdigest()[:16]}.so"
    if not target.exists():
        # Several engines may build at once: each its own file, the last to finish stays.
        handle, fresh = tempfile.mkstemp(dir=target.parent, suffix=".so")
        os.close(handle)
        command = [compiler, *FLAGS, *map(str, SOURCES), "-o", fresh, "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMPILE_S)
            Path(fresh).replace(target)
        finally:
            Path(fresh).unlink(missing_ok=True)
    return target


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    kinds = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    return platform.machine() + "".join(sorted(set(kinds)))


def _cache() -> Path:
    """A folder that only this user writes: what lies there is run."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "parlance"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="parlance-kernels-"))
    if folder.stat().st_uid != os.getuid() or not os.access(folder, os.W_OK):
        return Path(tempfile.mkdtemp(prefix="parlance-kernels-"))
    return folder
