"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpu": _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) or "none",
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "commit": _commit(),
        "command": shlex.join(["python", "-m", "gpu_engine", *sys.argv[1:]]),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _commit() -> str:
    """A copy of the tree has no history: whoever made it may say."""
    said = os.environ.get("PARLANCE_COMMIT")
    return said or _output(["git", "rev-parse", "--short", "HEAD"]) or "unknown"


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _output(command: list[str]) -> str:
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()
