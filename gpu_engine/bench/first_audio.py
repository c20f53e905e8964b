"""One short text over HTTP and over the engine's own gRPC: seconds to first audio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import grpc

from gpu_engine.bench.forms import Form
from gpu_engine.bench.load import poisson
from gpu_engine.proto import engine_pb2, engine_pb2_grpc

TEXT = "Good morning, and welcome."
Ask = Callable[[], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Window:
    """First audio of each request, and how late the load itself was with it, in ms."""

    first_audio_ms: list[float]
    late_ms: list[float]


class Grpc:
    """Straight to the engine, over one channel."""

    def __init__(self, target: str, model: str, voice: str) -> None:
        self._channel = grpc.aio.insecure_channel(target)
        self._stub = engine_pb2_grpc.EngineStub(self._channel)  # type: ignore[no-untyped-call]
        start = engine_pb2.Start(
            model=model, voice=engine_pb2.Voice(preset=voice), text=TEXT, language="auto", seed=1
        )
        self._start = engine_pb2.SynthesizeRequest(start=start)

    async def ask(self) -> float:
        sent = time.perf_counter()
        first = 0.0
        call = self._stub.Synthesize(timeout=60)
        await call.write(self._start)
        await call.done_writing()
        async for event in call:
            if not first and event.HasField("audio"):
                first = time.perf_counter() - sent
        return first

    async def close(self) -> None:
        await self._channel.close()


class Http:
    """Through the gateway, over connections that are kept, as clients' libraries do."""

    def __init__(self, host: str, port: int, key: str, form: Form) -> None:
        self._where = (host, port)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._request = form.request(f"{host}:{port}", key)

    async def ask(self) -> float:
        connection = await self._connection()
        reader, writer = connection
        sent = time.perf_counter()
        first = 0.0
        writer.write(self._request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
            first = first or time.perf_counter() - sent
        await reader.readexactly(2)
        self._idle.append(connection)
        return first

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """One that the server has not closed meanwhile."""
        while self._idle:
            reader, writer = self._idle.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return reader, writer
        return await asyncio.open_connection(*self._where)

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


async def window(ask: Ask, rate: float, seconds: float, seed: int) -> Window:
    """Open loop: a request at each arrival of a Poisson process, however many are under way."""
    began = time.perf_counter() + 0.1
    late: list[float] = []

    async def one(at: float) -> float:
        await asyncio.sleep(began + at - time.perf_counter())
        late.append((time.perf_counter() - began - at) * 1000)
        return await ask() * 1000

    taken = await asyncio.gather(*(one(at) for at in poisson(rate, seconds, seed)))
    return Window(list(taken), late)
