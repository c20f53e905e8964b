"""A stand-in for the engine that fails on command: real gRPC over a Unix socket, real PCM.

For fault injection only; that the product speaks is shown against the real engine."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import lru_cache

import grpc

from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc

CHUNK_SAMPLES = 1920
FINGERPRINT = "scripted-1"
EMBEDDING_SIZE = 8
WAIT = 10.0


@lru_cache(64)  # not the thousand of a stream that is to fill buffers
def chunk(place: int) -> bytes:
    """80 ms of a tone that differs from chunk to chunk, so that a lost or swapped one shows."""
    pitch = 200 + 40 * place
    samples = (round(9000 * math.sin(math.tau * pitch * n / 24_000)) for n in range(CHUNK_SAMPLES))
    return struct.pack(f"<{CHUNK_SAMPLES}h", *samples)


def spoken(chunks: int) -> bytes:
    return b"".join(chunk(place) for place in range(chunks))


@dataclass
class Script:
    """How streams go: those to come, or one after the other in `next_scripts`.
    `tells_words`: those of the text, evenly over the audio, where they are asked for.
    `frames`: told to have been made, as many as chunks if None.
    `hold_after`: wait there for `release` (or the client's end)."""

    chunks: int = 5
    hold_after: int | None = None
    error: pb.Error | None = None
    error_after: int = 0
    hang_up_after: int | None = None
    reason: int = pb.FINISH_REASON_STOP
    ignore_cancel: bool = False
    tells_words: bool = False
    frames: int | None = None


@dataclass
class Heard:
    """What one stream was told, and how it ended."""

    start: pb.Start
    appended: list[str] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    outcome: str = ""
    spoken: int = 0

    @property
    def text(self) -> str:
        return self.start.text + "".join(self.appended)


class ScriptedEngine(engine_pb2_grpc.EngineServicer):
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.script = Script()
        self.next_scripts: deque[Script] = deque()
        self.heard: list[Heard] = []
        self.release = threading.Event()
        self.arrived = threading.Semaphore(0)
        self.state = pb.EngineStatus.STATE_READY
        self.told = pb.EngineStatus()
        self.models = [custom_voice_model()]
        self.encoded: list[pb.EncodeVoiceRequest] = []
        self.encode_refusal = self.refused_field = ""
        self.unloaded: list[pb.KeepVoiceRequest] = []

    def wait_for_stream(self) -> Heard:
        assert self.arrived.acquire(timeout=WAIT), "no stream reached the engine"
        return self.heard[-1]

    async def Models(self, request, context) -> pb.ModelsResponse:  # noqa: N802
        return pb.ModelsResponse(models=self.models)

    async def Status(self, request, context) -> pb.EngineStatus:  # noqa: N802
        status = pb.EngineStatus(engine_id="scripted", state=self.state)
        status.MergeFrom(self.told)
        return status

    async def EncodeVoice(self, request, context) -> pb.EncodeVoiceResponse:  # noqa: N802
        """The same request gives the same artifact, under the hash of its content."""
        if self.encode_refusal:
            is_fault = self.encode_refusal == "invalid_request"
            status = grpc.StatusCode.INVALID_ARGUMENT if is_fault else grpc.StatusCode.UNAVAILABLE
            told = {"code": self.encode_refusal, "field": self.refused_field}
            reason = tuple((f"parlance-{name}", value) for name, value in told.items())
            await context.abort(status, "no work is taken", reason)
        self.encoded.append(request)
        weights = next(m.fingerprint for m in self.models if m.id == request.model)
        content = hashlib.sha256(weights.encode() + request.SerializeToString()).digest() * 40
        return pb.EncodeVoiceResponse(
            embedding=pb.SpeakerEmbedding(values=[0.5] * EMBEDDING_SIZE),
            codes=bytes(32 * 25) if request.text else b"",
            artifact=content,
            id=hashlib.sha256(content).hexdigest(),
            fingerprint=weights,
        )

    async def KeepVoice(self, request, context) -> pb.KeepVoiceResponse:  # noqa: N802
        """Had it pinned, and has it no more."""
        assert request.act == pb.KeepVoiceRequest.ACT_UNLOAD
        is_known = not self.unloaded
        self.unloaded.append(request)
        before = pb.HeldVoice(pinned=is_known, entries=2 * is_known, bytes=800 * is_known)
        return pb.KeepVoiceResponse(before=before, after=pb.HeldVoice())

    async def Synthesize(self, requests, context) -> AsyncIterator[pb.SynthesizeEvent]:  # noqa: N802
        first = await anext(aiter(requests))
        heard = Heard(first.start)
        self.heard.append(heard)
        self.arrived.release()
        told = _Told(heard)
        if first.start.complete:
            told.text_ended.set()
        listener = asyncio.create_task(told.listen(requests))
        try:
            script = self.next_scripts.popleft() if self.next_scripts else self.script
            async for event in self._speak(heard, told, script):
                yield event
        except asyncio.CancelledError:
            heard.outcome = "dropped"
            raise
        finally:
            listener.cancel()
            heard.ended.set()

    async def _speak(self, heard: Heard, told: _Told, script: Script) -> AsyncIterator:
        accepted = pb.Accepted(text_tokens=7, sample_rate=24_000, engine_id="scripted")
        yield pb.SynthesizeEvent(accepted=accepted)
        samples, most = 0, heard.start.max_frames or script.chunks
        for place in range(min(script.chunks, most)):
            if script.error is not None and place == script.error_after:
                heard.outcome = "error"
                yield pb.SynthesizeEvent(error=script.error)
                return
            if script.hang_up_after == place:
                heard.outcome = "hung up"
                return
            if script.hold_after == place:
                heard.reached.set()
                await self._hold(told, script)
            if told.cancelled.is_set() and not script.ignore_cancel:
                break
            yield pb.SynthesizeEvent(audio=pb.Audio(pcm=chunk(place), first_sample=samples))
            samples += CHUNK_SAMPLES
            heard.spoken = place + 1
        was_cancelled = told.cancelled.is_set()
        if not was_cancelled:
            await told.text_ended.wait()
            if script.tells_words and heard.start.word_times:
                yield pb.SynthesizeEvent(words=_words(heard.text, samples))
        heard.outcome = "cancelled" if was_cancelled else "finished"
        reason = pb.FINISH_REASON_LENGTH if most < script.chunks else script.reason
        reason = pb.FINISH_REASON_CANCELLED if was_cancelled else reason
        yield pb.SynthesizeEvent(finished=_finished(reason, samples, script.frames))

    async def _hold(self, told: _Told, script: Script) -> None:
        released = asyncio.create_task(asyncio.to_thread(self.release.wait, WAIT))
        waits = {released}
        if not script.ignore_cancel:
            waits.add(asyncio.create_task(told.cancelled.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in waits:
                waiting.cancel()


class _Told:
    """The client's later messages, as they come."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.text_ended = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def listen(self, requests) -> None:
        async for request in requests:
            if request.HasField("append"):
                self._heard.appended.append(request.append.text)
            elif request.HasField("cancel"):
                self.cancelled.set()
            else:
                self.text_ended.set()
        self.text_ended.set()


def custom_voice_model(fingerprint: str = FINGERPRINT) -> pb.Model:
    return pb.Model(
        id="scripted-voices",
        kind="custom_voice",
        presets=[
            pb.Preset(name="Anna", native_language="english", description="A calm female voice"),
            pb.Preset(name="Ben", native_language="english", description="A deep male voice"),
        ],
        languages=["english", "german"],
        word_time_languages=["english"],
        sample_rate=24_000,
        fingerprint=fingerprint,
    )


def base_model(fingerprint: str = FINGERPRINT) -> pb.Model:
    return pb.Model(
        id="scripted-base",
        kind="base",
        languages=["english", "german"],
        sample_rate=24_000,
        fingerprint=fingerprint,
        can_encode_voice=True,
        can_encode_reference=True,
        embedding_size=EMBEDDING_SIZE,
    )


def _words(text: str, samples: int) -> pb.Words:
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    step = samples // len(spans)
    return pb.Words(
        words=[
            pb.Word(
                first_character=first,
                end_character=end,
                first_sample=place * step,
                end_sample=(place + 1) * step,
            )
            for place, (first, end) in enumerate(spans)
        ]
    )


def _finished(reason: int, samples: int, frames: int | None) -> pb.Finished:
    return pb.Finished(
        reason=reason,
        samples=samples,
        frames=samples // CHUNK_SAMPLES if frames is None else frames,
        text_tokens=7,
        gpu=pb.GpuTime(talker_ms=1.5, predictor_ms=2.5, codec_ms=0.5),
    )


class EngineThread:
    """Runs the servicer in a loop of its own; it can go away and come back."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.engine = ScriptedEngine()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: grpc.aio.Server | None = None
        self.start()

    def start(self) -> None:
        if self._server is None:
            self._run(self._start())

    def stop(self) -> None:
        if self._server is not None:
            self._run(self._server.stop(grace=None))
            self._server = None

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)

    async def _start(self) -> None:
        self._server = grpc.aio.server()
        engine_pb2_grpc.add_EngineServicer_to_server(self.engine, self._server)
        self._server.add_insecure_port(self.target)
        await self._server.start()

    def _run(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT)
