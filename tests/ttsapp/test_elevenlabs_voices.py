"""ElevenLabs' dialect: voices and models."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.elevenlabs_calls import (
    ADAM,
    RACHEL,
    found,
    get,
    refused,
    xi,
)
from ttsapp.dialects.elevenlabs.voices import PREMADE


def test_voices_carry_id_name_and_category(http: httpx.Client, alice: Party) -> None:
    voices = found(http, alice, "/v1/voices")["voices"]
    assert [(one["voice_id"], one["name"], one["category"]) for one in voices] == [
        ("Anna", "Anna", "premade"),
        ("Ben", "Ben", "premade"),
    ]
    assert voices[0]["labels"] == {"gender": "female", "language": "en"}
    assert voices[0]["verified_languages"] == [
        {"language": "en", "model_id": "scripted-voices"},
        {"language": "de", "model_id": "scripted-voices"},
    ]


def test_premade_voices_are_told_to_those_who_ask(http: httpx.Client, alice: Party) -> None:
    voices = found(http, alice, "/v1/voices", show_legacy="true")["voices"]
    assert len(voices) == 2 + len(PREMADE)
    rachel = next(one for one in voices if one["voice_id"] == RACHEL)
    assert (rachel["name"], rachel["description"]) == (
        "Rachel",
        "Spoken by Anna. A calm female voice",
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["Anna", "Ben"]),
        ({"search": "rachel"}, ["Rachel"]),
        ({"search": "DEEP male", "page_size": 1}, ["Ben"]),
        ({"voice_ids": f"{RACHEL},{ADAM}"}, ["Rachel", "Adam"]),
        ({"gender": "female"}, ["Anna"]),
        ({"language": "fr"}, []),
        ({"age": "young"}, []),
        ({"voice_type": "personal"}, []),
        ({"category": "cloned"}, []),
        ({"sort": "name", "sort_direction": "desc"}, ["Ben", "Anna"]),
    ],
)
def test_search(http: httpx.Client, alice: Party, query: dict, names: list[str]) -> None:
    page = found(http, alice, "/v2/voices", **query)
    assert [one["name"] for one in page["voices"]] == names


def test_pages_of_voices(http: httpx.Client, alice: Party) -> None:
    first = found(http, alice, "/v2/voices", page_size=1)
    assert (first["has_more"], first["total_count"]) == (True, 2)
    token = first["next_page_token"]
    second = found(http, alice, "/v2/voices", page_size=1, next_page_token=token)
    assert [one["name"] for one in second["voices"]] == ["Ben"]
    assert (second["has_more"], second["next_page_token"]) == (False, None)


@pytest.mark.parametrize("name", ["page_size", "next_page_token"])
def test_a_page_that_is_none(http: httpx.Client, alice: Party, name: str) -> None:
    detail = refused(get(http, alice, "/v2/voices", **{name: "x"}), 400, "invalid_value")
    assert detail["param"] == name


@pytest.mark.parametrize("name", ["Anna", "anna", RACHEL, "Rachel"])
def test_a_voice(http: httpx.Client, alice: Party, name: str) -> None:
    voice = found(http, alice, f"/v1/voices/{name}", with_settings="true")
    assert voice["name"] in ("Anna", "Rachel")
    assert voice["settings"]["speed"] == 1.0
    assert found(http, alice, f"/v1/voices/{name}/settings")["stability"] == 0.5


@pytest.mark.parametrize("path", ["/v1/voices/nobody", "/v1/voices/nobody/settings"])
def test_a_voice_that_is_not_there(http: httpx.Client, alice: Party, path: str) -> None:
    refused(get(http, alice, path), 404, "voice_not_found")


def test_adding_a_voice_without_its_name(http: httpx.Client, alice: Party) -> None:
    """What the client's second attempt looks like."""
    files = {"files": ("me.wav", b"RIFF", "audio/wav")}
    answer = http.post("/v1/voices/add", data={"labels": "null"}, files=files, headers=xi(alice))
    assert answer.status_code == 422
    assert answer.json()["detail"] == [
        {
            "loc": ["body", "name"],
            "msg": "The field name is required: add it.",
            "type": "missing_field",
        }
    ]


def test_models_are_an_array_when_xi_api_key_is_sent(http: httpx.Client, alice: Party) -> None:
    for path in ("/v1/models", "/elevenlabs/v1/models"):
        models = found(http, alice, path)
        assert [one["model_id"] for one in models] == [
            "scripted-voices",
            "eleven_multilingual_v2",
            "eleven_flash_v2_5",
            "eleven_turbo_v2_5",
        ]
        assert models[0]["languages"][0] == {"language_id": "en", "name": "English"}
    assert http.get("/v1/models", headers=alice.headers).json()["object"] == "list"


def test_models_with_a_wrong_key(http: httpx.Client) -> None:
    refused(http.get("/v1/models", headers={"xi-api-key": "nonsense"}), 401, "invalid_api_key")
