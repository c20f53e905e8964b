"""From a folder to an aligner."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch

from gpu_engine.align.ctc import CtcAligner
from gpu_engine.align.forced import QwenAligner, divided
from gpu_engine.align.track import Aligner
from gpu_engine.config import read_json
from gpu_engine.errors import CheckpointError
from gpu_engine.models import forced_aligner
from gpu_engine.models.aligner import MODEL_TYPE, AlignerConfig, AlignerNet
from gpu_engine.models.checkpoint import WEIGHTS, load_alone
from gpu_engine.models.forced_aligner.config import MODEL_TYPE as FORCED
from gpu_engine.models.layers import fuse_layers
from gpu_engine.models.tokenizer import read_bpe

_LARGEST = 4096


def languages(folder: Path | None) -> tuple[str, ...]:
    """What its words can be told in. Raises CheckpointError."""
    if folder is None:
        return ()
    if _kind(folder) == FORCED:
        return divided(forced_aligner.read_config(folder).languages)
    return read_config(folder).languages


def load_aligner(folder: Path, device: torch.device | str = "cpu") -> Aligner:
    """The small one on the CPU, whatever the speech is made on: a second of it takes a millisecond
    there. The forced aligner, 917 million parameters, on `device`. Raises CheckpointError."""
    if _kind(folder) != FORCED:
        return CtcAligner(load_net(folder))
    config, tokenizer = forced_aligner.read_config(folder), read_bpe(folder)
    dtype = torch.bfloat16 if torch.device(device).type == "cuda" else torch.float32
    net = load_alone(
        folder / WEIGHTS, device, lambda: forced_aligner.ForcedAligner(config), "thinker.", dtype
    )
    fuse_layers(net)
    return QwenAligner(net, tokenizer)


def load_net(folder: Path) -> AlignerNet:
    """Raises CheckpointError."""
    config = read_config(folder)
    return load_alone(folder / WEIGHTS, "cpu", lambda: AlignerNet(config))


def _kind(folder: Path) -> str:
    """Which of the two it is, by its model type."""
    file = folder / "config.json"
    kind = read_json(file).get("model_type")
    if kind not in (MODEL_TYPE, FORCED):
        known = f"expected {MODEL_TYPE!r} or {FORCED!r}"
        raise CheckpointError(file, f"model_type is {kind!r}, {known}")
    return str(kind)


def read_config(folder: Path) -> AlignerConfig:
    """The small one's. Raises CheckpointError for a file that is missing, or says nonsense."""
    file = folder / "config.json"
    found = read_json(file)
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
