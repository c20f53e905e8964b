"""What a recipe was made from and what came out, so that it can be made again elsewhere."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

NAME = "manifest.json"
# Places on this machine, and what only this call is about.
LOCAL = ("teacher", "texts", "out", "recipe", "sentences", "codec", "resume_codec", "weights")
PASSING = ("stage", "run", "usual", "detach", "manifest", "gpus", "ranks", "limit", "finish")
UNKEPT = frozenset((*LOCAL, *PASSING))


def options(given: Mapping[str, Any], usual: Callable[[str], Any]) -> dict[str, Any]:
    """Options of a call that are other than usual and would hold on another machine too."""
    kept = {name: value for name, value in given.items() if name not in UNKEPT}
    return {name: value for name, value in kept.items() if value != usual(name)}


def read_options(path: Path, usual: Mapping[str, Any]) -> dict[str, Any]:
    """Of a recorded manifest, each of the kind that it usually is. Raises ValueError for another
    file, and for what is no such option."""
    try:
        recorded = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a manifest: {error}") from error
    if not isinstance(recorded, dict) or not isinstance(recorded.get("options"), dict):
        raise ValueError(f"{path} is no manifest of a recipe: it has no options")
    found: dict[str, Any] = recorded["options"]
    if unknown := sorted(found.keys() - usual.keys()):
        raise ValueError(f"{path} has options that there are not: {', '.join(unknown)}")
    for name, value in found.items():
        if not _is_like(value, usual[name]):
            kind = type(usual[name]).__name__
            raise ValueError(f"{path}: the option {name} is {value!r}, which is no {kind}")
    return found


def _is_like(value: Any, usual: Any) -> bool:
    if isinstance(usual, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(usual, list):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return type(value) is type(usual)


def write(
    out: Path, chosen: Mapping[str, Any], inputs: Iterable[Path], seconds: Mapping[str, float]
) -> None:
    """OUT/manifest.json: options, hashes of inputs and weights, seconds of each stage, machine."""
    weights = sorted(out.glob("*/model.safetensors")) + sorted(out.glob("*/*/model.safetensors"))
    recorded = {
        "options": dict(chosen),
        "inputs": {path.name: sha256(path) for path in inputs if path.is_file()},
        "weights": {str(path.relative_to(out)): sha256(path) for path in weights},
        "seconds": {stage: round(spent) for stage, spent in seconds.items()},
        "machine": machine(),
    }
    (out / NAME).write_text(json.dumps(recorded, indent=2) + "\n", "utf-8")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def machine() -> dict[str, str]:
    gpus = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "gpus": ", ".join(gpus) or "none",
    }
