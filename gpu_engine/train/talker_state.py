"""What a Talker run leaves behind: everything to go on from, and the weights to ship."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from gpu_engine.train.runtime import Clock, load_shards, save_shards, write_whole
from gpu_engine.train.talker import Trainer

STATE = "state"
WEIGHTS = "weights"
HELPER = "phone_head."  # trained beside the model, no part of it


def averaged_weights(trainer: Trainer) -> dict[str, Tensor]:
    """Averaged weights in float16 under the names of a checkpoint, and the HELPER's."""
    named = zip(_names(trainer), trainer.average, strict=True)
    return {name: value.half() for name, value in named}


def _names(trainer: Trainer) -> list[str]:
    names = [name for name, p in trainer.learner.named_parameters() if p.requires_grad]
    return [
        name.replace("speaker.", "speaker_encoder.", 1) if name.startswith("speaker.") else name
        for name in names
    ]


def save_weights(trainer: Trainer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_shards(folder, WEIGHTS, averaged_weights(trainer))


@torch.no_grad()
def load_weights(trainer: Trainer, folder: Path) -> None:
    """Starts from what `save_weights` left, or from a checkpoint, with a fresh optimiser; the
    HELPER may be missing."""
    whole = folder / "model.safetensors"
    tensors = load_file(whole) if whole.exists() else load_shards(folder, WEIGHTS)
    for name, p, average in zip(_names(trainer), trainer.parameters, trainer.average, strict=True):
        if name in tensors or not name.startswith(HELPER):
            p.copy_(tensors[name])
            average.copy_(tensors[name])


def save_state(trainer: Trainer, folder: Path) -> None:
    """Everything that an equal continuation needs, save the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Tensor] = {"vectors": trainer.learner.vectors}
    for number, p in enumerate(trainer.parameters):
        kept = {"value": p.detach(), "average": trainer.average[number]}
        kept |= trainer.optimiser.state[p]
        tensors |= {f"{number:04}.{name}": tensor for name, tensor in kept.items()}
    save_shards(folder, STATE, tensors)
    where = {
        "step": trainer.step,
        "elapsed": trainer.clock.elapsed(),
        "epoch": trainer.feed.epoch,
        "position": trainer.feed.position,
    }
    write_whole(folder / f"{STATE}.json", json.dumps(where))


@torch.no_grad()
def load_state(trainer: Trainer, folder: Path) -> None:
    """Raises FileNotFoundError where no run was saved."""
    tensors = load_shards(folder, STATE)
    trainer.learner.vectors.copy_(tensors["vectors"])
    for number, p in enumerate(trainer.parameters):
        prefix = f"{number:04}."
        mine = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        p.copy_(mine.pop("value"))
        trainer.average[number].copy_(mine.pop("average"))
        device = trainer.world.device
        trainer.optimiser.state[p] = {name: v.to(device) for name, v in mine.items()}
    where = json.loads((folder / f"{STATE}.json").read_text())
    trainer.step, trainer.clock = where["step"], Clock(where["elapsed"])
    trainer.feed.epoch, trainer.feed.position = where["epoch"], where["position"]
