"""Sockets and utterances that end before their time."""

from __future__ import annotations

import contextlib
import json

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from billing.models import Reservation, UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, ends_within_a_second, eventually
from tests.ttsapp.live_socket.client import (
    PATH,
    closed,
    hear,
    raw_socket,
    refused,
    send,
    start,
    still_works,
)
from tests.ttsapp.scripted_engine import EngineThread, Script, ScriptedEngine, spoken
from tests.ttsapp.web_thread import WebThread
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.speaking import Speaking
from ttsapp.errors import ApiError
from ttsapp.keys.services import revoke_key
from ttsapp.server.socket_protocol import PONG_BACKLOG_BYTES, SocketProtocol
from ttsapp.speech.models import RequestLog


def test_cancel_does_not_wait_for_an_engine_that_ignores_it(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    engine.script.ignore_cancel = True
    start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    socket.recv(10)
    send(socket, type="cancel")
    audio, finished = hear(socket)

    assert (audio, finished["finish_reason"]) == (b"", "cancelled")
    assert engine.heard[0].ended.wait(10)


def test_a_client_that_leaves_frees_the_engine(
    url: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, mode="token")
        send(socket, type="text", text="x" * 100)
        socket.recv(10), socket.recv(10)
        socket.socket.close()

    assert engine.heard[0].ended.wait(10)
    event = eventually(lambda: UsageEvent.objects.first())
    assert (event.outcome, event.audio_ms) == ("cancelled", 160)


def test_a_server_that_stops_says_so_and_charges_nothing(
    alice: Party, engine: ScriptedEngine, base: str
) -> None:
    engine.script.hold_after = 2
    another = WebThread()
    url = f"ws://{another.address}{PATH}"
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, mode="token")
        send(socket, type="text", text="x" * 100)
        socket.recv(10), socket.recv(10)
        another.close()
        with pytest.raises(ConnectionClosed):
            socket.recv(10)

    assert socket.close_code == 1012
    event = UsageEvent.objects.get()
    assert (event.outcome, event.billed_characters) == ("failed", 0)


def test_an_engine_fault_is_told_and_the_socket_lives(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="internal", message="the stream failed")
    engine.script.error_after = 2
    accepted = start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, message = hear(socket)

    assert audio == spoken(2)
    assert (message["type"], message["id"]) == ("error", accepted["id"])
    assert message["error"]["message"] == "the stream failed"
    engine.script.error = None
    assert still_works(socket)
    assert eventually(lambda: UsageEvent.objects.get(pk=accepted["id"])).billed_characters == 0


def test_an_engine_that_is_away(
    socket: ClientConnection, engine_thread: EngineThread, engine: ScriptedEngine
) -> None:
    start(socket)
    engine_thread.stop()
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    refused(socket, "engine_unavailable", None)


def test_a_revoked_key_starts_nothing_more_on_an_open_socket(
    socket: ClientConnection, alice: Party
) -> None:
    assert still_works(socket)
    revoke_key(SYSTEM, alice.key)

    def start_is_accepted() -> bool:
        send(socket, type="start", voice="alloy")
        answer = json.loads(socket.recv(10))
        if answer["type"] == "accepted":
            send(socket, type="cancel")
            socket.recv(10)
            return True
        assert answer["error"]["code"] == "revoked_api_key"
        return False

    ends_within_a_second(start_is_accepted)


def test_a_silent_socket_is_closed(url: str, alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SOCKET_IDLE_SECONDS", 0.2)
    with connect(url, additional_headers=alice.headers) as ws, pytest.raises(ConnectionClosed):
        ws.recv(5)
    assert ws.close_code == 1000


def test_a_text_that_is_kept_open_for_ever_is_ended_and_charged_like_a_cancel(
    url: str, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "TEXT_IDLE_SECONDS", 0.3)
    engine.script.chunks = 2
    with connect(url, additional_headers=alice.headers) as ws:
        accepted = start(ws)
        send(ws, type="text", text="Hello there. And")
        audio, error = hear(ws)

        assert audio == spoken(2)
        assert (error["type"], error["id"]) == ("error", accepted["id"])
        assert (error["error"]["code"], error["error"]["param"]) == ("text_timeout", "text")
        assert (error["spoken_characters"], error["billed_characters"]) == (13, 13)
        engine.script = Script()
        assert still_works(ws)
    event = UsageEvent.objects.get(pk=accepted["id"])
    assert (event.outcome, event.characters, event.billed_characters) == ("cancelled", 16, 13)
    log = RequestLog.objects.get(pk=accepted["id"])
    assert (log.status, log.error_code, log.error_field) == (408, "text_timeout", "text")


def test_a_send_that_fails_frees_the_engine_and_settles(
    url: str, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.script.hold_after = 3
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, mode="token")

        async def fail(*_: object) -> None:
            raise RuntimeError("Unexpected ASGI message")

        monkeypatch.setattr(Speaking, "_pass_on", fail)
        send(socket, type="text", text="x" * 100)
        event = eventually(lambda: UsageEvent.objects.first())

        assert closed(socket) == 1011

    assert (event.outcome, event.billed_characters) == ("cancelled", 0)
    assert engine.heard[0].ended.wait(10)
    assert not Reservation.objects.exists()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ApiError(401, "revoked_api_key", "No."), 1008),
        (ApiError(403, "tenant_suspended", "No."), 1008),
        (ApiError(403, "voice_not_allowed", "No.", field="voice"), None),
        (ApiError(400, "invalid_value", "No."), None),
    ],
)
def test_a_refusal_on_the_way_out_is_told(
    socket: ClientConnection, monkeypatch: pytest.MonkeyPatch, error: ApiError, code: int | None
) -> None:
    """And ends the socket where the key is to blame."""

    async def refuse(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(Speaking, "_pass_on", refuse)
        start(socket)
        send(socket, type="text", text="Hello.")
        send(socket, type="end")
        refused(socket, error.code, error.field)
        if code is not None:
            assert closed(socket) == code
            return
    assert still_works(socket)


def test_a_client_that_reads_nothing_is_cut_off_and_pays_for_what_it_took(
    url: str, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DELIVERY_SECONDS", 0.4)
    engine.script.chunks = 2000
    with connect(url, additional_headers=alice.headers, max_queue=1) as socket:
        start(socket)
        send(socket, type="text", text="x" * 150)
        send(socket, type="end")
        event = eventually(lambda: UsageEvent.objects.first())
        assert event.outcome == "cancelled"
        assert 0 < event.audio_ms < 2000 * 80
        assert event.billed_characters == min(150, 150 * event.audio_ms // 9750)
        assert engine.heard[0].ended.wait(10)
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(5)


def test_a_flood_of_pings_does_not_grow_the_servers_memory(
    url: str, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = 0
    real = SocketProtocol.handle_ping

    def measured(self: SocketProtocol) -> None:
        nonlocal largest
        real(self)
        largest = max(largest, self.transport.get_write_buffer_size())

    monkeypatch.setattr(SocketProtocol, "handle_ping", measured)
    with raw_socket(url, alice) as client:
        client.settimeout(2)
        ping = b"\x89\xfd" + b"\0\0\0\0" + b"x" * 125
        with contextlib.suppress(OSError):
            for _ in range(300):
                client.sendall(ping * 500)
    # All pings of one read are answered together; asyncio reads 256 KiB at most.
    assert 0 < largest <= PONG_BACKLOG_BYTES + 256 * 1024
