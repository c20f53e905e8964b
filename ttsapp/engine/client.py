"""The engine over gRPC: one channel for each process, one call for each stream."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import grpc
from django.conf import settings

from gpu_engine.proto import engine_pb2, engine_pb2_grpc
from ttsapp.engine import errors

if TYPE_CHECKING:
    Call = grpc.aio.StreamStreamCall[engine_pb2.SynthesizeRequest, engine_pb2.SynthesizeEvent]

QUESTION_SECONDS = 2.0

_OPTIONS = [
    # Back within a second of the engine's return.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
]


class EngineStream:
    """One Synthesize call. Failed writes stay silent: the reading side hears why."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def start(self, start: engine_pb2.Start) -> None:
        """One write, even where its text is all there is: a second would race with a quick
        refusal, and gRPC forgets answers on a failed write."""
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

    async def next(self, text_field: str) -> engine_pb2.SynthesizeEvent:
        """The engine's next event. Raises ApiError when it refuses, fails or goes away;
        `text_field` is what the caller's API calls the text."""
        try:
            event = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise errors.from_rpc(error) from error
        if not isinstance(event, engine_pb2.SynthesizeEvent):
            # The call ended before Finished: the engine was stopped under this stream.
            raise errors.unavailable()
        if event.HasField("error"):
            raise errors.from_event(event.error, text_field)
        return event

    async def _write(self, message: engine_pb2.SynthesizeRequest) -> None:
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await self._call.write(message)


class EngineClient:
    """Belongs to the event loop it was made in."""

    def __init__(self, target: str) -> None:
        self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        self._stub = engine_pb2_grpc.EngineStub(self._channel)  # type: ignore[no-untyped-call]

    def synthesize(self) -> EngineStream:
        return EngineStream(self._stub.Synthesize(timeout=settings.MAX_STREAM_SECONDS))

    async def models(self) -> list[engine_pb2.Model]:
        """Raises ApiError 503 while the engine is away."""
        try:
            answer = await self._stub.Models(engine_pb2.ModelsRequest(), timeout=QUESTION_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise errors.from_rpc(error) from error
        return list(answer.models)

    async def encode_voice(
        self, request: engine_pb2.EncodeVoiceRequest, seconds: float
    ) -> engine_pb2.EncodeVoiceResponse:
        """Raises AioRpcError: what it means depends on the request."""
        answer = await self._stub.EncodeVoice(request, timeout=seconds)
        assert isinstance(answer, engine_pb2.EncodeVoiceResponse)
        return answer

    async def status(self) -> engine_pb2.EngineStatus:
        try:
            answer = await self._stub.Status(engine_pb2.StatusRequest(), timeout=QUESTION_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise errors.from_rpc(error) from error
        assert isinstance(answer, engine_pb2.EngineStatus)
        return answer

    async def close(self) -> None:
        await self._channel.close()


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, EngineClient] = WeakKeyDictionary()


def client() -> EngineClient:
    """This loop's client."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = EngineClient(settings.ENGINE)
    return _clients[loop]


async def close() -> None:
    """Closes this loop's channel, if it has one."""
    found = _clients.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()
