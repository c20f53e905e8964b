"""/livez and /readyz."""

from __future__ import annotations

import httpx
import pytest
from django.db import OperationalError

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine
from ttsapp import health
from ttsapp.engine.client import EngineClient, Standing


def test_it_works(http: httpx.Client) -> None:
    assert http.get("/livez").json() == {"status": "alive"}
    assert http.get("/readyz").json() == {"database": "ok", "disk": "ok", "engine": "ready"}


def test_not_ready_without_the_engine(http: httpx.Client, engine_thread: EngineThread) -> None:
    engine_thread.stop()
    response = http.get("/readyz")

    assert (response.status_code, response.json()["engine"]) == (503, "down")
    assert response.headers["retry-after"] == "1"
    assert http.get("/livez").status_code == 200


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (pb.EngineStatus.STATE_STARTING, "starting"),
        (pb.EngineStatus.STATE_DRAINING, "draining"),
        (pb.EngineStatus.STATE_DOWN, "down"),
    ],
)
def test_not_ready_while_the_engine_takes_nothing(
    http: httpx.Client, engine: ScriptedEngine, state: int, name: str
) -> None:
    engine.state = state
    response = http.get("/readyz")
    assert (response.status_code, response.json()["engine"]) == (503, name)


def test_not_ready_without_the_database(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError

    monkeypatch.setattr(health, "_ask", away)
    assert http.get("/readyz").json() == {"database": "down", "disk": "ok", "engine": "ready"}


def test_probes_come_under_any_host_name(http: httpx.Client) -> None:
    assert http.get("/readyz", headers={"Host": "10.1.2.3:8000"}).status_code == 200


def test_ready_while_one_of_two_engines_takes_streams(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def standing(self: EngineClient) -> Standing:
        return Standing("draining", takes_streams=True)

    monkeypatch.setattr(EngineClient, "standing", standing)
    response = http.get("/readyz")
    assert (response.status_code, response.json()["engine"]) == (200, "draining")
