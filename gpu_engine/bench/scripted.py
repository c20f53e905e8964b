"""An engine without a model: it answers each stream at once, so that what is measured around it
is everything but speech. Started by the gateway bench as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvloop

from gpu_engine.proto import engine_pb2, engine_pb2_grpc

FRAME_SAMPLES = 1920
SAMPLE_RATE = 24_000
# Frames of 80 ms in each piece of audio, as a stream grows, and the pause between the pieces.
RAMP = (1, 2, 4, 8, 15)
PAUSE_SECONDS = 0.04
MODEL = "scripted"
VOICE = "Anna"


class ScriptedEngine(engine_pb2_grpc.EngineServicer):
    """Speaks 2.4 s of one tone for whatever it is told."""

    def __init__(self) -> None:
        self._pcm = [b"\x00\x10" * (frames * FRAME_SAMPLES) for frames in RAMP]

    async def Models(self, request: Any, context: Any) -> engine_pb2.ModelsResponse:  # noqa: N802
        preset = engine_pb2.Preset(name=VOICE, native_language="english", description="female")
        model = engine_pb2.Model(
            id=MODEL,
            kind="custom_voice",
            presets=[preset],
            languages=["english"],
            sample_rate=SAMPLE_RATE,
            fingerprint="1",
        )
        return engine_pb2.ModelsResponse(models=[model])

    async def Status(self, request: Any, context: Any) -> engine_pb2.EngineStatus:  # noqa: N802
        ready = engine_pb2.EngineStatus.STATE_READY
        return engine_pb2.EngineStatus(engine_id=MODEL, state=ready)

    async def Synthesize(  # noqa: N802
        self, requests: AsyncIterator[Any], context: Any
    ) -> AsyncIterator[engine_pb2.SynthesizeEvent]:
        await anext(aiter(requests))
        accepted = engine_pb2.Accepted(text_tokens=1, sample_rate=SAMPLE_RATE)
        yield engine_pb2.SynthesizeEvent(accepted=accepted)
        samples = 0
        for pcm in self._pcm:
            audio = engine_pb2.Audio(pcm=pcm, first_sample=samples)
            yield engine_pb2.SynthesizeEvent(audio=audio)
            samples += len(pcm) // 2
            await asyncio.sleep(PAUSE_SECONDS)
        finished = engine_pb2.Finished(
            reason=engine_pb2.FINISH_REASON_STOP, samples=samples, frames=sum(RAMP), text_tokens=1
        )
        yield engine_pb2.SynthesizeEvent(finished=finished)


async def serve(address: str) -> None:
    server = grpc.aio.server()
    engine_pb2_grpc.add_EngineServicer_to_server(ScriptedEngine(), server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", required=True)
    uvloop.run(serve(parser.parse_args().listen))
