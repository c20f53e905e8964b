"""A key that is bound to voices speaks with them alone, whatever others are called."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices.conftest import clone, consent, made, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key
from ttsapp.voices.models import Consent, Share, Voice
from ttsapp.voices.services import shelves

CONSENTS = "/v1/audio/voice_consents"
CUSTOMIZATION = "/api/v1/services/audio/tts/customization"


def bound(party: Party, *voices: str) -> Party:
    key, secret = create_key(SYSTEM, party.tenant, "bound", allowed_voices=list(voices))
    return Party(party.tenant, party.user, key, secret)


def test_it_works(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    voice = made(http, alice)
    for names in (["Ann"], [voice]):
        assert speak(http, bound(alice, *names), "ann").status_code == 200
    url = f"/v1/audio/voices/{voice}"
    assert http.delete(url, headers=bound(alice, "Ann").headers).status_code == 200


def test_it_makes_no_voice(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    allowed, key = consent(http, alice), bound(alice, "Anna")
    form = {"name": "Clara", "consent": allowed}
    sample = {"input": {"action": "create_voice", "prefix": "clara", "url": "data:,"}}
    answers = [
        clone(http, key, consent=allowed, name="Clara"),
        http.post("/v1/voices/add", data=form, files={"files": b"x"}, headers=key.headers),
        http.post("/voices/clone", data=form, files={"clip": b"x"}, headers=key.headers),
        http.post(
            CUSTOMIZATION,
            json={"model": "voice-enrollment", **sample},
            headers=key.headers,
        ),
    ]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "bound to certain voices" in answers[0].json()["error"]["message"]
    assert not Voice.objects.exists()


def test_it_changes_and_deletes_no_other(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice, key = made(http, alice), bound(alice, "Anna")
    allowed = Consent.objects.get().public_id
    answers = [
        http.delete(f"/v1/audio/voices/{voice}", headers=key.headers),
        http.delete(f"/v1/voices/{voice}", headers=key.headers),
        http.patch(f"/voices/{voice}", json={"name": "Anna"}, headers=key.headers),
        http.delete(f"{CONSENTS}/{allowed}", headers=key.headers),
        http.post(f"{CONSENTS}/{allowed}/withdraw", headers=key.headers),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 403, 403]
    assert (Voice.objects.get().state, Voice.objects.get().name) == ("active", "Ann")


def test_dashscopes_list_of_voices(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    asked = {"model": "voice-enrollment", "input": {"action": "list_voice"}}
    listed = [
        http.post(CUSTOMIZATION, json=asked, headers=party.headers).json()["output"]
        for party in (bound(alice, "Anna"), bound(alice, voice))
    ]
    assert [each["total_count"] for each in listed] == [0, 1]
    assert listed[1]["voice_list"][0]["voice_id"] == voice


@pytest.mark.parametrize("name", ["Anna", "alloy"])
def test_a_voice_that_was_named_before_the_models_had_one_of_that_name(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, name: str
) -> None:
    voice = made(http, alice)
    Voice.objects.update(name=name, folded_name=name.casefold())
    shelves.note_change(Voice.objects.get())

    assert speak(http, bound(alice, name), voice).json()["error"]["code"] == "voice_not_allowed"
    assert speak(http, alice, name).status_code == 200
    assert cloning.heard[-1].start.voice.preset == "Anna"


def test_what_another_account_called_a_voice_that_it_shares(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    voice = made(http, mallory)
    Share.objects.create(voice=Voice.objects.get(), tenant=alice.tenant)
    shelves.note_change(Voice.objects.get())
    refused = speak(http, bound(alice, "Ann"), voice)
    assert refused.json()["error"]["code"] == "voice_not_allowed"
    assert speak(http, bound(alice, voice), voice).status_code == 200
