"""A whole answer is charged for what its client has taken of it, as a streamed one is."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from pytest_django import Settings

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from tests.ttsapp.web_thread import WebThread
from ttsapp import background
from ttsapp.idempotency.models import KeyedRequest
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant

TEXT = "e" * 100
# 16 s, 768,000 bytes of PCM: more than all buffers on the way hold.
CHUNKS = 200
RESET = struct.pack("ii", 1, 0)
ELEVENLABS = "/v1/text-to-speech/Anna"
WHOLE: list[tuple[str, dict[str, object]]] = [
    ("/v1/audio/speech", speech(TEXT, stream=False)),
    ("/v1/audio/speech", speech(TEXT, stream=False, word_timestamps=True)),
    (f"{ELEVENLABS}?output_format=pcm_24000", {"text": TEXT}),
    (f"{ELEVENLABS}/with-timestamps?output_format=pcm_24000", {"text": TEXT}),
]
NAMES = ["bytes", "words", "elevenlabs", "elevenlabs words"]
URL, BODY = WHOLE[0]


def connected(web: WebThread) -> socket.socket:
    """A connection that takes little before it is read from."""
    host, port = web.address.split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
    connection.settimeout(20)
    connection.connect((host, int(port)))
    return connection


@pytest.fixture
def raw(web_thread: WebThread, base: str, engine: ScriptedEngine) -> Iterator[socket.socket]:
    engine.script = Script(chunks=CHUNKS)
    with closing(connected(web_thread)) as connection:
        yield connection


def ask(
    raw: socket.socket, party: Party, url: str, body: dict[str, object], *headers: str
) -> bytes:
    """Sends it, and reads 2,000 bytes of what comes."""
    content = json.dumps(body).encode()
    head = [
        f"POST {url} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {party.secret}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *headers,
    ]
    raw.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + content)
    came = raw.recv(2000)
    assert came.startswith(b"HTTP/1.1 200 ")
    return came


def reset(raw: socket.socket) -> None:
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    raw.close()


def settled() -> UsageEvent:
    event = eventually(UsageEvent.objects.first)
    assert isinstance(event, UsageEvent)
    return event


@pytest.mark.parametrize(("url", "body"), WHOLE, ids=NAMES)
def test_who_leaves_pays_for_what_it_took(
    raw: socket.socket, alice: Party, url: str, body: dict[str, object]
) -> None:
    ask(raw, alice, url, body)
    reset(raw)
    event = settled()
    assert (event.outcome, event.characters) == ("cancelled", 100)
    # Kernels hold what they like, and less than this.
    assert event.audio_ms < 40 * CHUNKS
    assert event.billed_characters == 100 * event.audio_ms // (80 * CHUNKS)
    log = RequestLog.objects.get()
    assert (log.status, log.finish_reason) == (499, "cancelled")


@pytest.mark.parametrize(("url", "body"), WHOLE, ids=NAMES)
def test_nothing_is_charged_while_it_is_under_way(
    raw: socket.socket, alice: Party, url: str, body: dict[str, object]
) -> None:
    """What a process leaves that dies in it is a reservation, which is closed for nothing."""
    ask(raw, alice, url, body)
    assert eventually(Reservation.objects.exists)
    assert not UsageEvent.objects.exists()


def test_it_holds_its_place_among_the_streams_until_it_is_taken(
    raw: socket.socket, http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    parties = (alice, bob, mallory)
    Tenant.objects.update(concurrent_streams=1)
    ask(raw, alice, URL, BODY, "Connection: close")
    short = speech(stream=False)

    meanwhile = [http.post(URL, json=short, headers=party.headers) for party in parties]
    while raw.recv(65536):
        pass
    later = http.post(URL, json=short, headers=alice.headers)

    assert [answer.status_code for answer in meanwhile] == [429, 200, 200]
    assert meanwhile[0].json()["error"]["code"] == "concurrent_limit_exceeded"
    assert later.status_code == 200


def test_what_fits_into_the_buffers_counts_as_delivered(
    web_thread: WebThread, base: str, engine: ScriptedEngine, alice: Party
) -> None:
    """Whoever is killed before it has read any of it."""
    with closing(connected(web_thread)) as raw:
        ask(raw, alice, URL, speech(TEXT, stream=False))
        event = settled()
        reset(raw)
    assert (event.outcome, event.billed_characters, event.audio_ms) == ("completed", 100, 400)


@pytest.mark.parametrize(("url", "body"), WHOLE, ids=NAMES)
def test_who_has_all_of_it_finds_it_charged(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, url: str, body: dict[str, object]
) -> None:
    engine.script = Script(chunks=CHUNKS)
    answer = http.post(url, json=body, headers=alice.headers)
    assert int(answer.headers["content-length"]) == len(answer.content)
    event = UsageEvent.objects.get()
    assert (event.outcome, event.billed_characters) == ("completed", 100)
    assert event.audio_ms == 80 * CHUNKS


def test_all_of_a_long_one_arrives(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=CHUNKS)
    assert http.post(URL, json=BODY, headers=alice.headers).content == spoken(CHUNKS)


def test_who_leaves_keeps_nothing_under_its_key(raw: socket.socket, alice: Party) -> None:
    ask(raw, alice, URL, BODY, "Idempotency-Key: one")
    reset(raw)
    assert settled().outcome == "cancelled"
    assert eventually(lambda: not KeyedRequest.objects.exists())


def test_one_that_takes_nothing_is_charged_for_what_it_took(
    web_thread: WebThread, base: str, engine: ScriptedEngine, alice: Party, settings: Settings
) -> None:
    settings.DELIVERY_SECONDS = 1
    engine.script = Script(chunks=CHUNKS)
    with closing(connected(web_thread)) as raw:
        ask(raw, alice, URL, BODY)
        event = settled()
    assert (event.outcome, event.billed_characters < 50) == ("cancelled", True)


def test_one_that_our_stop_cuts_is_free(
    base: str, engine: ScriptedEngine, alice: Party, settings: Settings
) -> None:
    settings.GRACE_SECONDS = 0
    engine.script = Script(chunks=CHUNKS)
    web = WebThread()
    try:
        with closing(connected(web)) as raw:
            ask(raw, alice, URL, BODY)
            web.ask_to_stop()
            event = settled()
            assert eventually(lambda: not background._running)
    finally:
        web.close()
    assert (event.outcome, event.billed_characters) == ("failed", 0)
