"""All engines as one: which of them serves what, and which one takes the next stream."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import grpc
from django.conf import settings

from gpu_engine.proto import engine_pb2
from ttsapp.engine.connection import Engine, EngineStream
from ttsapp.errors import ApiError

READY, AWAY = "ready", "away"


@dataclass(frozen=True, slots=True)
class Standing:
    """Of all engines together. `state`: ready when every model can be spoken with, and otherwise
    the state of the first engine that one of them waits for; `takes_streams`: of some model."""

    state: str
    takes_streams: bool


class EngineClient:
    """Belongs to the event loop it was made in. Engines that serve the same model with the same
    weights are one to callers; of those that rest not, the one with the fewest streams is taken."""

    def __init__(self, targets: Iterable[str]) -> None:
        self._engines = tuple(Engine(target) for target in targets)

    def synthesize(self, model: str) -> EngineStream:
        return min(self._serving(model), key=_business).synthesize()

    def has_another(self, model: str) -> bool:
        """Whether one serves it that was not away, or full, a moment ago."""
        return any(not engine.is_resting for engine in self._serving(model))

    async def models(self) -> list[engine_pb2.Model]:
        """What they serve together, in the order of the setting. Raises ApiError 503 while all are
        away."""
        refusals = await self._ask_models()
        if len(refusals) == len(self._engines):
            raise refusals[0]
        return list(self._served().values())

    async def model_names(self) -> list[tuple[str, ...]]:
        """What each serves, in the order of the setting; of one that is away, what it last did."""
        await self._ask_models()
        return [tuple(model.id for model in engine.served) for engine in self._engines]

    async def encode_voice(
        self, request: engine_pb2.EncodeVoiceRequest, seconds: float
    ) -> engine_pb2.EncodeVoiceResponse:
        """By another engine where one is away, or drained. Raises AioRpcError: what it means
        depends on the request."""
        *others, last = sorted(self._serving(request.model), key=_business)
        for engine in others:
            try:
                return await engine.encode_voice(request, seconds)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
        return await last.encode_voice(request, seconds)

    async def standing(self) -> Standing:
        """Whether they take streams, and if not of every model, what keeps them."""
        told, _ = await asyncio.gather(self.statuses(), self._ask_models())
        states = [_state(status) for status in told]
        served = [{model.id for model in engine.served} for engine in self._engines]
        pairs = list(zip(states, served, strict=True))
        spoken = set[str]().union(*(names for state, names in pairs if state == READY))
        if READY in states:
            missed = (state for state, names in pairs if not names <= spoken)
            return Standing(next(missed, READY), takes_streams=True)
        known = (state for state in states if state != AWAY)
        return Standing(next(known, AWAY), takes_streams=False)

    async def statuses(self) -> list[engine_pb2.EngineStatus | ApiError]:
        """Of each, in the order of the setting."""
        return await asyncio.gather(*(engine.status_or_error() for engine in self._engines))

    async def close(self) -> None:
        for engine in self._engines:
            await engine.close()

    async def _ask_models(self) -> list[ApiError]:
        """Of those that are away, why."""
        asked = await asyncio.gather(
            *(engine.models() for engine in self._engines), return_exceptions=True
        )
        refusals = []
        for answer in asked:
            if isinstance(answer, ApiError):
                refusals.append(answer)
            elif isinstance(answer, BaseException):
                raise answer
        return refusals

    def _served(self) -> dict[str, engine_pb2.Model]:
        """Of two weights under one name the first engine's count."""
        models: dict[str, engine_pb2.Model] = {}
        for engine in self._engines:
            for model in engine.served:
                models.setdefault(model.id, model)
        return models

    def _serving(self, name: str) -> tuple[Engine, ...]:
        """All, where nobody is known to serve it: the one that is asked then says why not."""
        wanted = self._served().get(name)
        found = tuple(
            engine
            for engine in self._engines
            if wanted is not None
            and any((m.id, m.fingerprint) == (name, wanted.fingerprint) for m in engine.served)
        )
        return found or self._engines

    @property
    def engines(self) -> tuple[Engine, ...]:
        """In the order of the setting."""
        return self._engines

    def engine(self, number: int) -> Engine:
        """By its place in the setting, from 1 on. Raises ApiError 404."""
        if not 1 <= number <= len(self._engines):
            there_are = f"There are engines 1 to {len(self._engines)}."
            raise ApiError(404, "not_found", there_are, field="number")
        return self._engines[number - 1]


def _state(status: engine_pb2.EngineStatus | ApiError) -> str:
    if isinstance(status, ApiError):
        return AWAY
    return engine_pb2.EngineStatus.State.Name(status.state).removeprefix("STATE_").lower()


def _business(engine: Engine) -> tuple[bool, int]:
    return engine.is_resting, engine.streams


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, EngineClient] = WeakKeyDictionary()


def client() -> EngineClient:
    """This loop's client."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = EngineClient(settings.ENGINES)
    return _clients[loop]


async def close() -> None:
    """Closes this loop's channels, if it has any."""
    found = _clients.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()
