"""Clients that send the next request before they have the last answer."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine


def request(party: Party) -> bytes:
    body = json.dumps(speech(response_format="pcm")).encode()
    return (
        b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + f"Authorization: {party.headers['Authorization']}\r\n".encode()
        + f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


@pytest.mark.parametrize("behind", [1, 3])
def test_leaving_is_no_fault_in_the_log(
    base: str, alice: Party, engine: ScriptedEngine, caplog: pytest.LogCaptureFixture, behind: int
) -> None:
    engine.script.hold_after = 2
    place = urlsplit(base)
    with socket.create_connection((place.hostname, place.port)) as client:
        client.sendall(request(alice) * (1 + behind))
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        engine.wait_for_stream().reached.wait(10)
    event = eventually(lambda: UsageEvent.objects.first())
    assert event.outcome == "cancelled"
    assert engine.heard[0].ended.wait(10)
    # By the time the same loop has answered another call, the task that was cut is over.
    assert httpx.get(f"{base}/readyz").status_code == 200
    assert len(engine.heard) == 1
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_a_bad_body_behind_an_answer_is_not_answered_in_its_midst(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    bad = (
        b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"
    )
    heard = b""
    place = urlsplit(base)
    with socket.create_connection((place.hostname, place.port)) as client:
        client.sendall(request(alice))
        engine.wait_for_stream().reached.wait(10)
        heard += client.recv(1000)
        client.sendall(bad)
        with contextlib.suppress(ConnectionResetError):
            while piece := client.recv(100_000):
                heard += piece
    assert heard.startswith(b"HTTP/1.1 200")
    assert b"invalid_http" not in heard
    assert engine.heard[0].ended.wait(10)
