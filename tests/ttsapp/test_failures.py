"""The engine away, refusing, stalling or dying; the client leaving: who is told, who pays."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from billing.models import Reservation, UsageEvent
from billing.reports import between
from billing.upkeep.guard import opened
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import (
    WAIT,
    EngineThread,
    ScriptedEngine,
    custom_voice_model,
    spoken,
)
from ttsapp.speech.models import RequestLog

URL = "/v1/audio/speech"
FORMS = [{}, {"stream_format": "sse"}, {"stream": False}]


def say(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    return http.post(URL, json=speech(**fields), headers=party.headers)


def settled() -> UsageEvent:
    event = eventually(lambda: UsageEvent.objects.first())
    eventually(lambda: not Reservation.objects.exists())
    return event


@pytest.fixture(params=FORMS, ids=["bytes", "sse", "whole"])
def form(request: pytest.FixtureRequest) -> dict[str, object]:
    return request.param


def test_an_engine_that_is_away_is_a_503_and_comes_back_by_itself(
    http: httpx.Client, alice: Party, engine_thread: EngineThread, form: dict[str, object]
) -> None:
    engine_thread.stop()
    response = say(http, alice, **form)

    assert response.status_code == 503
    assert (response.headers["retry-after"], response.headers["retry-after-ms"]) == ("1", "1000")
    error = response.json()["error"]
    assert (error["type"], error["code"]) == ("server_error", "engine_unavailable")
    engine_thread.start()
    eventually(lambda: say(http, alice, **form).status_code == 200)


def test_a_request_that_met_no_engine_is_free(
    http: httpx.Client, alice: Party, engine_thread: EngineThread
) -> None:
    assert say(http, alice).status_code == 200
    with opened():
        UsageEvent.objects.all().delete()
    engine_thread.stop()

    say(http, alice)

    event = settled()
    assert (event.outcome, event.billed_characters, event.audio_ms) == ("failed", 0, 0)


def test_a_full_engine_says_when_to_come_back(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, form: dict[str, object]
) -> None:
    engine.script.error = pb.Error(
        code="engine_full", message="at capacity", retryable=True, retry_after_ms=2400
    )
    response = say(http, alice, **form)

    assert response.status_code == 503
    assert response.json()["error"]["code"] == "engine_full"
    assert (response.headers["retry-after"], response.headers["retry-after-ms"]) == ("3", "2400")
    assert settled().billed_characters == 0


def test_the_engines_refusal_names_the_tenants_field(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, form: dict[str, object]
) -> None:
    engine.script.error = pb.Error(code="invalid_request", message="too many tokens", field="text")
    response = say(http, alice, **form)

    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["message"]) == ("input", "too many tokens")
    event = settled()
    assert (event.outcome, event.characters, event.billed_characters) == ("refused", 0, 0)
    log = RequestLog.objects.get()
    assert (log.status, log.ended, log.characters, log.error_field) == (400, "refused", 0, "input")
    now = timezone.now()
    assert between(alice.tenant, now - timedelta(days=1), now).failures == 0


def test_an_engine_fault_before_the_first_sound_is_a_500(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, form: dict[str, object]
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    response = say(http, alice, **form)

    assert response.status_code == 500
    assert response.json()["error"]["type"] == "server_error"
    assert settled().outcome == "failed"


def test_an_engine_that_makes_no_sound_is_worth_a_retry(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, form: dict[str, object]
) -> None:
    engine.script.chunks = 0
    response = say(http, alice, **form)

    assert (response.status_code, response.json()["error"]["code"]) == (503, "no_audio")
    assert settled().billed_characters == 0


def test_an_engine_that_hangs_up_before_the_first_sound(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, form: dict[str, object]
) -> None:
    engine.script.hang_up_after = 0
    response = say(http, alice, **form)

    assert (response.status_code, response.json()["error"]["code"]) == (503, "engine_unavailable")


def test_an_engine_that_takes_too_long(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "FIRST_AUDIO_SECONDS", 0.1)
    engine.script.hold_after = 0
    response = say(http, alice)

    assert (response.status_code, response.json()["error"]["code"]) == (504, "engine_timeout")
    assert engine.heard[0].ended.wait(WAIT)
    assert engine.heard[0].outcome == "dropped"


def test_a_fault_after_the_first_byte_breaks_the_connection(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 3
    heard = b""
    stream = http.stream("POST", URL, json=speech(), headers=alice.headers)
    with pytest.raises(httpx.RemoteProtocolError), stream as response:
        for piece in response.iter_raw():
            heard += piece

    assert heard == spoken(3)
    event = settled()
    assert (event.outcome, event.billed_characters, event.audio_ms) == ("failed", 0, 240)
    log = RequestLog.objects.get()
    assert (log.status, log.error_code, log.finish_reason) == (500, "internal", "error")


def test_a_fault_after_the_first_event_is_an_event_and_a_broken_connection(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 1
    heard = b""
    body = speech(stream_format="sse")
    stream = http.stream("POST", URL, json=body, headers=alice.headers)
    with pytest.raises(httpx.RemoteProtocolError), stream as response:
        for piece in response.iter_raw():
            heard += piece

    last = json.loads(heard.decode().strip().split("\n\n")[-1].removeprefix("data: "))
    assert last["type"] == "error"
    assert last["error"]["message"] == "the stream failed"


def test_a_fault_of_a_whole_answer_is_an_error_answer(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 3

    assert say(http, alice, stream=False).status_code == 500
    assert settled().billed_characters == 0


def test_an_engine_that_dies_mid_stream_breaks_the_connection(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, engine_thread: EngineThread
) -> None:
    engine.script.hold_after = 2
    stream = http.stream("POST", URL, json=speech(), headers=alice.headers)
    with pytest.raises(httpx.RemoteProtocolError), stream as response:
        pieces = response.iter_raw()
        next(pieces)
        engine_thread.stop()
        list(pieces)
    assert settled().outcome == "failed"


@pytest.mark.parametrize("body", [{}, {"stream_format": "sse"}, {"response_format": "mp3"}])
def test_a_client_that_leaves_frees_the_engine_and_pays_for_what_it_heard(
    web_thread, base: str, alice: Party, engine: ScriptedEngine, body: dict[str, object]
) -> None:
    text = "x" * 100  # 6.5 s by the yardstick
    engine.script.chunks = 50
    engine.script.hold_after = 25
    leave_after(web_thread.address, alice, speech(text, **body), engine)

    # Freed where it stood: nobody released it.
    assert engine.heard[0].ended.wait(WAIT)
    assert engine.heard[0].outcome == "dropped"
    event = settled()
    assert event.outcome == "cancelled"
    assert event.audio_ms == 2000
    assert event.billed_characters == 100 * 2000 // 6500
    log = RequestLog.objects.get()
    assert (log.status, log.finish_reason) == (499, "cancelled")


def test_a_client_that_leaves_before_any_sound_pays_nothing(
    web_thread, base: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 0
    leave_after(web_thread.address, alice, speech(), engine)

    assert engine.heard[0].ended.wait(WAIT)
    assert engine.heard[0].outcome == "dropped"
    assert settled().billed_characters == 0


def test_a_client_that_leaves_a_whole_answer_pays_nothing(
    web_thread, base: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 3
    leave_after(web_thread.address, alice, speech(stream=False), engine)

    assert engine.heard[0].ended.wait(WAIT)
    assert engine.heard[0].outcome == "dropped"
    assert (settled().billed_characters, settled().audio_ms) == (0, 0)


def test_a_new_checkpoint_is_offered_without_a_restart(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttsapp.voices.selectors.FRESH_SECONDS", 0.0)
    newer = custom_voice_model("scripted-2")
    newer.presets.add(name="Clara", native_language="english", description="A bright female voice")
    engine.models = [newer]

    eventually(lambda: say(http, alice, voice="clara").status_code == 200)


def test_who_closes_one_side_hears_no_more_than_is_paid_for(
    web_thread, base: str, alice: Party, engine: ScriptedEngine
) -> None:
    # given a client that reads nothing of an answer, so that much of it waits on its way
    engine.script.chunks, engine.script.hold_after = 600, 550
    host, port = web_thread.address.split(":")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        client.sendall(asked(web_thread.address, alice, speech("x" * 1000, response_format="pcm")))
        assert engine.wait_for_stream().reached.wait(WAIT)
        # when it closes its own side, and reads only once the request is settled
        client.shutdown(socket.SHUT_WR)
        event = settled()
        heard = 0
        with suppress(ConnectionError):
            while piece := client.recv(65536):
                heard += len(piece)
    # then what it gets is what is on record, and the head of the answer
    assert event.outcome == "cancelled"
    assert heard <= event.audio_ms * 48 + 2000


def asked(address: str, party: Party, body: dict[str, object]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {URL} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {party.secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def leave_after(
    address: str, party: Party, body: dict[str, object], engine: ScriptedEngine
) -> UUID | None:
    """Sends the request, reads what comes until the engine holds, and drops the connection."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(asked(address, party, body))
        assert engine.wait_for_stream().reached.wait(10)
        client.settimeout(0.3)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                if not client.recv(65536):
                    break
            except TimeoutError:
                break
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
