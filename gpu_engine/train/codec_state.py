"""What a codec run begins with where another went before it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from gpu_engine.train.codec_data import Recording
from gpu_engine.train.codec_model import CodecModel
from gpu_engine.train.export import is_run, load_codec
from gpu_engine.train.runtime import load_shards, write_whole

if TYPE_CHECKING:
    from gpu_engine.train.codec import CodecRecipe, CodecTrainer

PLACE = "place.json"


def resume(trainer: CodecTrainer, folder: Path) -> None:
    """Goes on from an earlier run, or from a speech_tokenizer folder with its encoder: weights and
    codebooks. Adversaries come from a run only, if it has some."""
    model = trainer.model
    if is_run(folder):
        _take_run(model, folder)
        take_adversaries(trainer, folder)
    else:
        encoder, decoder = load_codec(folder)
        model.encoder.load_state_dict(encoder.state_dict())
        model.decoder.load_state_dict(decoder.state_dict())
        model.quantizer.take(model.decoder)
    trainer.resumed = True
    for mine, p in zip(trainer.averaged, trainer.grads.parameters, strict=True):
        mine.copy_(p.detach())


def _take_run(model: CodecModel, folder: Path) -> None:
    """A phone head of another context starts anew."""
    state = load_shards(folder, "codec")
    fresh = model.state_dict()
    first = "phone_head.0.weight"
    if state[first].shape != fresh[first].shape:
        state |= {name: t for name, t in fresh.items() if name.startswith("phone_head.")}
    model.load_state_dict(state)
    model.quantizer.absorb(model.encoder)


def take_adversaries(trainer: CodecTrainer, folder: Path) -> None:
    """They begin anew where the run left none."""
    with suppress(FileNotFoundError):
        state = {name: t.float() for name, t in load_shards(folder, "adversaries").items()}
        trainer.adversaries.load_state_dict(state)


def save_place(trainer: CodecTrainer, folder: Path) -> None:
    """How far the run has come, beside its weights."""
    where = {"step": trainer.step, "elapsed": trainer.clock.elapsed()}
    write_whole(folder / PLACE, json.dumps(where))


def go_on(trainer: CodecTrainer, folder: Path) -> bool:
    """Takes up the run that an earlier process saved in `folder`, if one did."""
    if not is_run(folder) or not (folder / PLACE).exists():
        return False
    resume(trainer, folder)
    where = json.loads((folder / PLACE).read_text())
    trainer.step, trainer.before = where["step"], where["elapsed"]
    return True


@torch.no_grad()
def settle(model: CodecModel, recording: Recording, recipe: CodecRecipe) -> None:
    """Fits the norm and the codebooks to weights that changed under them.

    Averaged weights give latents of another scale than the last step's (a factor of 4 was seen):
    without this every frame fell on one entry.
    """
    quantizer = model.quantizer
    quantizer.norm.steps.zero_()
    for step in range(2 * recipe.settle_steps):
        audio, _ = recording.windows(recipe.rows, recipe.frames)
        quantizer(model.encoder.latents(audio), quantize=True, dropout=0.0)
        if step < recipe.settle_steps:
            quantizer.norm.follow()
        else:
            quantizer.semantic.follow()
            quantizer.acoustic.follow()
