"""/v1/audio/speech/ws: text in while audio goes out, any number of utterances in a row."""

from __future__ import annotations

import contextlib
import json
import logging
import socket as socket_module
import time
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from billing.models import Reservation, UsageEvent
from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import EngineThread, Script, ScriptedEngine, spoken
from tests.ttsapp.web_thread import WebThread
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.speaking import Speaking
from ttsapp.errors import ApiError
from ttsapp.keys.services import revoke_key
from ttsapp.server.socket_protocol import PONG_BACKLOG_BYTES, SocketProtocol
from ttsapp.speech.models import RequestLog

PATH = "/v1/audio/speech/ws"


@pytest.fixture
def url(base: str) -> str:
    return base.replace("http:", "ws:") + PATH


@pytest.fixture
def socket(url: str, alice: Party) -> Iterator[ClientConnection]:
    with connect(url, additional_headers=alice.headers) as client:
        yield client


def send(socket: ClientConnection, **message: object) -> None:
    socket.send(json.dumps(message))


def start(socket: ClientConnection, **fields: object) -> dict:
    send(socket, type="start", **{"voice": "alloy", **fields})
    accepted = json.loads(socket.recv(10))
    assert accepted["type"] == "accepted", accepted
    return accepted


def hear(socket: ClientConnection) -> tuple[bytes, dict]:
    """All audio up to the next message, and that message."""
    audio = b""
    while isinstance(piece := socket.recv(10), bytes):
        audio += piece
    return audio, json.loads(piece)


def refused(socket: ClientConnection, code: str, param: str | None) -> dict:
    audio, message = hear(socket)
    assert (audio, message["type"]) == (b"", "error")
    assert set(message["error"]) == {"message", "type", "param", "code"}
    assert (message["error"]["code"], message["error"]["param"]) == (code, param)
    return message


def closed(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        socket.recv(10)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def still_works(socket: ClientConnection) -> bool:
    start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, finished = hear(socket)
    return audio == spoken(5) and finished["type"] == "finished"


def test_it_works(socket: ClientConnection, alice: Party, engine: ScriptedEngine) -> None:
    accepted = start(socket, voice="Ben", language="en", instructions="calm", seed=5)
    send(socket, type="text", text="Hello ")
    send(socket, type="text", text="there.")
    send(socket, type="end")
    audio, finished = hear(socket)

    assert audio == spoken(5)
    assert (accepted["voice"], accepted["sample_rate"], accepted["seed"]) == ("Ben", 24_000, 5)
    assert (finished["type"], finished["finish_reason"]) == ("finished", "stop")
    assert (finished["characters"], finished["audio_ms"]) == (12, 400)
    assert finished["id"] == accepted["id"]
    assert engine.heard[0].text == "Hello there."
    assert engine.heard[0].start.language == "english"
    event = UsageEvent.objects.get(pk=accepted["id"])
    assert (event.tenant, event.key, event.billed_characters) == (alice.tenant, alice.key, 12)
    assert not Reservation.objects.exists()


def test_a_sentence_is_spoken_before_the_text_has_ended(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket)
    send(socket, type="text", text="Hello there. How ")
    first = b"".join(socket.recv(10) for _ in range(5))
    assert first == spoken(5)
    assert [heard.start.text for heard in engine.heard] == ["Hello there. "]
    assert engine.heard[0].ended.wait(1), "no engine slot is held while text is awaited"
    send(socket, type="text", text="are you?")
    send(socket, type="end")
    audio, finished = hear(socket)

    assert audio == spoken(5)
    assert (finished["characters"], finished["audio_ms"]) == (25, 800)
    assert [heard.start.text for heard in engine.heard] == ["Hello there. ", "How are you?"]
    assert all(heard.start.complete for heard in engine.heard)
    event = UsageEvent.objects.get()
    assert (event.billed_characters, event.audio_ms, event.frames) == (25, 800, 10)


def test_in_token_mode_text_is_spoken_as_it_comes(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket, mode="token")
    send(socket, type="text", text="Hello ")
    assert isinstance(socket.recv(10), bytes)
    send(socket, type="text", text="there.")
    send(socket, type="end")

    assert hear(socket)[1]["characters"] == 12
    heard = engine.heard[0]
    assert (heard.start.text, heard.appended) == ("Hello ", ["there."])
    assert (heard.start.layout, heard.start.complete) == (pb.TEXT_LAYOUT_STREAMING, False)


def test_several_utterances_on_one_socket(socket: ClientConnection) -> None:
    assert [still_works(socket) for _ in range(3)] == [True] * 3
    assert UsageEvent.objects.count() == 3


def test_the_engine_is_called_once_there_is_something_to_say(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket)
    for text in (" ", "…", "Now"):
        send(socket, type="text", text=text)
    send(socket, type="end")
    hear(socket)

    assert [heard.start.text for heard in engine.heard] == [" …Now"]


@pytest.mark.parametrize("name", ["wav", "mp3", "opus", "webm", "flac"])
def test_other_formats(socket: ClientConnection, name: str) -> None:
    start(socket, response_format=name)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, _ = hear(socket)

    starts = {"wav": b"RI", "mp3": b"\xff\xf3", "opus": b"Og", "webm": b"\x1aE", "flac": b"fL"}
    assert audio[:2] == starts[name]


def test_cancel_stops_at_once_and_bills_what_was_heard(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script.chunks = 50
    engine.script.hold_after = 25
    accepted = start(socket)
    send(socket, type="text", text="x" * 100)
    send(socket, type="end")
    for _ in range(25):
        socket.recv(10)

    send(socket, type="cancel")
    audio, finished = hear(socket)

    assert audio == b""
    assert (finished["finish_reason"], finished["audio_ms"]) == ("cancelled", 2000)
    assert engine.heard[0].outcome == "cancelled"
    event = UsageEvent.objects.get(pk=accepted["id"])
    assert (event.outcome, event.billed_characters) == ("cancelled", 100 * 2000 // 6500)
    # The engine was asked, so it could say what it had spent.
    assert event.talker_ms == 1.5
    engine.script = Script()
    assert still_works(socket)


def test_barge_in_tells_what_the_listener_has_played(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script = Script(chunks=50, hold_after=25)
    start(socket)
    send(socket, type="text", text="x" * 100)
    send(socket, type="end")
    for _ in range(25):
        socket.recv(10)

    send(socket, type="cancel", played_ms=650)
    _, finished = hear(socket)

    assert (finished["finish_reason"], finished["audio_ms"]) == ("cancelled", 2000)
    assert finished["spoken_characters"] == 100 * 650 // 6500
    assert finished["billed_characters"] == 100 * 2000 // 6500


@pytest.mark.parametrize(
    ("played", "code"),
    [
        (-1, "invalid_value"),
        (86_400_001, "invalid_value"),
        (1.5, "invalid_type"),
        ("1", "invalid_type"),
    ],
)
def test_a_time_played_that_is_none_cancels_nothing(
    socket: ClientConnection, played: object, code: str
) -> None:
    start(socket)
    send(socket, type="cancel", played_ms=played)
    refused(socket, code, "played_ms")
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    audio, finished = hear(socket)
    assert (audio, finished["finish_reason"]) == (spoken(5), "stop")


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
    assert engine.heard[0].ended.wait(1)


def test_cancel_before_any_text(socket: ClientConnection, engine: ScriptedEngine) -> None:
    start(socket)
    send(socket, type="cancel")

    assert hear(socket)[1]["finish_reason"] == "cancelled"
    assert engine.heard == []
    assert still_works(socket)


def test_a_client_that_leaves_frees_the_engine(
    url: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with connect(url, additional_headers=alice.headers) as socket:
        start(socket, mode="token")
        send(socket, type="text", text="x" * 100)
        socket.recv(10), socket.recv(10)
        socket.socket.close()

    assert engine.heard[0].ended.wait(0.2), "the engine was not freed within 200 ms"
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


@pytest.mark.parametrize(
    ("message", "code", "param"),
    [
        ({}, "invalid_json", "type"),
        ({"type": 7}, "invalid_json", "type"),
        ({"type": "sing"}, "invalid_value", "type"),
        ({"type": "start"}, "missing_field", "voice"),
        ({"type": "start", "voice": "zelda"}, "unknown_voice", "voice"),
        ({"type": "start", "voice": 7}, "invalid_type", "voice"),
        ({"type": "start", "voice": "alloy", "model": "gpt-9"}, "model_not_found", "model"),
        (
            {"type": "start", "voice": "alloy", "response_format": "ogg"},
            "invalid_value",
            "response_format",
        ),
        ({"type": "start", "voice": "alloy", "language": "xx"}, "invalid_value", "language"),
        ({"type": "start", "voice": "alloy", "seed": -1}, "invalid_value", "seed"),
        ({"type": "start", "voice": "alloy", "pitch": 1}, "unknown_field", "pitch"),
        ({"type": "text", "text": "early"}, "out_of_order", "type"),
        ({"type": "end"}, "out_of_order", "type"),
        ({"type": "cancel"}, "out_of_order", "type"),
    ],
)
def test_a_bad_message(
    socket: ClientConnection, message: dict, code: str, param: str, engine: ScriptedEngine
) -> None:
    socket.send(json.dumps(message))

    refused(socket, code, param)
    assert engine.heard == []
    assert still_works(socket)


@pytest.mark.parametrize("frame", ["", "nul", "[]", '{"type":', b"\x00\x01", "[" * 9999])
def test_a_frame_that_is_no_message(socket: ClientConnection, frame: str | bytes) -> None:
    socket.send(frame)

    assert hear(socket)[1]["error"]["code"] == "invalid_json"
    assert still_works(socket)


def test_text_of_the_wrong_kind(socket: ClientConnection) -> None:
    start(socket)
    send(socket, type="text", text=7)
    refused(socket, "invalid_type", "text")


def test_an_utterance_with_nothing_to_say(socket: ClientConnection, engine: ScriptedEngine) -> None:
    start(socket)
    send(socket, type="text", text=" 🙂 ")
    send(socket, type="end")

    refused(socket, "empty_input", "text")
    assert engine.heard == []
    assert still_works(socket)


def test_text_that_grows_too_long(socket: ClientConnection) -> None:
    start(socket)
    send(socket, type="text", text=" " * 4096)
    send(socket, type="text", text="x")
    refused(socket, "string_above_max_length", "text")


def test_text_after_end(socket: ClientConnection, engine: ScriptedEngine) -> None:
    engine.script.hold_after = 0
    start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    send(socket, type="text", text="And more.")

    refused(socket, "out_of_order", "type")
    engine.release.set()
    assert hear(socket)[0] == spoken(5)


def test_a_second_start_before_the_first_has_ended(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket)
    send(socket, type="start", voice="alloy")
    refused(socket, "out_of_order", "type")


def test_a_message_of_two_megabytes_closes_the_socket(socket: ClientConnection) -> None:
    with pytest.raises(ConnectionClosedError), contextlib.suppress(BrokenPipeError):
        socket.send("x" * 2_000_000)
        socket.recv(10)


@pytest.mark.parametrize("key", [None, "parl_live_nonsense", "revoked"])
def test_bad_credentials_are_refused_in_the_handshake(
    url: str, alice: Party, key: str | None
) -> None:
    if key == "revoked":
        revoke_key(SYSTEM, alice.key)
        key = alice.secret
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    with pytest.raises(InvalidStatus) as refusal:
        connect(url, additional_headers=headers)

    response = refusal.value.response
    assert response.status_code == 401
    code = "revoked_api_key" if key == alice.secret else "invalid_api_key"
    assert json.loads(response.body)["error"]["code"] == code
    assert response.headers["x-request-id"]


@pytest.mark.parametrize("path", [PATH, "/v1/other"])
def test_a_refused_handshake_is_no_fault_in_the_log(
    base: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InvalidStatus):
        connect(base.replace("http:", "ws:") + path)
    # By the time the same loop has answered another call, the refused one's task is over.
    assert httpx.get(f"{base}/readyz").status_code == 200
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_an_unknown_path_is_refused(base: str, alice: Party) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        connect(base.replace("http:", "ws:") + "/v1/other", additional_headers=alice.headers)
    assert refusal.value.response.status_code == 403


def test_a_foreign_origin_is_no_reason_to_refuse(url: str, alice: Party) -> None:
    with connect(url, origin="https://elsewhere.example", additional_headers=alice.headers) as ws:
        assert still_works(ws)


def test_a_revoked_key_starts_nothing_more_on_an_open_socket(
    socket: ClientConnection, alice: Party
) -> None:
    assert still_works(socket)
    revoke_key(SYSTEM, alice.key)
    revoked = time.monotonic()

    def start_is_refused() -> bool:
        send(socket, type="start", voice="alloy")
        answer = json.loads(socket.recv(10))
        if answer["type"] == "accepted":
            send(socket, type="cancel")
            socket.recv(10)
        return answer["type"] == "error" and answer["error"]["code"] == "revoked_api_key"

    eventually(start_is_refused, seconds=2)
    assert time.monotonic() - revoked < 1.0


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


def test_a_refused_start_is_in_the_log(socket: ClientConnection, alice: Party) -> None:
    send(socket, type="start", voice="zelda")
    hear(socket)

    log = eventually(lambda: RequestLog.objects.first())
    assert (log.tenant, log.transport, log.error_field) == (alice.tenant, "ws", "voice")


def test_flush_speaks_what_is_held_back(socket: ClientConnection, engine: ScriptedEngine) -> None:
    accepted = start(socket)
    send(socket, type="text", text="Hello")
    send(socket, type="flush", flush_id="a")
    audio, flushed = hear(socket)

    assert audio == spoken(5)
    assert flushed == {"type": "flushed", "id": accepted["id"], "flush_id": "a"}
    send(socket, type="end")
    assert hear(socket)[1]["finish_reason"] == "stop"
    assert [heard.text for heard in engine.heard] == ["Hello"]


def test_an_unknown_mode(socket: ClientConnection) -> None:
    send(socket, type="start", voice="alloy", mode="letter")
    refused(socket, "invalid_value", "mode")


def test_an_error_names_the_request_it_is_about_and_no_other(
    socket: ClientConnection, alice: Party, engine: ScriptedEngine
) -> None:
    assert still_works(socket)
    send(socket, type="text", text="early")
    assert "id" not in refused(socket, "out_of_order", "type")

    send(socket, type="start", voice="zelda")
    refusal = refused(socket, "unknown_voice", "voice")
    assert eventually(lambda: RequestLog.objects.filter(pk=refusal["id"]).first())

    accepted = start(socket)
    send(socket, type="text", text=7)
    assert refused(socket, "invalid_type", "text")["id"] == accepted["id"]


def test_the_engines_refusal_names_the_sockets_field(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    engine.script.error = pb.Error(code="invalid_request", message="too many", field="text")
    start(socket)
    send(socket, type="text", text="Hello.")
    send(socket, type="end")
    refused(socket, "invalid_value", "text")


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
    assert engine.heard[0].ended.wait(1)
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
        event = eventually(lambda: UsageEvent.objects.first(), 20)
        assert event.outcome == "cancelled"
        assert 0 < event.audio_ms < 2000 * 80
        assert event.billed_characters == min(150, 150 * event.audio_ms // 9750)
        assert engine.heard[0].ended.wait(1)
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


@pytest.mark.parametrize("path", ["", "/"])
def test_a_socket_without_a_path_is_refused(base: str, alice: Party, path: str) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        connect(base.replace("http:", "ws:") + path, additional_headers=alice.headers)
    assert refusal.value.response.status_code == 403


@pytest.mark.parametrize("path", [PATH, "/v1/other"])
def test_query_strings_are_never_logged(
    base: str, alice: Party, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    address = base.replace("http:", "ws:") + path + "?api_key=sesame"
    with (
        caplog.at_level("DEBUG"),
        contextlib.suppress(InvalidStatus),
        connect(address, additional_headers=alice.headers),
    ):
        pass
    told = [record.getMessage() for record in caplog.records if record.name != "websockets.client"]
    assert any(path in line for line in told)
    assert not any("sesame" in line for line in told)


@contextlib.contextmanager
def raw_socket(url: str, party: Party) -> Iterator[socket_module.socket]:
    """A WebSocket after its handshake, for what no library would send."""
    host, port = url.removeprefix("ws://").split("/")[0].split(":")
    head = f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head += f"Authorization: {party.headers['Authorization']}\r\n\r\n"
    with socket_module.create_connection((host, int(port)), 5) as client:
        client.sendall(head.encode())
        assert b" 101 " in client.recv(4096)
        yield client


def test_sentences_are_prepared_like_any_text(
    socket: ClientConnection, engine: ScriptedEngine
) -> None:
    start(socket, language="en", apply_text_normalization="on")
    for text in ("It is $", "5 \u200b— “or” 6", "%. ", "Ok."):
        send(socket, type="text", text=text)
    send(socket, type="end")
    _, finished = hear(socket)

    assert [heard.start.text for heard in engine.heard] == [
        'It is five dollars — "or" six percent. ',
        "Ok.",
    ]
    # What was sent is what is charged.
    assert finished["characters"] == finished["billed_characters"] == 24


def test_words_that_come_one_by_one_cannot_be_normalised(socket: ClientConnection) -> None:
    send(socket, type="start", voice="alloy", mode="token", apply_text_normalization="on")

    error = json.loads(socket.recv(10))["error"]
    assert error["param"] == "apply_text_normalization"
    assert error["message"] == (
        "Only whole sentences can be normalised: leave mode out, or send off."
    )
