"""Clients that read slowly, or not at all: they are cut off, and pay for what they have taken."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import CHUNK_SAMPLES, WAIT, ScriptedEngine
from ttsapp.speech.models import RequestLog

Open = Callable[..., socket.socket]
CHUNKS = 1000  # 80 s, 3.8 MB: more than all buffers on the way hold
TEXT = "x" * 1000  # 65 s by the yardstick
FORMS = [{}, {"response_format": "mp3"}, {"stream_format": "sse"}]


@pytest.fixture
def ask(web_thread, base: str, alice: Party, engine: ScriptedEngine) -> Iterator[Open]:
    """Sends a request over a connection that holds little, and reads nothing of the answer."""
    sockets: list[socket.socket] = []

    def open_and_ask(**fields: object) -> socket.socket:
        content = json.dumps(speech(TEXT, **fields)).encode()
        head = (
            f"POST /v1/audio/speech HTTP/1.1\r\nHost: {web_thread.address}\r\n"
            f"Authorization: Bearer {alice.secret}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        host, port = web_thread.address.split(":")
        client.connect((host, int(port)))
        client.sendall(head.encode() + content)
        sockets.append(client)
        return client

    engine.script.chunks = CHUNKS
    yield open_and_ask
    for client in sockets:
        client.close()


def settled() -> UsageEvent:
    event = eventually(lambda: UsageEvent.objects.first(), WAIT)
    assert isinstance(event, UsageEvent)
    assert not Reservation.objects.exists()
    return event


@pytest.mark.parametrize("form", FORMS, ids=["pcm", "mp3", "sse"])
def test_a_reader_that_takes_nothing_is_cut_off(
    ask: Open, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, form: dict[str, object]
) -> None:
    monkeypatch.setattr(settings, "DELIVERY_SECONDS", 0.5)
    # MP3 is a ninth of the bytes; and gRPC's buffers grow with the speed of what they pass on.
    engine.script.chunks = 10 * CHUNKS
    ask(**form)

    assert engine.wait_for_stream().ended.wait(30)
    assert engine.heard[0].spoken < engine.script.chunks
    event = settled()
    assert event.outcome == "cancelled"
    assert 0 < event.audio_ms < 80 * engine.script.chunks
    assert event.billed_characters == min(150, event.audio_ms // 65)
    log = RequestLog.objects.get()
    assert (log.status, log.finish_reason) == (499, "cancelled")


def test_what_waits_in_our_buffers_is_not_charged(ask: Open, engine: ScriptedEngine) -> None:
    """It left without reading: of what was written, only what fitted its own machine counts."""
    client = ask()
    heard = engine.wait_for_stream()
    eventually(lambda: heard.spoken * CHUNK_SAMPLES * 2 > 256 * 1024, WAIT)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    client.close()

    event = settled()
    assert event.outcome == "cancelled"
    assert event.audio_ms * 48 <= 64 * 1024
    assert event.audio_ms < 80 * heard.spoken


def test_a_reader_that_is_too_slow_for_a_stream_is_cut_off_in_the_end(
    ask: Open, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "MAX_STREAM_SECONDS", 1.0)
    client = ask()
    client.settimeout(WAIT)
    heard = engine.wait_for_stream()
    # Slow, but never idle, until the connection is cut.
    with contextlib.suppress(ConnectionError):
        while client.recv(512):
            time.sleep(0.001)
    assert heard.ended.wait(WAIT)
    event = settled()
    assert event.outcome == "cancelled"
    assert event.billed_characters == min(150, event.audio_ms // 65)  # within the first segment


def test_a_reader_that_pauses_is_waited_for(
    ask: Open, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DELIVERY_SECONDS", 5)
    client = ask(input="x" * 400)  # in three streams
    engine.wait_for_stream().ended.wait(0.5)
    received = b""
    while b"\r\n0\r\n\r\n" not in received[-64:]:
        received += client.recv(65536)
    assert settled().outcome == "completed"
