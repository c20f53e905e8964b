"""A client of Cartesia's socket that means harm: it is told so, and nobody else notices."""

from __future__ import annotations

import json

import pytest
from websockets.exceptions import ConnectionClosed

from tests.ttsapp.cartesia_calls import body
from tests.ttsapp.cartesia_socket import opened
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog

STRANGE = {
    "nested without end": '{"context_id": "a", "voice": ' + "[" * 100_000,
    "half a character": '{"context_id": "\\ud800", "transcript": "Hi."}',
    "half a character of text": '{"context_id": "a", "transcript": "Hi \\ud800."}',
    "a number beyond all": '{"context_id": "a", "transcript": "Hi.", "max_buffer_delay_ms": 1e999}',
    "a field named twice": '{"context_id": "a", "context_id": {}, "transcript": "Hi."}',
    "a field of a megabyte": json.dumps({"x" * 900_000: 1, "context_id": "a"}),
    "a name of nothing": body(context_id=""),
    "a text of zeros": body(transcript="\0" * 100, context_id="a"),
}
FLOOD = 3000


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + "/tts/websocket"


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_message_costs_one_answer(url: str, alice: Party, name: str) -> None:
    with opened(url, alice.headers) as socket:
        socket.send(STRANGE[name])
        told = socket.next()
        assert told["type"] in ("error", "done")
        assert len(json.dumps(told)) < 2000
        if told["type"] == "error":
            assert 400 <= told["status_code"] < 500
        socket.say("Fine.", context_id="b")
        assert socket.audio() == spoken(5)


def test_bytes_are_no_message(url: str, alice: Party) -> None:
    with opened(url, alice.headers) as socket:
        socket.link.send(b"\x00\xff" * 1000)
        assert socket.next()["error_code"] == "invalid_json"
        socket.say("Fine.")
        assert socket.audio() == spoken(5)


def test_a_message_of_two_megabytes_ends_its_socket_alone(
    url: str, alice: Party, bob: Party
) -> None:
    with opened(url, alice.headers) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.send(body(transcript="x" * 2_000_000))
        socket.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    with opened(url, bob.headers) as other:
        other.say("Fine.")
        assert other.audio() == spoken(5)


def test_one_who_never_reads_its_refusals_holds_up_nobody(
    url: str, alice: Party, bob: Party, engine: ScriptedEngine
) -> None:
    with opened(url, alice.headers) as flood:
        for _ in range(FLOOD):
            flood.send('{"context_id": "a", "transcript": 7}')
            flood.send('{"context_id": "a", "cancel": true}')
        with opened(url, bob.headers) as other:
            other.say("Fine.")
            assert other.audio() == spoken(5)
    assert len(engine.heard) == 1


def test_contexts_that_are_opened_and_cancelled_leave_nothing(
    url: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    with opened(url, alice.headers) as socket:
        for place in range(30):
            socket.send(body(transcript="A text. ", context_id=f"c{place}"))
            socket.send({"context_id": f"c{place}", "cancel": True})
        socket.send({"context_id": "c0", "cancel": True})
        engine.script.hold_after = None
        socket.say("Fine.", context_id="last")
        told = [socket.next()]
        while told[-1]["context_id"] != "last" or told[-1]["type"] != "done":
            told.append(socket.next())
    assert all(heard.ended.wait(5) for heard in engine.heard)
    eventually(lambda: RequestLog.objects.count() == 31)
    assert RequestLog.objects.filter(finish_reason="stop").count() == 1
