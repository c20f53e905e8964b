"""An engine that answers at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

SECOND = np.full(24_000, 8000, "<i2").tobytes()


class ScriptedEngine(engine_pb2_grpc.EngineServicer):
    """Presets and clones in one; a second of sound for any text."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.started: list[pb.Start] = []
        self.encoded: list[pb.EncodeVoiceRequest] = []

    async def Models(self, request: Any, context: Any) -> pb.ModelsResponse:  # noqa: N802
        model = pb.Model(id="tiny", kind=self.kind, presets=[pb.Preset(name="ryan")])
        return pb.ModelsResponse(models=[model])

    async def Status(self, request: Any, context: Any) -> pb.EngineStatus:  # noqa: N802
        return pb.EngineStatus(caches={"speakers": pb.CacheStatus(hits=7, bytes=1024)})

    async def EncodeVoice(self, request: Any, context: Any) -> pb.EncodeVoiceResponse:  # noqa: N802
        self.encoded.append(request)
        return pb.EncodeVoiceResponse(artifact=f"voice {len(self.encoded)}".encode())

    async def Synthesize(self, requests: Any, context: Any) -> Any:  # noqa: N802
        self.started.append((await anext(requests)).start)
        yield pb.SynthesizeEvent(audio=pb.Audio(pcm=SECOND))
        yield pb.SynthesizeEvent(finished=pb.Finished(samples=24_000))
