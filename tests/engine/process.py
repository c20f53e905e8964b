"""A real engine: its process, its channel, and a client that talks as the control plane does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc
from numpy.typing import NDArray

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
PATIENCE_S = 60


@dataclass
class Answer:
    """One Synthesize call's events, gathered."""

    accepted: pb.Accepted | None = None
    pcm: bytes = b""
    finished: pb.Finished | None = None
    error: pb.Error | None = None
    kinds: list[str] = field(default_factory=list)

    @property
    def samples(self) -> NDArray[np.int16]:
        return np.frombuffer(self.pcm, "<i2")

    def take(self, event: pb.SynthesizeEvent) -> str:
        kind = event.WhichOneof("event") or ""
        self.kinds.append(kind)
        match kind:
            case "accepted":
                self.accepted = event.accepted
            case "audio":
                assert event.audio.first_sample == len(self.pcm) // 2
                self.pcm += event.audio.pcm
            case "finished":
                self.finished = event.finished
            case "error":
                self.error = event.error
        return kind


class EngineProcess:
    """`python -m gpu_engine serve` on a Unix socket; `log` is what it wrote to standard error."""

    def __init__(self, folder: Path, checkpoint: Path, *flags: str) -> None:
        self.address = f"unix:{folder}/engine.sock"
        self._command = [sys.executable, "-m", "gpu_engine", "serve"]
        self._command += ["--checkpoint", str(checkpoint), "--listen", self.address]
        self._command += ["--device", "cpu", "--threads", "1", "--max-positions", "512", *flags]
        self.process: Process
        self.channel: grpc.aio.Channel

    async def __aenter__(self) -> EngineProcess:
        await self.launch()
        self.channel = grpc.aio.insecure_channel(self.address)
        self.stub = engine_pb2_grpc.EngineStub(self.channel)
        self.checks = health_pb2_grpc.HealthStub(self.channel)
        await self.wait_for(SERVING)
        return self

    async def launch(self) -> Process:
        self.process = await asyncio.create_subprocess_exec(*self._command, stderr=PIPE)
        return self.process

    async def __aexit__(self, *_: object) -> None:
        await self.channel.close()
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        await self.process.communicate()

    async def wait_for(self, wanted: int) -> None:
        """Until the health service says so."""
        request = health_pb2.HealthCheckRequest()
        async with asyncio.timeout(PATIENCE_S):
            watch = self.checks.Watch(request, wait_for_ready=True)
            async for answer in watch:
                if answer.status == wanted:
                    watch.cancel()
                    return

    async def status_when(self, streams: int) -> pb.EngineStatus:
        """The first status that counts that many streams."""
        async with asyncio.timeout(PATIENCE_S):
            watch = self.stub.WatchStatus(pb.WatchStatusRequest(interval_ms=100))
            async for status in watch:
                if status.state == pb.EngineStatus.STATE_READY and status.streams == streams:
                    watch.cancel()
                    return status
        raise AssertionError("the watch ended")

    def open(self) -> grpc.aio.StreamStreamCall:
        return self.stub.Synthesize(timeout=PATIENCE_S)

    async def ask(self, requests: Sequence[pb.SynthesizeRequest]) -> Answer:
        """Sends all requests, closes its side, and reads to the end."""

        async def sent() -> AsyncIterator[pb.SynthesizeRequest]:
            for request in requests:
                yield request

        answer = Answer()
        try:
            async for event in self.stub.Synthesize(sent(), timeout=PATIENCE_S):
                answer.take(event)
        except grpc.aio.AioRpcError:
            # A call that is refused while it is still written breaks behind the refusal.
            if answer.error is None:
                raise
        return answer

    async def say(self, start: pb.Start) -> Answer:
        """The control plane's usual call: Start with the whole text, then End."""
        return await self.ask([opening(start), END])

    def core(self) -> int:
        """The core's process id: the front has one child."""
        front = self.process.pid
        children = Path(f"/proc/{front}/task/{front}/children").read_text().split()
        assert len(children) == 1
        return int(children[0])


END = pb.SynthesizeRequest(end=pb.End())
CANCEL = pb.SynthesizeRequest(cancel=pb.Cancel())


def opening(start: pb.Start) -> pb.SynthesizeRequest:
    return pb.SynthesizeRequest(start=start)


def append(text: str) -> pb.SynthesizeRequest:
    return pb.SynthesizeRequest(append=pb.Append(text=text))


async def ended(pid: int) -> None:
    """Returns when the process has ended; it need not be our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(handle, over.set)
    async with asyncio.timeout(PATIENCE_S):
        await over.wait()
    loop.remove_reader(handle)
    os.close(handle)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
