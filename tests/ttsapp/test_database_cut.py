"""The database cuts its connections, or is away: pages say so, and go on by themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.utils import CursorWrapper

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.test_api import managing

# As many as make the pool's own tries last longer than anybody waits.
IDLE = 8
on_postgres = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite has no connections to cut"
)


@pytest.fixture
def page(base: str, alice: Party) -> Iterator[httpx.Client]:
    with browser(base, "alice") as client:
        yield client


def cut() -> None:
    """All that wait in the pool, as a restart does."""
    together = threading.Barrier(IDLE)

    def use(_: int) -> None:
        connection.ensure_connection()
        together.wait(20)
        connection.close()

    with ThreadPoolExecutor(IDLE) as threads:
        list(threads.map(use, range(IDLE)))
    connection.close()
    parameters = connection.get_connection_params()
    for name in ("pool", "cursor_factory", "context"):
        parameters.pop(name, None)
    with psycopg.connect(**parameters) as outside:
        found = outside.execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert found is not None
    assert found[0] >= IDLE


@on_postgres
def test_the_first_call_after_a_cut_is_answered(http: httpx.Client, alice: Party) -> None:
    cut()
    assert http.get("/v1/audio/voice_consents", headers=alice.headers).status_code == 200


@on_postgres
def test_so_is_the_first_of_the_management_api(http: httpx.Client, alice: Party) -> None:
    headers = {"Authorization": f"Bearer {managing(alice)}"}
    cut()
    assert http.get("/api/tenants/alice/keys", headers=headers).status_code == 200


@on_postgres
def test_so_is_the_first_page(page: httpx.Client) -> None:
    cut()
    assert page.get("/console/alice/keys").status_code == 200


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("path", ["/console/alice", "/console/alice/keys", "/admin/"])
def test_a_page_says_that_the_database_is_away(
    page: httpx.Client, path: str, error: type[Exception]
) -> None:
    with failing(error):
        answer = page.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "cannot read its database right now" in answer.text
    assert len(answer.headers["x-request-id"]) == 36


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_so_does_the_management_api(
    http: httpx.Client, alice: Party, error: type[Exception]
) -> None:
    headers = {"Authorization": f"Bearer {managing(alice)}"}
    with failing(error):
        answer = http.get("/api/tenants/alice/keys", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_another_fault_is_ours(page: httpx.Client) -> None:
    with failing(RuntimeError):
        answer = page.get("/console/alice")
    assert (answer.status_code, "on our side" in answer.text) == (500, True)


@contextmanager
def failing(error: type[Exception]) -> Iterator[None]:
    """Whatever anybody asks of the database, the session included."""

    def execute(*_: object) -> None:
        raise error("server closed the connection unexpectedly")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CursorWrapper, "execute", execute)
        yield
