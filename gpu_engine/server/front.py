"""The Engine service: validates, tokenizes, forwards, and never touches the device."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc

from gpu_engine import messages as m
from gpu_engine.align.load import languages as languages_of_words
from gpu_engine.audio.onset import Listener
from gpu_engine.config import SAMPLE_RATE, TtsConfig
from gpu_engine.errors import EngineError, InvalidRequest
from gpu_engine.models.checkpoint import checkpoint_fingerprint, has_codec_encoder
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from gpu_engine.server.artifact import Seal, voice_key
from gpu_engine.server.conversation import Conversation, Requests, error_event
from gpu_engine.server.link import SENT
from gpu_engine.server.metrics import Metrics
from gpu_engine.server.opening import Desk
from gpu_engine.server.operations import Operations
from gpu_engine.server.presets import languages, presets
from gpu_engine.server.settings import EngineSettings
from gpu_engine.server.supervisor import State, Supervisor
from gpu_engine.server.voice_maker import VoiceMaker
from gpu_engine.server.voices import Voices
from gpu_engine.version import version

# Subscriptable for the type checker only.
if TYPE_CHECKING:
    Context = grpc.aio.ServicerContext[Any, Any]
else:
    Context = grpc.aio.ServicerContext

STATES = {
    State.STARTING: pb.EngineStatus.STATE_STARTING,
    State.READY: pb.EngineStatus.STATE_READY,
    State.DRAINING: pb.EngineStatus.STATE_DRAINING,
    State.SILENT: pb.EngineStatus.STATE_DOWN,
    State.DOWN: pb.EngineStatus.STATE_DOWN,
}
WATCH_MS, FASTEST_WATCH_MS = 1000, 100


class EngineService(engine_pb2_grpc.EngineServicer):
    """Answers for one checkpoint and the one core that its supervisor keeps alive."""

    def __init__(
        self, desk: Desk, maker: VoiceMaker, supervisor: Supervisor, metrics: Metrics
    ) -> None:
        self._desk, self._maker = desk, maker
        self._supervisor, self._metrics = supervisor, metrics
        self._operations = Operations(desk, supervisor)
        self._started = time.monotonic()
        self._news = asyncio.Event()

    def state_changed(self, state: State) -> None:
        """Wakes everybody who watches the status. A new core is told which voices stay."""
        self._news.set()
        self._news = asyncio.Event()
        if state is State.READY:
            self._operations.renew_pins()

    async def Synthesize(  # noqa: N802
        self, request_iterator: Requests, context: Context
    ) -> AsyncIterator[pb.SynthesizeEvent]:
        try:
            talk = Conversation(self._desk, self._supervisor.link, request_iterator)
            listener = Listener(began=time.monotonic())
            async for event in talk.events():
                _listen(listener, event)
                self._metrics.count(event)
                yield event
        except EngineError as error:
            event = error_event(error)
            self._metrics.count(event)
            yield event

    async def EncodeVoice(  # noqa: N802
        self, request: pb.EncodeVoiceRequest, context: Context
    ) -> pb.EncodeVoiceResponse:
        async with _refusals(context):
            return await self._maker.make(request, self._supervisor.link)

    async def Models(  # noqa: N802
        self, request: pb.ModelsRequest, context: Context
    ) -> pb.ModelsResponse:
        config = self._desk.config
        model = pb.Model(
            id=self._desk.model,
            kind=config.kind,
            size=config.size,
            presets=presets(config),
            languages=languages(config.talker),
            sample_rate=SAMPLE_RATE,
            max_text_tokens=self._desk.settings.max_text_tokens,
            can_encode_voice=config.kind == "base",
            can_encode_reference=self._maker.can_encode_reference,
            embedding_size=config.talker.hidden_size if config.kind == "base" else 0,
            fingerprint=self._desk.voices.fingerprint,
            word_time_languages=self._desk.word_languages,
        )
        return pb.ModelsResponse(models=[model])

    async def Status(  # noqa: N802
        self, request: pb.StatusRequest, context: Context
    ) -> pb.EngineStatus:
        return self.status()

    async def WatchStatus(  # noqa: N802
        self, request: pb.WatchStatusRequest, context: Context
    ) -> AsyncIterator[pb.EngineStatus]:
        pause = max(FASTEST_WATCH_MS, request.interval_ms or WATCH_MS) / 1000
        while True:
            news = self._news
            yield self.status()
            try:
                async with asyncio.timeout(pause):
                    await news.wait()
            except TimeoutError:
                continue

    async def Drain(  # noqa: N802
        self, request: pb.DrainRequest, context: Context
    ) -> pb.DrainResponse:
        return self._operations.drain(request)

    async def KeepVoice(  # noqa: N802
        self, request: pb.KeepVoiceRequest, context: Context
    ) -> pb.KeepVoiceResponse:
        async with _refusals(context):
            return await self._operations.keep(request)

    async def Trace(  # noqa: N802
        self, request: pb.TraceRequest, context: Context
    ) -> pb.TraceResponse:
        async with _refusals(context):
            return await self._operations.trace(request)

    def status(self) -> pb.EngineStatus:
        supervisor = self._supervisor
        status = pb.EngineStatus(
            engine_id=self._desk.settings.engine_id,
            version=version(),
            state=STATES[supervisor.state],
            silent=supervisor.state is State.SILENT,
            uptime_seconds=time.monotonic() - self._started,
            core_restarts=supervisor.restarts,
        )
        if supervisor.known is not None:
            status.device = supervisor.known.device
            status.capacity = supervisor.known.capacity
            status.hardware = supervisor.known.hardware
        core = supervisor.status
        if core is not None:
            status.streams = core.streams
            status.waiting_first_audio = core.waiting_first_audio
            status.waiting_background = core.waiting_background
            status.longest_wait_ms = core.longest_wait_ms
            status.lead_low_ms = core.lead_low_ms
            status.lead_median_ms = core.lead_median_ms
            status.streams_total = core.streams_total
            status.frames_total = core.frames_total
            status.underruns_total = core.underruns_total
            status.memory_bytes = core.memory_bytes
            status.pinned.extend(map(self._operations.public, core.pinned))
            status.memory.CopyFrom(_memory(core.memory))
            for name, wait in core.waits.items():
                status.waits[name].CopyFrom(_wait(wait))
            for name, kept in core.caches.items():
                status.caches[name].CopyFrom(_cache(kept))
            for name, counters in core.modules.items():
                status.modules[name].steps = counters.steps
                status.modules[name].rows = counters.rows
                status.modules[name].busy_seconds = counters.busy_seconds
                status.modules[name].last_ms = counters.last_ms
            if (sent := supervisor.sent) is not None:
                status.waits[SENT].CopyFrom(_wait(sent))
        return status


def build_service(
    settings: EngineSettings, config: TtsConfig, supervisor: Supervisor, metrics: Metrics
) -> EngineService:
    """Raises EngineError when the tokenizer, the weights' headers or the key can't be read."""
    tokenizer = TextTokenizer(settings.folder, config.text_ids)
    told = languages_of_words(settings.aligner_folder)
    model = settings.folder.resolve().name
    fingerprint = checkpoint_fingerprint(settings.folder)
    voices = Voices(model, config, fingerprint, Seal(voice_key()))
    desk = Desk(model, config, tokenizer, settings, voices, told)
    can_encode_reference = config.kind == "base" and has_codec_encoder(settings.folder)
    maker = VoiceMaker(desk, can_encode_reference)
    return EngineService(desk, maker, supervisor, metrics)


def _cache(kept: m.CacheCounters) -> pb.CacheStatus:
    return pb.CacheStatus(
        hits=kept.hits,
        misses=kept.misses,
        evictions=kept.evictions,
        entries=kept.entries,
        bytes=kept.nbytes,
        most_bytes=kept.most,
    )


def _memory(use: m.MemoryUse) -> pb.MemoryStatus:
    return pb.MemoryStatus(parts=use.parts, free_bytes=use.free, total_bytes=use.total)


def _wait(told: m.WaitTimes) -> pb.WaitStatus:
    return pb.WaitStatus(rows=told.rows, median_ms=told.median_ms, p95_ms=told.p95_ms)


def _listen(listener: Listener, event: pb.SynthesizeEvent) -> None:
    """The end of a stream says when its listener first heard something."""
    match event.WhichOneof("event"):
        case "audio":
            listener.take(event.audio.pcm, time.monotonic())
        case "finished" if listener.first_audible is not None:
            event.finished.first_audible_ms = round(1000 * listener.first_audible)


@asynccontextmanager
async def _refusals(context: Context) -> AsyncIterator[None]:
    """An error ends the call, as a status."""
    try:
        yield
    except EngineError as error:
        code = grpc.StatusCode.INVALID_ARGUMENT
        if not isinstance(error, InvalidRequest):
            code = grpc.StatusCode.UNAVAILABLE if error.retryable else grpc.StatusCode.INTERNAL
        metadata = (("parlance-code", error.code), ("parlance-field", error.field))
        await context.abort(code, error.message, metadata)
        raise
