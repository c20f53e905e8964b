"""An engine with presets and one that clones, and the recordings that voices are made of."""

from __future__ import annotations

import time
from dataclasses import dataclass

import grpc
import numpy as np
from numpy.typing import NDArray

from gpu_engine.bench.engine_client import EngineTarget
from gpu_engine.bench.texts import sentences
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

RATE = 24_000
FIRST = pb.TEXT_LAYOUT_REFERENCE_FIRST


@dataclass(frozen=True, slots=True)
class Clip:
    """Speech, and what is said in it."""

    samples: NDArray[np.float32]
    text: str

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


@dataclass(frozen=True, slots=True)
class Made:
    """A voice that the engine made of a clip, and the seconds that it took."""

    name: str
    artifact: bytes
    seconds: float

    def target(self, address: str, *, reference_first: bool = False) -> EngineTarget:
        voice = pb.Voice(artifact=pb.Artifact(data=self.artifact))
        layout = FIRST if reference_first else pb.TEXT_LAYOUT_UNSPECIFIED
        return EngineTarget(address, voice, layout=layout)


@dataclass(frozen=True, slots=True)
class Engines:
    """`presets` and `clones` are gRPC addresses."""

    presets: str
    clones: str

    async def make(self, clip: Clip, *, in_context: bool) -> Made:
        """Raises AioRpcError."""
        name = f"in context, {clip.seconds:.0f} s" if in_context else "x-vector"
        request = pb.EncodeVoiceRequest(
            pcm=clip.samples.astype("<f4").tobytes(), text=clip.text if in_context else ""
        )
        async with grpc.aio.insecure_channel(self.clones) as channel:
            began = time.perf_counter()
            voice = await _stub(channel).EncodeVoice(request)
            return Made(name, voice.artifact, time.perf_counter() - began)

    async def speak_clip(self, seconds: float, seed: int) -> Clip:
        """The preset engine's own speech, whole sentences, cut to about so many seconds."""
        target, length = EngineTarget(self.presets, profile="throughput"), 0
        parts: list[NDArray[np.float32]] = []
        texts: list[str] = []
        for number, text in enumerate(sentences(20, seed)):
            take = await target.speak(text, seed + number)
            part = np.frombuffer(bytes(take.pcm), "<i2").astype(np.float32) / np.float32(32768)
            if texts and length + len(part) > seconds * RATE:
                break
            parts.append(part)
            texts.append(text)
            length += len(part)
        return Clip(np.concatenate(parts), " ".join(texts))

    async def status(self) -> pb.EngineStatus:
        """Of the engine that clones."""
        async with grpc.aio.insecure_channel(self.clones) as channel:
            status: pb.EngineStatus = await _stub(channel).Status(pb.StatusRequest())
            return status


async def find(addresses: str) -> Engines:
    """Among addresses with commas between them. Raises SystemExit where a kind is missing."""
    kinds: dict[str, str] = {}
    for address in filter(None, map(str.strip, addresses.split(","))):
        async with grpc.aio.insecure_channel(address) as channel:
            answer = await _stub(channel).Models(pb.ModelsRequest(), wait_for_ready=True)
        for model in answer.models:
            kinds.setdefault(model.kind, address)
    for kind in ("custom_voice", "base"):
        if kind not in kinds:
            raise SystemExit(f"--engines={addresses!r} has no engine with a {kind} checkpoint")
    return Engines(kinds["custom_voice"], kinds["base"])


def variations(clip: Clip, count: int) -> list[Clip]:
    """So many recordings that no cache knows: the same speech a little quieter each time."""
    return [Clip(clip.samples * (1 - 0.01 * (n + 1)), clip.text) for n in range(count)]


def _stub(channel: grpc.aio.Channel) -> engine_pb2_grpc.EngineStub:
    return engine_pb2_grpc.EngineStub(channel)  # type: ignore[no-untyped-call]
