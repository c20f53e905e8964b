"""The database away: callers are told when to come back, and nothing has to be restarted."""

from __future__ import annotations

import shutil
import threading
from collections import namedtuple
from collections.abc import Callable

import httpx
import pytest
from django.db import InterfaceError, OperationalError

from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp import database, health
from ttsapp.errors import ApiError
from ttsapp.keys import selectors
from ttsapp.keys.authentication import CACHE_SIZE, _find
from ttsapp.recent import Recent
from ttsapp.speech import services
from ttsapp.speech.models import RequestLog


@pytest.fixture(params=[OperationalError, InterfaceError])
def away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set: keys cannot be looked up, as a driver would say it."""
    is_away = threading.Event()
    is_away.set()
    real = selectors.find

    def find(public_ids: list[str]) -> object:
        if is_away.is_set():
            raise request.param("server closed the connection unexpectedly")
        return real(public_ids)

    monkeypatch.setattr("ttsapp.keys.selectors.find", find)
    monkeypatch.setattr("ttsapp.keys.authentication._recent", Recent(_find, CACHE_SIZE))
    return is_away


@pytest.mark.parametrize("path", ["/v1/models", "/v1/audio/voices", "/openai/v1/models"])
def test_it_is_a_503_that_says_when_to_come_back(
    http: httpx.Client, alice: Party, away: threading.Event, path: str
) -> None:
    response = http.get(path, headers=alice.headers)

    assert response.status_code == 503
    assert response.json()["error"] == {
        "message": "The service cannot read its database right now. Please try again.",
        "type": "server_error",
        "param": None,
        "code": "database_unavailable",
    }
    assert (response.headers["retry-after"], response.headers["retry-after-ms"]) == ("1", "1000")
    assert "closed the connection" not in response.text


def test_it_is_well_again_by_itself(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, away: threading.Event
) -> None:
    def say() -> httpx.Response:
        return http.post("/v1/audio/speech", json=speech(), headers=alice.headers)

    assert say().status_code == 503
    assert engine.heard == []
    away.clear()
    assert say().content == spoken(5)


async def test_a_database_that_hangs_is_given_up(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "READ_SECONDS", 0.05)
    release = threading.Event()
    with pytest.raises(ApiError) as caught:
        await database.read(release.wait, 10)
    release.set()
    assert (caught.value.status, caught.value.code) == (503, "database_unavailable")


def test_a_ledger_that_waits_holds_up_no_authentication(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many writers wait as there are threads for them, and more; a read still answers."""
    release = threading.Event()
    waiting = [database.writers().submit(release.wait, 30) for _ in range(16)]
    monkeypatch.setattr("ttsapp.keys.authentication._recent", Recent(_find, CACHE_SIZE))
    try:
        assert http.get("/v1/models", headers=alice.headers).status_code == 200
        assert not any(write.done() for write in waiting)
    finally:
        release.set()


def test_a_refusal_is_logged_once_the_database_is_back(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., None] = services.log_refusal
    attempts: list[object] = []

    def flaky(*args: object) -> None:
        attempts.append(args)
        if len(attempts) == 1:
            raise OperationalError("the database is away")
        real(*args)

    monkeypatch.setattr(services, "log_refusal", flaky)
    flaky.__qualname__ = "log_refusal"
    response = http.post("/v1/audio/speech", json=speech(voice="zelda"), headers=alice.headers)

    rows = RequestLog.objects.filter(pk=response.headers["x-request-id"])
    assert eventually(rows.exists)
    assert len(attempts) == 2


def test_not_ready_on_a_full_disk(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, health.LEAST_FREE_BYTES - 1))
    response = http.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"database": "ok", "disk": "full", "engine": "ready"}
