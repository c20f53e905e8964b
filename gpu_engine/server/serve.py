"""`python -m gpu_engine serve`: the front process from its first line to its last."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from gpu_engine.config import TtsConfig, read_config
from gpu_engine.errors import EngineError
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.proto import engine_pb2_grpc
from gpu_engine.server.listening import listen
from gpu_engine.server.logs import configure_logs
from gpu_engine.server.metrics import Metrics
from gpu_engine.server.settings import EngineSettings, default_checkpoint
from gpu_engine.server.supervisor import StartupError, State, Supervisor

if TYPE_CHECKING:
    from gpu_engine.server.front import EngineService

log = structlog.get_logger()

SERVICE = pb.DESCRIPTOR.services_by_name["Engine"].full_name
HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
LARGEST_MESSAGE = 8 << 20
START_FAILED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = EngineSettings("")
    add = parser.add_argument
    folder = default_checkpoint()
    add("--checkpoint", default=folder, required=not folder, help="folder, official layout")
    add("--listen", default=usual.listen, help="unix:/path or host:port")
    add("--device", default=usual.device, choices=["auto", "cpu", "cuda"])
    add("--threads", type=int, default=0, help="CPU threads of the core")
    add("--kernels", default=usual.kernels, choices=["auto", "torch"], help="of a small CPU model")
    add(
        "--aligner", default=usual.aligner, help="folder, auto or none: tells when words are spoken"
    )
    add("--weights", default=usual.weights, choices=["bf16", "fp8"], help="on a GPU; see the docs")
    add("--max-streams", type=int, default=0, help="concurrent streams; memory is set aside")
    add("--waiting", type=int, default=usual.waiting, help="streams that may wait for a slot")
    add("--max-positions", type=int, default=usual.max_positions, help="prompt and speech, a slot")
    add("--cache-mb", type=int, default=0, help="of known voices and beginnings, each cache")
    layouts = ["interleaved", "reference-first"]
    add("--in-context", default=usual.in_context, choices=layouts, help="prompts of such clones")
    add("--busy-lead", type=float, default=usual.busy_lead, help="seconds ahead of playback")
    add("--idle-lead", type=float, default=usual.idle_lead, help="the same with nothing else to do")
    add("--text-timeout", type=float, default=usual.text_timeout, help="seconds to wait for text")
    add("--loop", default=usual.loop, choices=["auto", "plain", "overlapped"], help="of the core")
    add("--grace", type=float, default=usual.grace, help="seconds for open streams at shutdown")
    add("--metrics-port", type=int, default=0, help="Prometheus metrics; 0: none")
    add("--engine-id", default="", help="name in the status; host and process by default")


def settings_of(arguments: argparse.Namespace) -> EngineSettings:
    known = {field.name for field in fields(EngineSettings)}
    given = {name: value for name, value in vars(arguments).items() if name in known}
    given["engine_id"] = given["engine_id"] or f"{socket.gethostname()}-{os.getpid()}"
    settings = EngineSettings(**given)
    settings.check()
    return settings


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 after a clean stop, 2 when it could not start: one line says why."""
    configure_logs("front")
    try:
        asyncio.run(serve(settings_of(arguments)))
    except (EngineError, StartupError) as error:
        sys.stderr.write(f"parlance engine: {error}\n")
        return START_FAILED
    return 0


async def serve(settings: EngineSettings) -> None:
    """Until SIGTERM or SIGINT. Raises EngineError or StartupError when it cannot start."""
    config = read_config(settings.folder)
    settings.check_model(config.talker)
    await Front(settings, config).run()


class Front:
    """The gRPC server and the supervised core behind it."""

    def __init__(self, settings: EngineSettings, config: TtsConfig) -> None:
        self._settings, self._config = settings, config
        self._supervisor = Supervisor(settings, config.talker, self._changed)
        self._checks = health.aio.HealthServicer()
        self._metrics = Metrics()
        self._service: EngineService | None = None
        self._telling: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        supervising = asyncio.create_task(self._supervisor.run())
        stopping = asyncio.create_task(stop.wait())
        try:
            server = await self._open()
            await asyncio.wait({supervising, stopping}, return_when=asyncio.FIRST_COMPLETED)
            self._supervisor.shut()
            await server.stop(self._settings.grace if stop.is_set() else 0)
        finally:
            stopping.cancel()
            supervising.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervising
            self._supervisor.close()

    async def _open(self) -> grpc.aio.Server:
        await self._tell_health(State.STARTING)
        # The imports that prompts need take seconds: the core starts meanwhile.
        front = await asyncio.to_thread(import_module, "gpu_engine.server.front")
        service: EngineService = front.build_service(
            self._settings, self._config, self._supervisor, self._metrics
        )
        self._service = service
        server = build_server(service, self._checks)
        listen(server, self._settings.listen)
        if self._settings.metrics_port:
            self._serve_metrics(service)
        await server.start()
        # What is loaded stays: nobody's audio waits while it is looked through for garbage.
        gc.freeze()
        log.info("listening", address=self._settings.listen, pid=os.getpid())
        return server

    def _serve_metrics(self, service: EngineService) -> None:
        port = self._settings.metrics_port
        try:
            self._metrics.serve(port, service.status)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise StartupError(f"--metrics-port {port} cannot be taken: {why}") from None

    def _changed(self, state: State) -> None:
        log.info("engine", state=state.value)
        if self._service is not None:
            self._service.state_changed(state)
        task = asyncio.create_task(self._tell_health(state))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell_health(self, state: State) -> None:
        answer = health_pb2.HealthCheckResponse
        serving = answer.SERVING if state is State.READY else answer.NOT_SERVING
        for service in ("", SERVICE):
            await self._checks.set(service, serving)


def build_server(service: EngineService, checks: health.aio.HealthServicer) -> grpc.aio.Server:
    options = [
        ("grpc.max_receive_message_length", LARGEST_MESSAGE),
        ("grpc.so_reuseport", 0),
        # A client whose host vanished says nothing: its stream must not hold a slot for long.
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        # Clients ping too, also while a stream rests; the default would end their connections.
        ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
        ("grpc.http2.max_ping_strikes", 0),
    ]
    server = grpc.aio.server(options=options)
    engine_pb2_grpc.add_EngineServicer_to_server(service, server)  # type: ignore[no-untyped-call]
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    reflection.enable_server_reflection([SERVICE, HEALTH, reflection.SERVICE_NAME], server)
    return server
