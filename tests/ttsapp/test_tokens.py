"""Access tokens: what stands for a key for a while, and for speech alone."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from django.core import signing
from websockets.sync.client import connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp.audit.services import SYSTEM
from ttsapp.keys import tokens
from ttsapp.keys.services import revoke_key, rotate_key
from ttsapp.keys.tokens import Scope


def token(party: Party, seconds: int = 60) -> str:
    return tokens.mint(party.key.public_id, mark(party), Scope.SPEECH, seconds)


def mark(party: Party) -> str:
    return tokens.mark(bytes(party.key.secret_hash))


def say(http: httpx.Client, credential: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {credential}"}
    return http.post("/v1/audio/speech", json=speech(), headers=headers)


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    return response.json()["error"]["message"]


def test_it_works(http: httpx.Client, alice: Party, bob: Party) -> None:
    assert say(http, token(alice)).status_code == 200
    event = UsageEvent.objects.get()
    assert (event.tenant_id, event.key_id) == (alice.tenant.id, alice.key.id)


def test_where_keys_may_stand(http: httpx.Client, alice: Party) -> None:
    for name in ("xi-api-key", "x-api-key"):
        answer = http.post("/v1/audio/speech", json=speech(), headers={name: token(alice)})
        assert answer.status_code == 200


def test_only_for_speech(http: httpx.Client, alice: Party) -> None:
    headers = {"Authorization": f"Bearer {token(alice)}"}
    message = refused(http.get("/v1/models", headers=headers), 403, "token_out_of_scope")
    assert message == "This access token is for speech only: use an API key here."


def test_expired(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    message = refused(say(http, token(alice, -1)), 401, "invalid_api_key")
    assert message == "This access token has expired: ask for another."
    assert engine.heard == []


@pytest.mark.parametrize("place", [0, -1])
def test_forged(http: httpx.Client, alice: Party, bob: Party, place: int) -> None:
    """A letter of what it says, or of its signature, is another."""
    prefix, text = tokens.PREFIX, token(alice).removeprefix(tokens.PREFIX)
    letters = list(text)
    letters[place] = "A" if letters[place] != "A" else "B"
    message = refused(say(http, prefix + "".join(letters)), 401, "invalid_api_key")
    assert message == "Incorrect access token provided."


def test_it_ends_with_its_key(http: httpx.Client, alice: Party) -> None:
    short = token(alice)
    assert say(http, short).status_code == 200
    revoke_key(SYSTEM, alice.key)
    eventually(lambda: say(http, short).status_code == 401)


def test_it_ends_with_the_secret_that_it_was_asked_for_by(http: httpx.Client, alice: Party) -> None:
    short = token(alice)
    assert say(http, short).status_code == 200
    rotate_key(SYSTEM, alice.key, timedelta(0))
    eventually(lambda: say(http, short).status_code == 401)
    message = refused(say(http, short), 401, "replaced_api_key")
    assert message.startswith("The secret that this access token was asked for by was replaced")


def test_it_lives_as_long_as_its_secret_overlaps_the_next(
    http: httpx.Client, alice: Party, bob: Party
) -> None:
    """Given a token of the secret before, and one of the new secret, that are both good."""
    old = token(alice)
    secret = rotate_key(SYSTEM, alice.key, timedelta(hours=1))
    headers = {"Authorization": f"Bearer {secret}"}
    made = http.post("/cartesia/access-token", json={"grants": {"tts": True}}, headers=headers)
    assert say(http, made.json()["token"]).status_code == 200
    assert say(http, old).status_code == 200
    rotate_key(SYSTEM, alice.key, timedelta(hours=1))
    eventually(lambda: say(http, old).status_code == 401)
    assert say(http, made.json()["token"]).status_code == 200
    assert say(http, token(bob)).status_code == 200


def test_a_token_of_an_earlier_version_is_none_of_ours(http: httpx.Client, alice: Party) -> None:
    content = [alice.key.public_id, Scope.SPEECH.value, time.time() + 60]
    signed = tokens.PREFIX + signing.dumps(content, salt=tokens._SALT)
    refused(say(http, signed), 401, "invalid_api_key")


def test_an_open_socket_says_nothing_more_once_its_tokens_secret_is_replaced(
    base: str, http: httpx.Client, alice: Party
) -> None:
    short = token(alice)
    with connect(f"{base.replace('http:', 'ws:')}/v1/speak?access_token={short}") as client:
        json.loads(client.recv(10))
        rotate_key(SYSTEM, alice.key, timedelta(0))
        eventually(lambda: say(http, short).status_code == 401)
        client.send(json.dumps({"type": "Speak", "text": "Hello."}))
        client.send(json.dumps({"type": "Flush"}))
        answer = json.loads(client.recv(10))
    assert (answer["type"], answer["code"]) == ("Warning", "REPLACED_API_KEY")


def test_a_socket_outlives_the_token_that_opened_it(
    base: str, http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, read = token(alice), tokens.read
    with connect(f"{base.replace('http:', 'ws:')}/v1/speak?access_token={short}") as client:
        json.loads(client.recv(10))
        now = time.time()
        monkeypatch.setattr(tokens, "read", lambda text: replace(read(text), expires_at=now))
        refused(say(http, short), 401, "invalid_api_key")
        client.send(json.dumps({"type": "Speak", "text": "Hello."}))
        client.send(json.dumps({"type": "Flush"}))
        assert isinstance(client.recv(10), bytes)
