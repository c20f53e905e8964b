"""Addresses of an API's where there is nothing, and methods that an address does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.ttsapp.conftest import Party
from ttsapp.dialects.document import DIALECTS

Shape = Callable[[Any], object]

SHAPES: dict[str, Shape] = {
    "openai": lambda body: body["error"]["code"],
    "elevenlabs": lambda body: body["detail"]["status"],
    "cartesia": lambda body: body["error_code"],
    "dashscope": lambda body: body["code"],
    "deepgram": lambda body: body["err_code"],
}
AN_ID = "0190a0b0-0000-7000-8000-000000000000"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
NOWHERE = [
    ("openai", "/v1/nothing"),
    ("openai", "/v1/nothing/"),
    ("openai", "/v1//"),
    ("openai", "/v1/a%0Ab"),
    ("openai", "/v1/audio/speech/"),
    ("openai", "/v1/audio/speech/requests/none"),
    ("openai", "/v1/models/"),
    ("openai", "/openai"),
    ("openai", "/openai/"),
    ("openai", "/openai/nothing"),
    ("openai", "/openai/v1/nothing"),
    ("elevenlabs", "/elevenlabs"),
    ("elevenlabs", "/elevenlabs/"),
    ("elevenlabs", "/elevenlabs/v1/a%0Ab"),
    ("elevenlabs", "/elevenlabs/v1/nothing"),
    ("elevenlabs", "/v1/text-to-speech"),
    ("elevenlabs", "/v1/text-to-speech/Anna/nothing"),
    ("elevenlabs", "/v2/nothing"),
    ("elevenlabs", "/v2"),
    ("cartesia", "/cartesia/nothing"),
    ("cartesia", "/cartesia/a%0Ab"),
    ("cartesia", "/tts"),
    ("cartesia", "/tts/"),
    ("cartesia", "/tts/nothing"),
    ("cartesia", "/voices/a/b"),
    ("cartesia", "/access-token/x"),
    ("dashscope", "/dashscope"),
    ("dashscope", "/dashscope/nothing"),
    ("dashscope", "/api/v1/services/nothing"),
    ("dashscope", "/api/v1/services"),
    ("dashscope", "/api/v1/tasks/x"),
    ("dashscope", "/api-ws/v1/nothing"),
    ("deepgram", "/deepgram"),
    ("deepgram", "/deepgram/v1/nothing"),
    ("deepgram", "/v1/speak/nothing"),
]


def with_key(party: Party, dialect: str) -> dict[str, str]:
    """As the dialect's clients send it."""
    if dialect == "elevenlabs":
        return {"xi-api-key": party.secret}
    return party.headers | ({"cartesia-version": "2026-03-01"} if dialect == "cartesia" else {})


def is_refused(answer: httpx.Response, dialect: str, status: int) -> None:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    if answer.request.method != "HEAD":
        assert SHAPES[dialect](answer.json())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dialect", "path"), NOWHERE)
def test_there_is_nothing(http: httpx.Client, dialect: str, path: str, method: str) -> None:
    is_refused(http.request(method, path), dialect, 404)


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("elevenlabs", "/v1/text-to-dialogue"),
        ("elevenlabs", "/v1/text-to-voice/design"),
        ("cartesia", "/infill/bytes"),
        ("cartesia", "/fine-tunes/"),
        ("openai", "/v1/realtime/sessions"),
        ("openai", "/audio/speech"),
    ],
)
def test_at_the_root_the_key_says_whose_shape_it_is(
    http: httpx.Client, alice: Party, dialect: str, path: str
) -> None:
    is_refused(http.put(path, headers=with_key(alice, dialect)), dialect, 404)


def test_people_see_a_page(http: httpx.Client, transactional_db: None) -> None:
    answer = http.get("/nothing")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_the_management_apis_addresses_are_its_own(http: httpx.Client, alice: Party) -> None:
    answer = http.get("/api/nothing", headers=alice.headers)
    assert answer.headers["content-type"] == "application/problem+json"


def addresses() -> list[tuple[str, str, tuple[str, ...]]]:
    """Each that is described, and the methods that it has."""
    found: dict[tuple[str, str], set[str]] = {}
    for dialect in DIALECTS:
        for call in dialect.calls:
            path = dialect.root + re.sub("{[^}]*}", AN_ID, call.path)
            found.setdefault((dialect.name.lower(), path), set()).add(call.method.upper())
    return [(name, path, tuple(sorted(has))) for (name, path), has in found.items()]


@pytest.mark.parametrize(("dialect", "path", "methods"), addresses())
def test_a_method_that_an_address_does_not_have(
    http: httpx.Client, alice: Party, dialect: str, path: str, methods: tuple[str, ...]
) -> None:
    for method in sorted({*METHODS} - {*methods}):
        answer = http.request(method, path, headers=with_key(alice, dialect))
        is_refused(answer, dialect, 405)
        assert set(answer.headers["allow"].split(", ")) >= {*methods}


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("openai", "/nothing"),
        ("openai", "/"),
        ("openai", "/v1/audio/speech"),
        ("elevenlabs", "/elevenlabs/v1/nothing"),
        ("elevenlabs", "/v1/text-to-speech/Anna/nothing"),
        ("cartesia", "/tts/nothing"),
        ("dashscope", "/api-ws/v1/nothing"),
        ("deepgram", "/deepgram/v1/nothing"),
    ],
)
def test_no_socket_is_404_in_the_shape_of_its_api(base: str, dialect: str, path: str) -> None:
    with pytest.raises(InvalidStatus) as refusal, connect(base.replace("http:", "ws:") + path):
        pass
    answer = refusal.value.response
    assert answer.status_code == 404
    assert SHAPES[dialect](json.loads(answer.body))


WITHOUT_KEY = {
    "/openai/v1/models": "Authorization: Bearer KEY",
    "/elevenlabs/v1/models": "xi-api-key: KEY",
    "/cartesia/voices": "X-API-Key: KEY",
    "/deepgram/v1/speak": "Authorization: Token KEY",
}


@pytest.mark.parametrize("path", WITHOUT_KEY)
def test_who_sends_no_key_is_told_how_its_api_sends_one(http: httpx.Client, path: str) -> None:
    answer = http.post(path) if path.endswith("speak") else http.get(path)
    assert answer.status_code == 401
    assert f"Send it as: {WITHOUT_KEY[path]}" in answer.text


def test_unknown_voices_name_openais_names_where_those_are_known(
    http: httpx.Client, alice: Party
) -> None:
    openai = {"model": "tts-1", "voice": "nobody", "input": "Hello."}
    told = http.post("/openai/v1/audio/speech", json=openai, headers=alice.headers).text
    path = "/elevenlabs/v1/text-to-speech/nobody"
    elsewhere = http.post(path, json={"text": "Hello."}, headers=alice.headers).text
    own = "choose one of Anna, Ben, or the id of a voice of your own."
    assert own + " OpenAI's own names, like alloy, are taken as well." in told
    assert own in elsewhere
    assert "OpenAI" not in elsewhere


def test_nobody_is_told_to_leave_out_what_is_required(http: httpx.Client, alice: Party) -> None:
    path = "/elevenlabs/v1/text-to-speech/Anna"
    answer = http.post(path, json={"text": 7}, headers=alice.headers)
    assert "text is a number: send text in quotes." in answer.text
