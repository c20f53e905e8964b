"""A WebSocket that does not come to be: told in its API's shape, with an id, like any refusal."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests.ttsapp.conftest import Party
from ttsapp.dialects.socket import DialectSocket

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
OURS = "/v1/audio/speech/ws"


def shake(base: str, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, Any]:
    """Status, headers and body; a header that is empty is left out."""
    connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=20)
    given = {**UPGRADE, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("GET", path, headers={name: value for name, value in given.items() if value})
    with connection.getresponse() as answer:
        body = json.loads(answer.read())
    connection.close()
    assert answer.headers["content-type"] == "application/json"
    assert len(answer.headers["x-request-id"]) == 36
    return answer.status, answer.headers, body


def test_another_version_of_the_protocol(base: str) -> None:
    status, _, body = shake(base, OURS, Sec_WebSocket_Version="99")
    assert (status, body["error"]["code"]) == (400, "invalid_http")
    assert body["error"]["message"] == (
        "This is not a valid WebSocket handshake: invalid Sec-WebSocket-Version header: 99."
    )


def test_no_key_for_the_handshake(base: str) -> None:
    status, _, body = shake(base, OURS, Sec_WebSocket_Key="")
    assert (status, body["error"]["code"]) == (400, "invalid_http")


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("/cartesia/tts/websocket?api_key=x", "error_code"),
        ("/dashscope/api-ws/v1/realtime", "code"),
        ("/deepgram/v1/speak", "err_code"),
    ],
)
def test_each_api_in_its_own_shape(base: str, path: str, codes: str) -> None:
    status, _, body = shake(base, path, Sec_WebSocket_Key="x")
    assert status == 400
    assert body[codes]


def test_a_fault_of_ours(base: str, alice: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(DialectSocket, "connect", connect)
    status, _, body = shake(base, OURS, **alice.headers)
    assert (status, body["error"]["code"]) == (500, "internal_error")


def test_a_page_of_somebody_else(base: str) -> None:
    status, _, body = shake(base, "/platform/engines/live", Origin="https://evil.example")
    assert (status, body["error"]["code"]) == (403, "forbidden")
