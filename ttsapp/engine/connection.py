"""One engine over gRPC: one channel for each process, one call for each stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
from django.conf import settings
from google.protobuf.message import Message

from gpu_engine.proto import engine_pb2, engine_pb2_grpc
from ttsapp.engine import errors
from ttsapp.errors import ApiError

Answer = TypeVar("Answer")

if TYPE_CHECKING:
    Call = grpc.aio.StreamStreamCall[engine_pb2.SynthesizeRequest, engine_pb2.SynthesizeEvent]

QUESTION_SECONDS, ORDER_SECONDS = 2.0, 10.0
# How long others go before an engine that was away, and how long what it said it serves counts.
REST_SECONDS, USABLE_SECONDS = 1.0, 30.0
# The same before one that was drained: it has the fewest streams, and each look is a refusal.
DRAINED_SECONDS = 10.0

_OPTIONS = [
    # Back within a second of the engine's return.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # A connection of this loop's own: another's failures are not its.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
]


class EngineStream:
    """One Synthesize call. Failed writes stay silent: the reading side hears why."""

    def __init__(self, engine: Engine, call: Call) -> None:
        self._engine, self._call = engine, call
        # Not `call.read`, which after a failed write tells of that alone: what the engine had said
        # before it ended the call, so its refusal, is still to be read here.
        self._events = aiter(call)
        self._writing: asyncio.Task[Any] | None = None

    async def start(self, start: engine_pb2.Start) -> None:
        await self._write(engine_pb2.SynthesizeRequest(start=start))

    async def append(self, text: str) -> None:
        await self._write(engine_pb2.SynthesizeRequest(append=engine_pb2.Append(text=text)))

    async def end(self) -> None:
        await self._write(engine_pb2.SynthesizeRequest(end=engine_pb2.End()))

    async def cancel(self) -> None:
        """Asks the engine to stop and to say how far it came."""
        await self._write(engine_pb2.SynthesizeRequest(cancel=engine_pb2.Cancel()))

    def abort(self) -> None:
        """Drops the call: the engine frees the stream at once and answers nothing more."""
        self._call.cancel()
        if self._writing is not None:
            # A write waits for the call's beginning, which it would for ever now.
            self._writing.cancel()

    async def next(self, text_field: str) -> engine_pb2.SynthesizeEvent:
        """The engine's next event. Raises ApiError when it refuses, fails or goes away;
        `text_field` is what the caller's API calls the text."""
        try:
            event = await anext(self._events)
        except grpc.aio.AioRpcError as error:
            self._engine.rest()
            raise errors.from_rpc(error) from error
        except StopAsyncIteration:
            # The call ended before Finished: the engine was stopped under this stream.
            self._engine.rest()
            raise errors.unavailable() from None
        if event.HasField("error"):
            if event.error.code in errors.ENGINE_BUSY:
                self._engine.rest_for(event.error.code)
            raise errors.from_event(event.error, text_field)
        return event

    async def _write(self, message: engine_pb2.SynthesizeRequest) -> None:
        self._writing = asyncio.current_task()
        try:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._call.write(message)
        finally:
            self._writing = None


class Engine:
    """Belongs to the event loop it was made in. `streams` are this process's own, `served` is what
    it last said it serves."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.streams = 0
        self.served: list[engine_pb2.Model] = []
        self._served_at = self._rests_until = float("-inf")
        self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._stub = engine_pb2_grpc.EngineStub(self._channel)  # type: ignore[no-untyped-call]

    @property
    def is_resting(self) -> bool:
        """It was away, or full, a moment ago."""
        return time.monotonic() < self._rests_until

    def rest(self, seconds: float = REST_SECONDS) -> None:
        self._rests_until = time.monotonic() + seconds

    def rest_for(self, code: str) -> None:
        """After it has refused work for that reason."""
        self.rest(DRAINED_SECONDS if code == errors.DRAINING else REST_SECONDS)

    def synthesize(self) -> EngineStream:
        call = self._stub.Synthesize(timeout=settings.MAX_STREAM_SECONDS)
        self.streams += 1
        call.add_done_callback(self._count_out)
        return EngineStream(self, call)

    def _count_out(self, call: object) -> None:
        self.streams -= 1

    async def models(self) -> list[engine_pb2.Model]:
        """While it is away, what it served before, for a while. Raises ApiError 503 after that."""
        asked_at = time.monotonic()
        try:
            answer = await self._stub.Models(engine_pb2.ModelsRequest(), timeout=QUESTION_SECONDS)
        except grpc.aio.AioRpcError as error:
            if asked_at - self._served_at > USABLE_SECONDS:
                self.served = []
                raise errors.from_rpc(error) from error
            return self.served
        self.served, self._served_at = list(answer.models), asked_at
        return self.served

    async def encode_voice(
        self, request: engine_pb2.EncodeVoiceRequest, seconds: float
    ) -> engine_pb2.EncodeVoiceResponse:
        """Raises AioRpcError: what it means depends on the request."""
        try:
            answer = await self._stub.EncodeVoice(request, timeout=seconds)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                self.rest_for(errors.code_of(error))
            raise
        assert isinstance(answer, engine_pb2.EncodeVoiceResponse)
        return answer

    async def status(self) -> engine_pb2.EngineStatus:
        """Raises ApiError 503 while it is away."""
        try:
            answer = await self._stub.Status(engine_pb2.StatusRequest(), timeout=QUESTION_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise errors.from_rpc(error) from error
        assert isinstance(answer, engine_pb2.EngineStatus)
        return answer

    async def drain(self, drained: bool) -> engine_pb2.DrainResponse:
        """Raises ApiError."""
        return await self._order(self._stub.Drain, engine_pb2.DrainRequest(drained=drained))

    async def keep_voice(
        self, request: engine_pb2.KeepVoiceRequest
    ) -> engine_pb2.KeepVoiceResponse:
        """Raises ApiError."""
        return await self._order(self._stub.KeepVoice, request)

    async def trace(self, seconds: float) -> engine_pb2.TraceResponse:
        """Raises ApiError."""
        request = engine_pb2.TraceRequest(seconds=seconds)
        return await self._order(self._stub.Trace, request, seconds)

    async def _order(
        self, call: Callable[..., Awaitable[Answer]], request: Message, more_seconds: float = 0.0
    ) -> Answer:
        try:
            return await call(request, timeout=ORDER_SECONDS + more_seconds)
        except grpc.aio.AioRpcError as error:
            raise errors.from_refusal(error) from error

    async def status_or_error(self) -> engine_pb2.EngineStatus | ApiError:
        try:
            return await self.status()
        except ApiError as error:
            return error

    async def close(self) -> None:
        await self._channel.close()
