"""SIGTERM with answers under way: they get their grace, and then are told and settled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.conf import settings

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import WAIT, ScriptedEngine, spoken
from tests.ttsapp.web_thread import WebThread
from ttsapp.speech.models import RequestLog

URL = "/v1/audio/speech"


@pytest.fixture
def stopping(base: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebThread]:
    """A web server of the test's own, whose open answers get no grace."""
    monkeypatch.setattr(settings, "GRACE_SECONDS", 0)
    thread = WebThread()
    yield thread
    thread.close()


@pytest.fixture
def client(stopping: WebThread, alice: Party) -> Iterator[httpx.Client]:
    base = f"http://{stopping.address}"
    with httpx.Client(base_url=base, headers=alice.headers, timeout=WAIT) as client:
        yield client


def assert_settled_free_of_charge() -> None:
    event = eventually(lambda: UsageEvent.objects.first())
    assert isinstance(event, UsageEvent)
    assert (event.outcome, event.billed_characters) == ("failed", 0)
    assert not Reservation.objects.exists()
    log = RequestLog.objects.get()
    assert (log.status, log.error_code, log.finish_reason) == (503, "server_stopping", "error")


def test_a_stream_that_is_cut_breaks_and_is_free(
    client: httpx.Client, stopping: WebThread, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with (
        pytest.raises(httpx.RemoteProtocolError),
        client.stream("POST", URL, json=speech()) as response,
    ):
        pieces = response.iter_raw()
        next(pieces)
        stopping.ask_to_stop()
        list(pieces)

    assert engine.heard[0].ended.wait(WAIT)
    assert engine.heard[0].outcome == "dropped"
    assert_settled_free_of_charge()


@pytest.mark.parametrize("form", [{"stream": False}, {}, {"stream_format": "sse"}])
@pytest.mark.parametrize("hold_after", [0])
def test_an_answer_that_has_not_begun_says_so(
    client: httpx.Client,
    stopping: WebThread,
    engine: ScriptedEngine,
    form: dict[str, object],
    hold_after: int,
) -> None:
    engine.script.hold_after = hold_after
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(client.post, URL, json=speech(**form))
        assert engine.wait_for_stream().reached.wait(WAIT)
        stopping.ask_to_stop()
        response = asking.result(WAIT)

    assert response.status_code == 503
    assert response.json()["error"]["code"] == "server_stopping"
    assert response.json()["error"]["type"] == "server_error"
    assert response.headers["retry-after"] == "1"
    assert len(response.headers["x-request-id"]) == 36
    assert_settled_free_of_charge()


def test_a_whole_answer_that_is_cut_half_way_says_so(
    client: httpx.Client, stopping: WebThread, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 3
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(client.post, URL, json=speech(stream=False))
        assert engine.wait_for_stream().reached.wait(WAIT)
        stopping.ask_to_stop()
        response = asking.result(WAIT)

    assert (response.status_code, response.json()["error"]["code"]) == (503, "server_stopping")
    assert_settled_free_of_charge()


def test_an_answer_that_ends_within_the_grace_is_whole(
    client: httpx.Client,
    stopping: WebThread,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "GRACE_SECONDS", 30)
    engine.script.hold_after = 2
    with client.stream("POST", URL, json=speech()) as response:
        pieces = response.iter_raw()
        audio = next(pieces)
        stopping.ask_to_stop()
        threading.Timer(0.2, engine.release.set).start()
        audio += b"".join(pieces)

    assert audio == spoken(5)
    assert UsageEvent.objects.get().outcome == "completed"


def test_who_comes_during_the_grace_is_refused(
    client: httpx.Client,
    stopping: WebThread,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "GRACE_SECONDS", 30)
    engine.script.hold_after = 2
    with client.stream("POST", URL, json=speech()) as response:
        pieces = response.iter_raw()
        audio = next(pieces)
        stopping.ask_to_stop()

        assert eventually(lambda: is_refused(stopping.address))
        engine.release.set()
        audio += b"".join(pieces)

    assert audio == spoken(5)


def is_refused(address: str) -> bool:
    try:
        httpx.get(f"http://{address}/livez")
    except (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError):  # or about to be taken
        return True
    return False
