"""From settings to a runner that has proved itself: what a core does before it is ready."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import structlog
import torch

from gpu_engine.config import read_config
from gpu_engine.errors import CheckpointError, EngineError
from gpu_engine.models.checkpoint import WEIGHTS, Checkpoint, load_checkpoint
from gpu_engine.models.prompt import PromptRequest, plan_prompt
from gpu_engine.native import NativeRunner, library, runs_natively
from gpu_engine.runner import Device, LocalDevice, Runner, Sampled, Session
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.device.runner import GraphDevice
from gpu_engine.server.settings import BadSetting, EngineSettings

log = structlog.get_logger()

# The usual decodes. A shape's first decode costs twice: the convolutions prepare for it.
WARM_UP = {1: (1, 2, 4, 8, 16), 2: (2, 4, 8), 4: (2, 4, 8)}


def pick_device(wanted: str) -> str:
    """`cpu` or `cuda`. Raises BadSetting where there is none."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise BadSetting("--device is cuda and no CUDA device answers: give cpu or auto")
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def load_runner(settings: EngineSettings) -> Runner:
    """The checkpoint on its device, with memory for every stream. Raises EngineError."""
    config = read_config(settings.folder)
    torch.set_num_threads(settings.cpu_threads(config.talker))
    device = pick_device(settings.device)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    streams, positions = settings.slots(device, config.talker), settings.max_positions
    try:
        checkpoint = load_checkpoint(settings.folder, device, dtype)
        return build_runner(checkpoint, streams, positions, settings)
    except (MemoryError, RuntimeError) as error:
        # torch says so only in words that differ by device.
        if "memory" not in str(error).lower():
            raise
        wanted = f"the checkpoint and {streams} streams of {positions} positions"
        problem = f"too little memory on {device} for {wanted}"
        raise BadSetting(f"{problem}: lower --max-streams or --max-positions") from None


def load_device(settings: EngineSettings) -> tuple[Device, Checkpoint]:
    """A device that has proved itself by a synthesis. Raises EngineError.

    A GPU runs captured graphs; where its kernels cannot be built it runs the modules as they are,
    slower, and says so in the log.
    """
    kind = pick_device(settings.device)
    if kind == "cuda" and settings.kernels == "auto":
        try:
            return _load_graphs(settings)
        except EngineError:
            raise
        except Exception:  # any compiler, driver or shape may be the reason
            log.exception("no graphs on this device: the modules run as they are")
    runner = load_runner(settings)
    warm_up(runner)
    rows = settings.scheduler(kind, runner.checkpoint.config.talker).step_rows
    return LocalDevice(runner, rows, rows), runner.checkpoint


def _load_graphs(settings: EngineSettings) -> tuple[Device, Checkpoint]:
    checkpoint = load_checkpoint(settings.folder, "cuda", torch.bfloat16)
    device = GraphDevice(checkpoint, graph_plan(settings))
    prove(device, checkpoint)
    return device, checkpoint


def graph_plan(settings: EngineSettings) -> Plan:
    """Batch sizes up to the streams there may be."""
    usual, streams = Plan(), settings.cuda_slots
    return replace(
        usual,
        slots=streams,
        positions=settings.max_positions,
        texts=settings.max_text_tokens + 8,
        cache_bytes=settings.cache_bytes("cuda"),
        step_rows=_up_to(streams, usual.step_rows),
        codec_rows=_up_to(streams, usual.codec_rows),
        fp8=settings.weights == "fp8",
    )


def _up_to(streams: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes that hold at most so many rows, and one that holds them all if any does."""
    return tuple(n for at, n in enumerate(sizes) if at == 0 or sizes[at - 1] < streams)


def prove(device: Device, checkpoint: Checkpoint) -> None:
    """A frame from prompt to audio. Raises CheckpointError where its numbers are not finite."""
    slots = np.zeros(1, np.int64)
    device.open(0, warm_up_session(checkpoint))
    jobs = [device.prefill, device.predict, device.talk, device.predict]
    outcomes = [job(slots).wait() for job in jobs] + [device.decode(slots, 2).wait()]
    device.close(0)
    if any(outcome.broken.any() for outcome in outcomes):
        raise _nonsense(checkpoint, "numbers")


def build_runner(
    checkpoint: Checkpoint, streams: int, positions: int, settings: EngineSettings
) -> Runner:
    """C where it is faster and can be had, PyTorch's operators elsewhere."""
    cache_bytes = settings.cache_bytes(checkpoint.talker.device.type)
    compiled = library() if settings.kernels == "auto" and runs_natively(checkpoint) else None
    if compiled is None:
        return Runner(checkpoint, streams, positions, cache_bytes)
    return NativeRunner(
        checkpoint, streams, positions, compiled, settings.codec_threads, cache_bytes
    )


def warm_up(runner: Runner) -> None:
    """Every module in every usual size, so that no client waits for lazy initialisation, and a
    synthesis that passed. Raises CheckpointError where the weights make no finite numbers."""
    for rows, chunks in WARM_UP.items():
        sessions = [warm_up_session(runner.checkpoint) for _ in range(min(rows, runner.slots))]
        for slot, session in enumerate(sessions):
            _refuse_broken(runner, runner.prefill(session, slot))
        runner.predict(sessions)
        _refuse_broken(runner, runner.talk(sessions))
        for frames in chunks:
            heard = runner.decode(sessions, frames)
            if not all(bool(torch.from_numpy(row).isfinite().all()) for row in heard):
                raise _nonsense(runner.checkpoint, "audio")


def warm_up_session(checkpoint: Checkpoint) -> Session:
    """A stream of a few words, by whatever voice the checkpoint has."""
    config = checkpoint.config
    vector = torch.zeros(config.talker.hidden_size) if config.kind == "base" else None
    speaker = next(iter(config.talker.spk_id), "") if config.kind == "custom_voice" else ""
    request = PromptRequest("Ready.", speaker=speaker, embedding=vector)
    plan = plan_prompt(config, checkpoint.tokenizer, request)
    return Session(plan, config.sampling, seed=0, vector=vector)


def _refuse_broken(runner: Runner, sampled: Sampled) -> None:
    if any(sampled.broken):
        raise _nonsense(runner.checkpoint, "hidden states")


def _nonsense(checkpoint: Checkpoint, what: str) -> CheckpointError:
    problem = f"a first synthesis made {what} that are not finite: the weights are damaged"
    return CheckpointError(checkpoint.folder / WEIGHTS, problem)
