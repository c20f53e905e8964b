from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import pytest_asyncio

from gpu_engine.proto import engine_pb2_grpc
from tests.bench.scripted_engine import ScriptedEngine


@pytest_asyncio.fixture
async def engines() -> AsyncIterator[tuple[str, ScriptedEngine]]:
    """Addresses of an engine of each kind, and the one that clones."""
    servers, addresses = [], []
    servicers = [ScriptedEngine("custom_voice"), ScriptedEngine("base")]
    for servicer in servicers:
        server = grpc.aio.server()
        engine_pb2_grpc.add_EngineServicer_to_server(servicer, server)
        addresses.append(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
        await server.start()
        servers.append(server)
    yield ",".join(addresses), servicers[1]
    for server in servers:
        await server.stop(None)
