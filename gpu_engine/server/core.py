"""The core process: one loop, one device, one socket to its front. Run by the supervisor."""

from __future__ import annotations

import contextlib
import math
import resource
import signal
import sys
import time
from collections.abc import Iterator

import msgspec
import torch
import zmq

from gpu_engine import messages as m
from gpu_engine.config import read_config
from gpu_engine.errors import CheckpointError
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.models.prompt import PromptRequest, plan_prompt
from gpu_engine.runner import Runner, Session
from gpu_engine.scheduler import Scheduler
from gpu_engine.server.engine import Engine
from gpu_engine.server.logs import configure_logs
from gpu_engine.server.settings import EngineSettings

HEARTBEAT_S = 0.5
# Streams that come and go are told sooner, but not more often than this.
FRESHNESS_S = 0.05
# The usual decodes. A shape's first decode costs twice: the convolutions prepare for it.
WARM_UP = {1: (1, 2, 4, 8, 16), 2: (2, 4, 8), 4: (2, 4, 8)}


class Core:
    """Between jobs it reads its mail; with nothing to do it sleeps until mail, pacing or pulse."""

    def __init__(self, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.set_hwm(0)
        self._socket.connect(address)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(sys.stdin.fileno(), zmq.POLLIN)
        self._pulse = self._told_at = 0.0
        self._told_streams = 0

    def send(self, message: m.ToFront) -> None:
        self._socket.send(m.encode(message))

    def serve(self, engine: Engine) -> None:
        """Until the front is gone."""
        pause = 0.0
        while self._front_lives(pause):
            for message in self._mail():
                engine.handle(message, time.monotonic())
            worked = engine.turn()
            self._beat(engine)
            pause = 0.0 if worked else self._idle(engine)

    def _idle(self, engine: Engine) -> float:
        """Nothing may run: checks the books and returns the seconds until something might."""
        engine.scheduler.check()
        now = time.monotonic()
        wake = engine.scheduler.wakes_at(now)
        return max(0.0, (self._pulse if wake is None else min(wake, self._pulse)) - now)

    def _front_lives(self, pause: float) -> bool:
        """Sleeps for `pause` or until there is mail. The front never writes to our standard input:
        readable means that it closed it, or died."""
        ready = dict(self._poller.poll(math.ceil(1000 * pause)))
        return sys.stdin.fileno() not in ready

    def _mail(self) -> Iterator[m.ToCore]:
        with contextlib.suppress(zmq.Again):
            while True:
                yield m.decode_to_core(self._socket.recv(zmq.NOBLOCK))

    def _beat(self, engine: Engine) -> None:
        now = time.monotonic()
        streams = len(engine.scheduler.streams)
        if streams != self._told_streams:
            self._pulse = min(self._pulse, self._told_at + FRESHNESS_S)
        if now >= self._pulse:
            self._pulse, self._told_at, self._told_streams = now + HEARTBEAT_S, now, streams
            self.send(engine.status(memory_bytes()))

    def close(self) -> None:
        self._socket.close(linger=1000)
        self._context.term()


def memory_bytes() -> int:
    """The most this process has held: on the device where there is one, resident otherwise."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def pick_device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def build_engine(settings: EngineSettings, core: Core) -> Engine:
    """Raises CheckpointError. Ready means that a first synthesis has passed."""
    config = read_config(settings.folder)
    torch.set_num_threads(settings.cpu_threads(config.talker))
    device = pick_device(settings.device)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    checkpoint = load_checkpoint(settings.folder, device, dtype)
    runner = Runner(checkpoint, settings.slots(device), settings.max_positions)
    warm_up(runner)
    core.send(
        m.CoreReady(
            fingerprint=checkpoint.fingerprint,
            device=device,
            capacity=settings.slots(device),
            can_encode_voice=checkpoint.speaker_encoder is not None,
        )
    )
    return Engine(runner, Scheduler(settings.scheduler(device)), core.send)


def warm_up(runner: Runner) -> None:
    """Every module in every usual size, so that no client waits for lazy initialisation."""
    for rows, chunks in WARM_UP.items():
        sessions = [warm_up_session(runner.checkpoint) for _ in range(min(rows, runner.slots))]
        for slot, session in enumerate(sessions):
            runner.prefill(session, slot)
        runner.predict(sessions)
        runner.talk(sessions)
        for frames in chunks:
            runner.decode(sessions, frames)


def warm_up_session(checkpoint: Checkpoint) -> Session:
    config = checkpoint.config
    vector = torch.zeros(config.talker.hidden_size) if config.kind == "base" else None
    speaker = next(iter(config.talker.spk_id), "") if config.kind == "custom_voice" else ""
    request = PromptRequest("Ready.", speaker=speaker, embedding=vector)
    plan = plan_prompt(config, checkpoint.tokenizer, request)
    return Session(plan, config.sampling, seed=0, vector=vector)


def main(address: str, arguments: str) -> int:
    # Ctrl-C reaches the whole process group; the front decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure_logs("core")
    settings = msgspec.json.decode(arguments, type=EngineSettings)
    core = Core(address)
    try:
        core.serve(build_engine(settings, core))
    except CheckpointError as error:
        core.send(m.CoreFailed(error.message))
        return 2
    finally:
        core.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
