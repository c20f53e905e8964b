"""OpenAI's names stand for what each tenant chooses: in the console, and by the management API."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine, pb
from tests.ttsapp.test_api import managing, refused
from tests.ttsapp.voices.conftest import made, speak
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key
from ttsapp.voices import selectors
from ttsapp.voices.models import Alias, Voice
from ttsapp.voices.services import aliases


@pytest.fixture
def api(base: str, alice: Party):
    headers = {"Authorization": f"Bearer {managing(alice)}"}
    with httpx.Client(base_url=f"{base}/api/tenants/alice/", headers=headers) as client:
        yield client


def heard(engine: ScriptedEngine) -> str:
    """The preset of the last stream."""
    return engine.heard[-1].start.voice.preset


def test_a_name_stands_for_another_voice(
    http: httpx.Client, api: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    assert speak(http, alice, "alloy").status_code == 200
    assert heard(engine) == "Anna"
    changed = api.patch("aliases/alloy", json={"target": "ben"})
    assert changed.json() == {
        "name": "alloy",
        "kind": "voice",
        "usual": "Anna",
        "target": "Ben",
        "is_lost": False,
    }
    assert speak(http, alice, "Alloy").status_code == 200
    assert heard(engine) == "Ben"
    listed = http.get("/v1/audio/voices", headers=alice.headers).json()["data"]
    assert {each["id"]: each.get("alias_of") for each in listed}["alloy"] == "Ben"

    assert api.delete("aliases/alloy").status_code == 204
    speak(http, alice, "alloy")
    assert heard(engine) == "Anna"
    rows = AuditEntry.objects.filter(action="alias.changed").order_by("pk")
    assert [(row.target, row.changes) for row in rows] == [
        ("alloy", {"target": [None, "Ben"]}),
        ("alloy", {"target": ["Ben", None]}),
    ]


def test_for_its_own_tenant_alone(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, bob: Party, mallory: Party
) -> None:
    """Given Alice has changed one, when Bob has changed another, and Mallory none."""
    aliases.change_aliases(SYSTEM, alice.tenant, {"alloy": "Ben"})
    aliases.change_aliases(SYSTEM, bob.tenant, {"onyx": "Anna"})
    found = {}
    for party in (alice, bob, mallory):
        for name in ("alloy", "onyx"):
            assert speak(http, party, name).status_code == 200
            found[party.tenant.slug, name] = heard(engine)
    assert found == {
        ("alice", "alloy"): "Ben",
        ("alice", "onyx"): "Ben",
        ("bob", "alloy"): "Anna",
        ("bob", "onyx"): "Anna",
        ("mallory", "alloy"): "Anna",
        ("mallory", "onyx"): "Ben",
    }


def test_nobody_elses_voice_can_be_chosen(
    http: httpx.Client, api: httpx.Client, cloning: ScriptedEngine, bob: Party
) -> None:
    voice = made(http, bob)
    answer = api.patch("aliases/alloy", json={"target": voice})
    refused(answer, 400, "unknown_voice", "target")
    assert not Alias.objects.exists()


def test_a_name_stands_for_a_clone(
    http: httpx.Client, api: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    """Whatever retired model it comes with, as for any clone."""
    voice = made(http, alice)
    assert api.patch("aliases/nova", json={"target": "Ann"}).json()["target"] == voice
    assert speak(http, alice, "nova", model="gpt-4o-mini-tts").status_code == 200
    assert cloning.heard[-1].start.voice.WhichOneof("kind") == "artifact"
    document = http.get("/v1/audio/voices/nova", headers=alice.headers).json()
    assert (document["type"], document["alias_of"]) == ("alias", voice)


def test_a_name_whose_voice_is_gone_is_nobodys(
    http: httpx.Client, api: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    api.patch("aliases/nova", json={"target": voice})
    http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers).raise_for_status()
    answer = speak(http, alice, "nova")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "unknown_voice", "voice")
    assert error["message"].startswith("In this account 'nova' stands for")
    assert api.get("aliases/nova").json()["is_lost"] is True
    assert speak(http, alice, "alloy").status_code == 200


def test_a_name_whose_speaker_agrees_no_more(
    http: httpx.Client, api: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    api.patch("aliases/nova", json={"target": voice})
    agreed = Voice.objects.get().consent
    assert agreed is not None
    http.post(f"/v1/audio/voice_consents/{agreed.public_id}/withdraw", headers=alice.headers)
    assert speak(http, alice, "nova").json()["error"]["code"] == "consent_withdrawn"


def test_a_retired_model_stands_for_another(
    http: httpx.Client, api: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    """With its dated names; what it has by the same names is spoken by it."""
    other = pb.Model(id="other", kind="custom_voice", languages=["english"], fingerprint="o")
    other.presets.add(name="Carl", native_language="english", description="A man")
    engine.models.append(other)
    selectors._memories.clear()
    assert api.patch("aliases/tts-1", json={"target": "other"}).json()["kind"] == "model"
    for model in ("tts-1", "tts-1-1106"):
        assert speak(http, alice, "alloy", model=model).status_code == 200
        assert (engine.heard[-1].start.model, heard(engine)) == ("other", "Carl")
    assert speak(http, alice, "alloy", model="tts-1-hd").status_code == 200
    assert engine.heard[-1].start.model == "scripted-voices"

    engine.models.pop()
    selectors._memories.clear()
    answer = speak(http, alice, "alloy")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")
    assert "stands for 'other', which no engine serves" in answer.json()["error"]["message"]


def test_a_name_may_stand_for_a_voice_of_another_model(
    http: httpx.Client, api: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    other = pb.Model(id="other", kind="custom_voice", languages=["english"], fingerprint="o")
    other.presets.add(name="Carl", native_language="english", description="A man")
    engine.models.append(other)
    selectors._memories.clear()
    api.patch("aliases/onyx", json={"target": "Carl"}).raise_for_status()
    assert speak(http, alice, "onyx").status_code == 200
    assert (engine.heard[-1].start.model, heard(engine)) == ("other", "Carl")
    named = speak(http, alice, "onyx", model="scripted-voices")
    assert (named.status_code, named.json()["error"]["code"]) == (400, "unknown_voice")


def test_a_key_that_is_bound_to_a_name(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    """It may speak with what the name stands for, a clone as well, and with nothing else."""
    voice = made(http, alice)
    _, secret = create_key(SYSTEM, alice.tenant, "bound", allowed_voices=["alloy"])
    bound = Party(alice.tenant, alice.user, alice.key, secret)
    assert [speak(http, bound, name).status_code for name in ("alloy", "Anna")] == [200, 200]
    aliases.change_aliases(SYSTEM, alice.tenant, {"alloy": voice})
    found = [speak(http, bound, name).status_code for name in ("alloy", voice, "Anna")]
    assert found == [200, 200, 403]


@pytest.mark.parametrize(
    ("name", "target", "status", "code", "field"),
    [
        ("alloy", "nosuch", 400, "unknown_voice", "target"),
        ("alloy", "nova", 400, "unknown_voice", "target"),
        ("tts-1", "Anna", 400, "model_not_found", "target"),
        ("zelda", "Anna", 404, "unknown_name", "name"),
    ],
)
def test_what_no_name_can_stand_for(
    api: httpx.Client,
    engine: ScriptedEngine,
    name: str,
    target: str,
    status: int,
    code: str,
    field: str,
) -> None:
    refused(api.patch(f"aliases/{name}", json={"target": target}), status, code, field)
    assert not Alias.objects.exists()


def test_nothing_is_chosen_while_nobody_can_tell_what_there_is(
    api: httpx.Client, engine_thread: EngineThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for remembers in ("voices.selectors", "engine.connection"):
        monkeypatch.setattr(f"ttsapp.{remembers}.USABLE_SECONDS", -1.0)
    engine_thread.stop()
    answer = api.patch("aliases/alloy", json={"target": "Anna"})
    refused(answer, 503, "engine_unavailable", "target")


def test_the_page_of_names(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    with browser(base, "alice") as page:
        shown = page.get("/console/alice/names").text
        assert "as usual: Anna" in shown
        assert f'<option value="{voice}">Ann</option>' in shown
        assert "stands for" in shown
        changed = page.post("/console/alice/names", data={"alloy": voice, "tts-1": "scripted-base"})
        assert changed.status_code == 302
        assert (
            f'<option value="{voice}" selected>Ann</option>'
            in page.get("/console/alice/names").text
        )
        where = f"/console/alice/voices/of/{voice}"
        told = [page.get(path).text for path in (where, f"{where}/delete")]
        forged = page.post("/console/alice/names", data={"alloy": "nosuch"})
    assert all("<code>alloy</code>" in text for text in told)
    assert forged.status_code == 400
    assert dict(Alias.objects.values_list("name", "target")) == {
        "alloy": voice,
        "tts-1": "scripted-base",
    }


def test_the_page_of_a_stranger(
    base: str, engine: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    with browser(base, "mallory") as page:
        assert page.get("/console/alice/names").status_code == 404
        assert page.post("/console/alice/names", data={"alloy": "Ben"}).status_code == 404
    assert not Alias.objects.exists()
