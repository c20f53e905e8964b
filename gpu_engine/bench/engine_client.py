"""The same load straight at an engine: one gRPC stream a request, no control plane."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc

from gpu_engine.bench.client import Take
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

PROFILES = {
    "latency": pb.CHUNK_PROFILE_LATENCY,
    "balanced": pb.CHUNK_PROFILE_BALANCED,
    "throughput": pb.CHUNK_PROFILE_THROUGHPUT,
}


@dataclass(slots=True)
class EngineTarget:
    """`address` is `host:port` or `unix:/path`; `voice` a preset's name or any voice, the engine's
    first preset where it is empty. `frames_a_word` bounds speech that does not end by itself;
    0: the engine's own bound. Who waits for more than `patience` seconds has failed."""

    address: str
    voice: str | pb.Voice = ""
    profile: str = "latency"
    layout: pb.TextLayout = pb.TEXT_LAYOUT_UNSPECIFIED
    frames_a_word: int = 0
    patience: float | None = None
    language: str = "auto"
    tenant: str = ""
    _stub: engine_pb2_grpc.EngineStub | None = field(default=None, repr=False)

    async def speak(self, text: str, seed: int) -> Take:
        """Streams one text. A failure is part of the result."""
        take = Take(text)
        sent = time.perf_counter()
        try:
            stub = await self._open()
            async for event in stub.Synthesize(self._requests(text, seed), timeout=self.patience):
                self._take(take, event, sent)
        except grpc.aio.AioRpcError as error:
            take.failure = f"{error.code().name}: {error.details()}"
        take.total = time.perf_counter() - sent
        return take

    async def status(self) -> pb.EngineStatus:
        """Raises AioRpcError."""
        status: pb.EngineStatus = await (await self._open()).Status(pb.StatusRequest())
        return status

    async def trace(self, seconds: float) -> bytes:
        """Packed, as Perfetto opens it. Raises AioRpcError."""
        answer: pb.TraceResponse = await (await self._open()).Trace(
            pb.TraceRequest(seconds=seconds)
        )
        return answer.json_gz

    async def _open(self) -> engine_pb2_grpc.EngineStub:
        """One channel for all requests, as a control plane has."""
        if self._stub is None:
            channel = grpc.aio.insecure_channel(self.address)
            self._stub = engine_pb2_grpc.EngineStub(channel)  # type: ignore[no-untyped-call]
        if not self.voice:
            models = (await self._stub.Models(pb.ModelsRequest())).models
            self.voice = models[0].presets[0].name
        return self._stub

    async def _requests(self, text: str, seed: int) -> AsyncIterator[pb.SynthesizeRequest]:
        voice = pb.Voice(preset=self.voice) if isinstance(self.voice, str) else self.voice
        start = pb.Start(
            text=text,
            voice=voice,
            layout=self.layout,
            language=self.language,
            tenant=self.tenant,
            seed=seed,
            profile=PROFILES[self.profile],
            max_frames=self.frames_a_word * len(text.split()),
        )
        yield pb.SynthesizeRequest(start=start)
        yield pb.SynthesizeRequest(end=pb.End())

    @staticmethod
    def _take(take: Take, event: pb.SynthesizeEvent, sent: float) -> None:
        match event.WhichOneof("event"):
            case "audio":
                take.pcm += event.audio.pcm
                take.arrivals.append((time.perf_counter() - sent, take.samples))
            case "error":
                take.failure = event.error.code
