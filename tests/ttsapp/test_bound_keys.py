"""A key that is bound to voices or models: every list shows what it may use, and no default is
beyond it."""

from __future__ import annotations

import json

import httpx
import pytest
from websockets.sync.client import connect

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key


@pytest.fixture
def ben(http: httpx.Client, alice: Party) -> httpx.Client:
    """Calls with a key for the voice Ben alone."""
    http.headers["xi-api-key"] = create_key(
        SYSTEM, alice.tenant, "for Ben", allowed_voices=["Ben"]
    )[1]
    return http


def test_lists_of_voices(ben: httpx.Client) -> None:
    stock = [voice["id"] for voice in ben.get("/openai/v1/audio/voices").json()["data"]]
    assert stock == ["Ben", "ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"]
    for path, key in (("/v1/voices", "voices"), ("/v2/voices", "voices"), ("/voices", "data")):
        assert [voice["name"] for voice in ben.get(path).json()[key]] == ["Ben"]
    premade = ben.get("/v1/voices", params={"show_legacy": "true"}).json()["voices"]
    assert {voice["labels"]["gender"] for voice in premade} == {"male"}


@pytest.mark.parametrize("path", ["/v1/voices/Anna", "/v1/voices/Rachel", "/voices/Anna"])
def test_a_voice_that_is_not_listed_is_not_found(ben: httpx.Client, path: str) -> None:
    assert ben.get(path).status_code == 404


def test_lists_of_models(http: httpx.Client, alice: Party) -> None:
    secret = create_key(SYSTEM, alice.tenant, "elsewhere", allowed_models=["another"])[1]
    headers = {"xi-api-key": secret}
    assert http.get("/openai/v1/models", headers=headers).json()["data"] == []
    assert http.get("/openai/v1/models/tts-1", headers=headers).status_code == 404
    assert http.get("/v1/models", headers=headers).json() == []
    assert http.get("/v1/voices", headers=headers).json()["voices"] == []


def test_deepgram_without_a_voice(ben: httpx.Client, engine: ScriptedEngine) -> None:
    answer = ben.post("/v1/speak?encoding=linear16&container=none", json={"text": "Hello there."})
    assert (answer.content, answer.headers["dg-model-name"]) == (spoken(5), "Ben")


def test_deepgrams_socket_without_a_voice(ben: httpx.Client, base: str) -> None:
    url = base.replace("http", "ws", 1) + "/v1/speak"
    with connect(url, additional_headers={"xi-api-key": ben.headers["xi-api-key"]}) as socket:
        assert json.loads(socket.recv(timeout=10))["model_name"] == "Ben"


def test_deepgrams_voice_that_the_key_may_not_use(ben: httpx.Client) -> None:
    answer = ben.post("/v1/speak?model=aura-2-thalia-en", json={"text": "Hello."})
    assert (answer.status_code, answer.json()["err_code"]) == (403, "VOICE_NOT_ALLOWED")
