"""One training run of the Talker, from shards of codes to weights on disk."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_engine.config import read_config
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.objective import REPORT
from gpu_engine.train.progress import Progress
from gpu_engine.train.runtime import Clock, Log, World, agreed
from gpu_engine.train.store import Capacity, CodeStore, finished
from gpu_engine.train.talker import Settings, Trainer
from gpu_engine.train.talker_state import load_state, load_weights, save_state, save_weights


@dataclass(frozen=True, slots=True)
class Run:
    """`codes`: folder that shards arrive in, from `writers` processes; training starts when
    `start_hours` of speech are there or all writers are done. `state`: folder to resume from and
    to save to; `deadline`: Unix time by which to end, whatever the settings say; `pause`: Unix time
    at which to stop in the middle, to be resumed."""

    recipe: Path
    codes: Path
    out: Path
    state: Path | None = None
    weights: Path | None = None
    writers: int = 1
    start_hours: float = 1.0
    deadline: float = 0.0
    pause: float = 0.0
    save_seconds: float = 120.0
    report_steps: int = 100
    validate_steps: int = 1000
    speaker: bool = True


def train_talker(
    run: Run, settings: Settings, world: World, capacity: Capacity | None = None
) -> Trainer:
    """Trains until the budget is used; weights, log.json and curves.png end up in `out`."""
    run.out.mkdir(parents=True, exist_ok=True)
    config = read_config(run.recipe)
    role = TextTokenizer(run.recipe, config.text_ids).role
    speaker = config.speaker_encoder if run.speaker else None
    bands = speaker.mel_dim if speaker else 128
    store = CodeStore(tuple(config.talker.spk_id), world.device, capacity, bands=bands)
    trainer = Trainer(config, role, store, settings, world, speaker)
    if run.weights is not None:
        load_weights(trainer, run.weights)
    if world.device.type == "cuda":
        trainer.prepare()
    _say(world, "ready to train")
    _wait(run, store, world)
    before = _resume(run, trainer)
    if run.deadline:
        left = agreed(run.deadline - time.time() + before, world)
        trainer.settings = replace(settings, seconds=min(settings.seconds, left))
    trainer.clock = Clock(before)
    if run.pause:
        trainer.pause_after = agreed(run.pause - time.time() + before, world)
    _loop(run, trainer, Log.going_on(run.out, trainer.step + 1))
    return trainer


def _wait(run: Run, store: CodeStore, world: World) -> None:
    """Until there is enough to begin with."""
    store.refresh(run.codes)
    while store.seconds < run.start_hours * 3600 and not finished(run.codes, run.writers):
        time.sleep(0.5)
        store.refresh(run.codes)
    store.refresh(run.codes)
    if not len(store.rows):
        raise ValueError(f"{run.codes} holds no speech")
    _say(world, f"starting with {store.seconds / 3600:.2f} h of speech")


def _resume(run: Run, trainer: Trainer) -> float:
    """Seconds of training before this process."""
    if run.state is None or not (run.state / "state.json").exists():
        return 0.0
    load_state(trainer, run.state)
    _say(trainer.world, f"resumed at step {trainer.step}")
    return trainer.clock.elapsed()


def _loop(run: Run, trainer: Trainer, log: Log) -> None:
    world, epoch = trainer.world, trainer.feed.epoch
    saved = time.monotonic()
    with Progress("talker", world.leads) as progress:
        while trainer.done() < 1 and not trainer.paused:
            trainer.advance()
            if trainer.feed.epoch != epoch:
                epoch = trainer.feed.epoch
                trainer.store.refresh(run.codes)
            if trainer.step % run.report_steps == 0 and trainer.done() < 1:
                _report(trainer, log, progress, trainer.step % run.validate_steps == 0)
            if world.leads and time.monotonic() - saved > run.save_seconds:
                _save(run, trainer, log, drawn=False)
                saved = time.monotonic()
        _report(trainer, log, progress, True)
    if world.leads:
        _save(run, trainer, log)


def _report(trainer: Trainer, log: Log, progress: Progress, validate: bool) -> None:
    if not trainer.world.leads:
        return
    row = {
        "step": float(trainer.step),
        "seconds": round(trainer.clock.elapsed(), 1),
        "hours": round(trainer.store.seconds / 3600, 2),
        "epoch": float(trainer.feed.epoch),
        "rate": trainer.optimiser.param_groups[0]["lr"],
    }
    row |= dict(zip(REPORT, trainer.report.tolist(), strict=False))
    if validate and len(trainer.held_out):
        row |= trainer.validate()
    log.add(row)
    progress.at(trainer.done(), f"step {trainer.step}")


def _save(run: Run, trainer: Trainer, log: Log, drawn: bool = True) -> None:
    save_weights(trainer, run.out)
    if run.state is not None:
        save_state(trainer, run.state)
    log.save(drawn)


def _say(world: World, text: str) -> None:
    if world.leads:
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
