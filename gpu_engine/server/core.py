"""The core process: one loop, one device, one socket to its front. Run by the supervisor."""

from __future__ import annotations

import contextlib
import gc
import math
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import structlog
import torch
import zmq

from gpu_engine import messages as m
from gpu_engine.align.load import load_aligner
from gpu_engine.errors import EngineError
from gpu_engine.scheduler import BooksError, Scheduler
from gpu_engine.server.calibrate import limits, measure
from gpu_engine.server.engine import Engine
from gpu_engine.server.loading import load_device, warm_up_session
from gpu_engine.server.logs import configure_logs
from gpu_engine.server.settings import EngineSettings

log = structlog.get_logger()

HEARTBEAT_S = 0.5
# Streams that come and go are told sooner, but not more often than this.
FRESHNESS_S = 0.05


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
        try:
            engine.check()
        except BooksError as error:
            log.critical("the books do not balance", problem=str(error))
            raise
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
        streams = len(engine.scheduler)
        if streams != self._told_streams:
            self._pulse = min(self._pulse, self._told_at + FRESHNESS_S)
        if now >= self._pulse:
            self._pulse, self._told_at, self._told_streams = now + HEARTBEAT_S, now, streams
            self.send(engine.status(memory_bytes(), now))

    def close(self) -> None:
        self._socket.close(linger=1000)
        self._context.term()


def memory_bytes() -> int:
    """The most this process has held: on the device where there is one, resident otherwise."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def hardware(device: str) -> str:
    """What it is called by its maker; "" where nobody knows."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return ""
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")


def build_engine(settings: EngineSettings, core: Core) -> Engine:
    """Raises EngineError. Ready means that a first synthesis has passed."""
    device, checkpoint = load_device(settings)
    kind = checkpoint.talker.device.type
    folder = settings.aligner_folder
    aligner = None if folder is None else load_aligner(folder, checkpoint.talker.device)
    chosen = settings.scheduler(kind, checkpoint.config.talker)
    measured = measure(device, lambda: warm_up_session(checkpoint))
    scheduler = Scheduler(limits(chosen, device.shapes), measured)
    core.send(
        m.CoreReady(
            fingerprint=checkpoint.fingerprint,
            device=kind,
            capacity=chosen.slots,
            can_encode_voice=checkpoint.speaker_encoder is not None,
            hardware=hardware(kind),
        )
    )
    overlapped = settings.overlaps(device.shapes.overlapped)
    return Engine(device, scheduler, checkpoint.config, core.send, overlapped, aligner)


def main(address: str, arguments: str) -> int:
    # Ctrl-C reaches the whole process group; the front decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure_logs("core")
    settings = msgspec.json.decode(arguments, type=EngineSettings)
    core = Core(address)
    try:
        engine = build_engine(settings, core)
        # What is loaded stays: looking through it for garbage takes as long as a first audio does.
        gc.collect()
        gc.freeze()
        core.serve(engine)
    except EngineError as error:
        core.send(m.CoreFailed(error.message))
        return 2
    finally:
        core.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
