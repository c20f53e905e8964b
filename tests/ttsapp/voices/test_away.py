"""A voice whose engine is away is there all the same: every API that tells of it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine
from tests.ttsapp.test_api import managing
from tests.ttsapp.voices.conftest import made
from ttsapp.voices import selectors

# Where each API tells of a voice; what its document calls the id, and what it says of the state.
READS = {
    "openai": ("/v1/audio/voices/{}", "id"),
    "elevenlabs": ("/v1/voices/{}", "voice_id"),
    "elevenlabs' settings": ("/v1/voices/{}/settings", ""),
    "cartesia": ("/voices/{}", "id"),
    "management": ("/api/tenants/alice/voices/{}", "id"),
}


@pytest.fixture
def gone(engine_thread: EngineThread, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """No engine is there, and no process remembers what one served."""

    def go() -> None:
        for remembers in ("voices.selectors", "engine.connection"):
            monkeypatch.setattr(f"ttsapp.{remembers}.USABLE_SECONDS", -1.0)
        selectors._memories.clear()
        engine_thread.stop()

    return go


def read(http: httpx.Client, party: Party, way: str, voice: str) -> httpx.Response:
    path, _ = READS[way]
    secret = managing(party, "manage", "read") if way == "management" else party.secret
    headers = {"Authorization": f"Bearer {secret}"}
    if way == "cartesia":
        headers["Cartesia-Version"] = "2025-04-16"
    return http.get(path.format(voice), headers=headers)


@pytest.mark.parametrize("way", READS)
def test_a_clone_whose_model_no_engine_has(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, way: str
) -> None:
    voice = made(http, alice)
    cloning.models.pop()
    selectors._memories.clear()
    answer = read(http, alice, way, voice)
    assert answer.status_code == 200, answer.text
    if field := READS[way][1]:
        assert answer.json()[field] == voice
    assert answer.json().get("state", "away") == "away"


@pytest.mark.parametrize("way", READS)
def test_a_clone_while_no_engine_is_there(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    gone: Callable[[], None],
    way: str,
) -> None:
    voice = made(http, alice)
    gone()
    answer = read(http, alice, way, voice)
    assert answer.status_code == 200, answer.text
    assert answer.json().get("state", "away") == "away"


@pytest.mark.parametrize("way", [way for way in READS if "settings" not in way])
def test_a_preset_is_its_engines(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, gone: Callable[[], None], way: str
) -> None:
    """What it is called nobody knows while the engine is away: that is no 404."""
    assert read(http, alice, way, "Anna").status_code == 200
    gone()
    answer = read(http, alice, way, "Anna")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("way", [way for way in READS if "settings" not in way])
def test_the_id_of_a_voice_that_never_was(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, gone: Callable[[], None], way: str
) -> None:
    """The database knows all of those, whatever engine is there."""
    gone()
    assert read(http, alice, way, f"voice_{'0' * 32}").status_code == 404


def test_the_voices_of_others_are_nobodys(
    http: httpx.Client,
    cloning: ScriptedEngine,
    alice: Party,
    bob: Party,
    mallory: Party,
    gone: Callable[[], None],
) -> None:
    voice = made(http, bob)
    gone()
    ways = [way for way in READS if way != "management"]
    for way in ways:
        assert read(http, bob, way, voice).status_code == 200
        assert read(http, alice, way, voice).status_code == 404
        assert read(http, mallory, way, voice).status_code == 404
    assert read(http, alice, "management", voice).status_code == 404


def test_one_whose_consent_was_withdrawn(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    consents = http.get("/v1/audio/voice_consents", headers=alice.headers).json()["data"]
    where = f"/v1/audio/voice_consents/{consents[0]['id']}/withdraw"
    http.post(where, headers=alice.headers).raise_for_status()
    assert read(http, alice, "openai", voice).json()["state"] == "withdrawn"
    listed = http.get("/v1/audio/voices", headers=alice.headers).json()["data"]
    assert voice not in [each["id"] for each in listed]


def test_openais_names_can_be_looked_at(
    http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    found = read(http, alice, "openai", "alloy").json()
    assert (found["id"], found["type"], found["alias_of"]) == ("alloy", "alias", "Anna")


def test_the_management_list_tells_what_is_missing(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, gone: Callable[[], None]
) -> None:
    voice = made(http, alice)
    headers = {"Authorization": f"Bearer {managing(alice)}"}

    def listed() -> dict[str, Any]:
        found = http.get("/api/tenants/alice/voices", headers=headers).json()
        states = {each["id"]: each["state"] for each in found["results"]}
        return {"is_complete": found["is_complete"], **states}

    assert listed() == {"is_complete": True, voice: "active", "Anna": "active", "Ben": "active"}
    gone()
    assert listed() == {"is_complete": False, voice: "away"}
