"""One training run of the codec, from speech to weights on disk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import torch

from gpu_engine.config import CodecConfig
from gpu_engine.models.codec import decoder as decoder_module
from gpu_engine.train.codec import CodecRecipe, CodecTrainer
from gpu_engine.train.codec_data import Recording, Spoken, record
from gpu_engine.train.codec_decoder import DecoderTrainer
from gpu_engine.train.codec_model import TINY_CODEC
from gpu_engine.train.codec_state import go_on
from gpu_engine.train.codec_state import resume as begin_from
from gpu_engine.train.runtime import Log, World


def compile_snake() -> None:
    """One kernel instead of seven passes over a tensor; worth it on a GPU only."""
    decoder_module.snake = torch.compile(decoder_module.snake, dynamic=True)


def train_codec(
    corpus: Iterable[Spoken],
    hours: float,
    recipe: CodecRecipe,
    world: World,
    out: Path,
    resume: Path | None = None,
    config: CodecConfig = TINY_CODEC,
    deadline: float = 0.0,
    again: bool = False,
) -> CodecTrainer:
    """Trains for the recipe's seconds, but not past `deadline` (Unix time, if any). `resume`: an
    earlier run's folder, or a speech_tokenizer with its encoder. `again`: what an earlier process
    of this very run saved in `out` comes first."""
    recording = _record(corpus, hours, world, out)
    trainer = CodecTrainer(config, recipe, recording, world)
    if again and go_on(trainer, out):
        if world.leads:
            print(f"resumed at step {trainer.step}, {trainer.before:.0f} s", flush=True)
    elif resume is not None:
        begin_from(trainer, resume)
    _train(trainer, out, deadline)
    return trainer


def train_decoder(
    corpus: Iterable[Spoken],
    hours: float,
    recipe: CodecRecipe,
    world: World,
    out: Path,
    codec: Path,
    config: CodecConfig = TINY_CODEC,
    deadline: float = 0.0,
) -> DecoderTrainer:
    """The same for the decoder of `codec` alone, a folder that `train_codec` can resume from."""
    recording = _record(corpus, hours, world, out)
    trainer = DecoderTrainer(codec, config, recipe, recording, world)
    _train(trainer, out, deadline)
    return trainer


def _record(corpus: Iterable[Spoken], hours: float, world: World, out: Path) -> Recording:
    out.mkdir(parents=True, exist_ok=True)
    if world.device.type == "cuda":
        compile_snake()
    recording = record(corpus, hours)
    # Only now: tuning every shape anew would slow a corpus that is synthesised here tenfold.
    torch.backends.cudnn.benchmark = True
    return recording


def _train(trainer: CodecTrainer, out: Path, deadline: float) -> None:
    world, log = trainer.world, Log.going_on(out, trainer.step)
    started = time.monotonic()

    def save(final: bool = False) -> None:
        trainer.save(out, final)
        if world.leads:
            log.save(drawn=final)

    trainer.train(save, log, deadline)
    torch.backends.cudnn.benchmark = False
    save(final=True)
    if world.leads:
        print(f"{trainer.step} steps in {time.monotonic() - started:.0f} s", flush=True)
