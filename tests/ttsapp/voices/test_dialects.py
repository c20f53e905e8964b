"""The same voices by every API: made, listed, spoken with, changed, deleted in its own words."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import consent, made, speak
from ttsapp.audit.services import SYSTEM
from ttsapp.voices.models import Voice, VoiceVersion
from ttsapp.voices.services import registry

SAMPLE = recordings.wav(recordings.speech())
LABELS = {"accent": "Irish", "language": "en"}
CUSTOMIZATION = "/api/v1/services/audio/tts/customization"


def eleven_add(http: httpx.Client, party: Party, labels: dict[str, str] | None) -> httpx.Response:
    """As the package sends it: files last, `null` for labels that are left out."""
    data = {"name": "Ann", "labels": json.dumps(labels)}
    files = {"files": ("ann.wav", SAMPLE)}
    return http.post("/v1/voices/add", data=data, files=files, headers=party.headers)


def test_elevenlabs(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    labels = {**LABELS, "consent": consent(http, alice)}
    answer = eleven_add(http, alice, labels).json()
    voice = answer["voice_id"]
    assert answer["requires_verification"] is False

    document = http.get(f"/v1/voices/{voice}", headers=alice.headers).json()
    assert (document["name"], document["category"]) == ("Ann", "cloned")
    assert (document["labels"], document["is_owner"]) == (
        {"accent": "irish", "language": "en"},
        True,
    )
    spoken = http.post(
        f"/v1/text-to-speech/{voice}", json={"text": "Hello."}, headers=alice.headers
    )
    assert spoken.status_code == 200
    assert cloning.heard[-1].start.model == "scripted-base"
    plan = http.get("/v1/user/subscription", headers=alice.headers).json()
    assert (plan["voice_slots_used"], plan["can_use_instant_voice_cloning"]) == (1, True)


def test_elevenlabs_labels_may_be_null(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    """Which its client writes for what is left out: no voice is without them, or loses them so."""
    data = {"name": "Ann", "labels": "null", "consent": consent(http, alice)}
    files = {"files": ("ann.wav", SAMPLE)}
    answer = http.post("/v1/voices/add", data=data, files=files, headers=alice.headers)
    assert answer.status_code == 200, answer.text
    where = f"/v1/voices/{answer.json()['voice_id']}/edit"
    for labels in ('{"age": "old"}', "null"):
        parts = {"name": (None, "Ann"), "labels": (None, labels)}
        edited = http.post(where, files=parts, headers=alice.headers)
        assert edited.json() == {"status": "ok"}
    assert Voice.objects.get().tags == ["age:old"]


def test_elevenlabs_changes(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    voice = made(http, alice)
    where = f"/v1/voices/{voice}"
    edited = http.post(
        f"{where}/edit",
        data={"name": "Anna Two", "labels": json.dumps({"age": "old"})},
        files={"files": SAMPLE},
        headers=alice.headers,
    )
    set_to = http.post(f"{where}/settings/edit", json={"speed": 1.2}, headers=alice.headers)
    assert (edited.json(), set_to.json()) == ({"status": "ok"}, {"status": "ok"})
    row = Voice.objects.get()
    assert (row.name, row.tags, row.speed) == ("Anna Two", ["age:old"], 1.2)
    assert VoiceVersion.objects.count() == 2
    settings = http.get(f"{where}/settings", headers=alice.headers).json()
    assert settings["speed"] == 1.2
    assert http.delete(where, headers=alice.headers).json() == {"status": "ok"}
    assert http.get(where, headers=alice.headers).status_code == 404


def test_elevenlabs_without_consent(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    answer = eleven_add(http, alice, None)
    detail = answer.json()["detail"]
    assert (answer.status_code, detail["status"]) == (400, "consent_required")
    assert detail["param"] == "labels.consent"


def test_elevenlabs_without_a_name_is_422(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    answer = http.post("/v1/voices/add", files={"files": SAMPLE}, headers=alice.headers)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "name"])


def test_cartesia(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    cloned = http.post(
        "/voices/clone",
        data={"name": "Ann", "language": "en", "consent": consent(http, alice)},
        files={"clip": SAMPLE},
        headers=alice.headers,
    ).json()
    assert (cloned["name"], cloned["access"], cloned["is_owner"]) == ("Ann", "private", True)
    where = f"/voices/{cloned['id']}"

    body = {
        "model_id": "sonic-2",
        "transcript": "Hello.",
        "voice": {"mode": "id", "id": cloned["id"]},
        "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
    }
    assert http.post("/tts/bytes", json=body, headers=alice.headers).status_code == 200
    assert cloning.heard[-1].start.model == "scripted-base"
    own = http.get("/voices", params={"is_owner": "true"}, headers=alice.headers).json()["data"]
    assert [each["id"] for each in own] == [cloned["id"]]
    changed = http.patch(where, json={"name": "Nan"}, headers=alice.headers).json()
    assert changed["name"] == "Nan"
    gone = http.delete(where, headers=alice.headers)
    assert (gone.status_code, gone.content) == (204, b"")


def enrol(http: httpx.Client, party: Party, model: str, **given: Any) -> httpx.Response:
    body = {"model": model, "input": given}
    return http.post(CUSTOMIZATION, json=body, headers=party.headers)


def test_dashscope(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    address = f"data:audio/wav;base64,{base64.b64encode(SAMPLE).decode()}"
    created = enrol(
        http,
        alice,
        "qwen-voice-enrollment",
        action="create",
        target_model="qwen3-tts-vc-2026-01-22",
        preferred_name="ann",
        audio={"data": address},
        consent=consent(http, alice),
    ).json()
    voice = created["output"]["voice"]
    listed = enrol(http, alice, "qwen-voice-enrollment", action="list").json()["output"]
    assert ([each["voice"] for each in listed["voice_list"]], listed["total_count"]) == ([voice], 1)

    spoken = http.post(
        "/api/v1/services/aigc/multimodal-generation/generation",
        json={"model": "qwen3-tts-vc-2026-01-22", "input": {"text": "Hello.", "voice": voice}},
        headers=alice.headers,
    )
    assert spoken.status_code == 200, spoken.text
    assert cloning.heard[-1].start.model == "scripted-base"
    deleted = enrol(http, alice, "qwen-voice-enrollment", action="delete", voice=voice)
    assert deleted.json()["usage"] == {"count": 1}
    assert Voice.objects.filter(deleted_at=None).count() == 0


def test_dashscopes_other_family(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    address = f"data:audio/wav;base64,{base64.b64encode(SAMPLE).decode()}"
    fields = {"target_model": "cosyvoice-v3", "prefix": "ann", "consent": consent(http, alice)}
    created = enrol(
        http, alice, "voice-enrollment", action="create_voice", url=address, **fields
    ).json()
    voice = created["output"]["voice_id"]
    asked = enrol(http, alice, "voice-enrollment", action="query_voice", voice_id=voice).json()
    assert (asked["output"]["voice_id"], asked["output"]["status"]) == (voice, "OK")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"action": "sing"}, "InvalidParameter.InvalidValue"),
        ({"action": "create", "preferred_name": "../x"}, "InvalidParameter.InvalidValue"),
        ({"action": "create", "preferred_name": "ann"}, "InvalidParameter.ConsentRequired"),
        ({"action": "delete", "voice": "voice_0"}, "NotFound.VoiceNotFound"),
        ({"action": "list", "page_size": 0}, "InvalidParameter.InvalidValue"),
    ],
)
def test_dashscope_refuses(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, given: dict[str, Any], code: str
) -> None:
    answer = enrol(http, alice, "qwen-voice-enrollment", **given)
    assert answer.json()["code"] == code


def test_a_voice_cannot_be_changed_to_a_language_that_no_clone_is_spoken_in(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    answer = http.patch(f"/voices/{voice}", json={"language": "fr"}, headers=alice.headers)
    assert answer.status_code == 400
    assert "'scripted-base' does not speak French: choose one of auto, english, german." in (
        answer.text
    )
    assert Voice.objects.get().language == "auto"


def test_a_voice_whose_language_is_no_longer_served_says_so(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    registry.change_voice(SYSTEM, Voice.objects.get(), language="french")
    answer = speak(http, alice, voice)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "language")
    assert "does not speak French" in answer.json()["error"]["message"]
    assert speak(http, alice, voice, language="en").status_code == 200
