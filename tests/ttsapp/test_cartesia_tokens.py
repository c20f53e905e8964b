"""Cartesia's access tokens."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from billing.models import UsageEvent
from tests.ttsapp.cartesia_calls import body, refused
from tests.ttsapp.conftest import Party, eventually
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import revoke_key


def ask_for_token(http: httpx.Client, headers: dict[str, str], **fields: Any) -> httpx.Response:
    return http.post("/access-token", json={"grants": {"tts": True}, **fields}, headers=headers)


def test_access_token(http: httpx.Client, alice: Party) -> None:
    answer = ask_for_token(http, alice.headers, expires_in=60)
    assert set(answer.json()) == {"token"}
    headers = {"Authorization": f"Bearer {answer.json()['token']}"}
    for path in ("/tts/bytes", "/tts/sse", "/v1/speak"):
        fields = {"text": "Hi."} if path == "/v1/speak" else body()
        assert http.post(path, json=fields, headers=headers).status_code == 200
    assert {event.tenant_id for event in UsageEvent.objects.all()} == {alice.tenant.id}
    revoke_key(SYSTEM, alice.key)
    eventually(
        lambda: http.post("/tts/bytes", json=body(), headers=headers).status_code == 401,
    )


@pytest.mark.parametrize(("method", "path"), [("POST", "/access-token"), ("GET", "/voices")])
def test_access_token_is_for_speech_alone(
    http: httpx.Client, alice: Party, method: str, path: str
) -> None:
    short = ask_for_token(http, alice.headers).json()["token"]
    answer = http.request(method, path, headers={"X-API-Key": short})
    refused(answer, 403, "token_out_of_scope")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"expires_in": 3601}, "expires_in 3601 is out of range"),
        ({"expires_in": 0}, "expires_in 0 is out of range"),
        ({"grants": {}}, "send grants.tts as true"),
        ({"grants": None}, "send grants.tts as true"),
        ({"grants": {"tts": True, "stt": True}}, "grants.stt is not offered"),
        ({"grants": {"tts": True, "tea": True}}, "Unknown field 'grants.tea'"),
    ],
)
def test_access_token_refused(
    http: httpx.Client, alice: Party, fields: dict[str, Any], message: str
) -> None:
    answer = ask_for_token(http, alice.headers, **fields)
    assert message in refused(answer, 400, answer.json()["error_code"])
