"""What the socket refuses, and how it says so."""

from __future__ import annotations

import contextlib
import json
import logging

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.live_socket.client import PATH, hear, refused, send, start, still_works
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import revoke_key
from ttsapp.speech.models import RequestLog


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
    assert refusal.value.response.status_code == 404


def test_a_foreign_origin_is_no_reason_to_refuse(url: str, alice: Party) -> None:
    with connect(url, origin="https://elsewhere.example", additional_headers=alice.headers) as ws:
        assert still_works(ws)


def test_a_refused_start_is_in_the_log(socket: ClientConnection, alice: Party) -> None:
    send(socket, type="start", voice="zelda")
    hear(socket)

    log = eventually(lambda: RequestLog.objects.first())
    assert (log.tenant, log.transport, log.error_field) == (alice.tenant, "ws", "voice")


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


@pytest.mark.parametrize("path", ["", "/"])
def test_a_socket_without_a_path_is_refused(base: str, alice: Party, path: str) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        connect(base.replace("http:", "ws:") + path, additional_headers=alice.headers)
    assert refusal.value.response.status_code == 404


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


def test_words_that_come_one_by_one_cannot_be_normalised(socket: ClientConnection) -> None:
    send(socket, type="start", voice="alloy", mode="token", apply_text_normalization="on")

    error = json.loads(socket.recv(10))["error"]
    assert error["param"] == "apply_text_normalization"
    assert error["message"] == (
        "Only whole sentences can be normalised: leave mode out, or send off."
    )


@pytest.mark.parametrize(
    "field", [{"lead_silence_ms": 200}, {"enable_ssml_parsing": "pauses"}], ids=str
)
def test_no_silence_in_token_mode(socket: ClientConnection, field: dict[str, object]) -> None:
    """Text that is spoken as it comes has no place for it."""
    message = {"type": "start", "voice": "alloy", "mode": "token", **field}
    socket.send(json.dumps(message))

    refused(socket, "invalid_value", next(iter(field)))
    assert still_works(socket)


def test_growing_text_is_no_document(socket: ClientConnection) -> None:
    socket.send(json.dumps({"type": "start", "voice": "alloy", "enable_ssml_parsing": True}))

    refused(socket, "invalid_value", "enable_ssml_parsing")
