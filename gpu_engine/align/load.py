"""From a folder to an aligner."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from gpu_engine.align.ctc import CtcAligner
from gpu_engine.align.track import Aligner
from gpu_engine.errors import CheckpointError
from gpu_engine.files import read_bytes
from gpu_engine.models.aligner import MODEL_TYPE, AlignerConfig, AlignerNet
from gpu_engine.models.checkpoint import WEIGHTS, load_alone

_LARGEST = 4096


def languages(folder: Path | None) -> tuple[str, ...]:
    """What its words can be told in. Raises CheckpointError."""
    return () if folder is None else read_config(folder).languages


def load_aligner(folder: Path) -> Aligner:
    """On the CPU, whatever the speech is made on: a second of it takes a millisecond there. Raises
    CheckpointError."""
    return CtcAligner(load_net(folder))


def load_net(folder: Path) -> AlignerNet:
    """Raises CheckpointError."""
    config = read_config(folder)
    return load_alone(folder / WEIGHTS, "cpu", lambda: AlignerNet(config))


def read_config(folder: Path) -> AlignerConfig:
    """Raises CheckpointError for a file that is missing, no aligner's, or says nonsense."""
    file = folder / "config.json"
    try:
        found = json.loads(read_bytes(file))
        kind = found["model_type"]
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(file, "not JSON with a model_type") from None
    if kind != MODEL_TYPE:
        raise CheckpointError(file, f"model_type is {kind!r}, expected {MODEL_TYPE!r}")
    known = {field.name: field for field in dataclasses.fields(AlignerConfig)}
    fields = {name: value for name, value in found.items() if name in known}
    _check(file, fields)
    return AlignerConfig(**(fields | {"languages": tuple(fields.get("languages", ()))}))


def _check(file: Path, fields: dict[str, object]) -> None:
    letters = fields.get("alphabet")
    if not isinstance(letters, str) or not letters or len(set(letters)) != len(letters):
        raise CheckpointError(file, "alphabet is not a string of different letters")
    spoken = fields.get("languages")
    if not isinstance(spoken, list) or not all(isinstance(each, str) for each in spoken):
        raise CheckpointError(file, "languages is not a list of names")
    for name in fields.keys() - {"alphabet", "languages"}:
        value = fields[name]
        if type(value) is not int or not 0 < value <= _LARGEST:
            raise CheckpointError(file, f"{name} is not a whole number from 1 to {_LARGEST}")
    if fields.get("kernel", 1) % 2 == 0:  # type: ignore[operator]
        raise CheckpointError(file, "kernel is even")
