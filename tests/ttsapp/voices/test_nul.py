"""A NUL in an id, a name or a query: nothing has one, and Postgres takes none."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.test_api import managing
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import consent
from ttsapp.voices.models import Voice

NOTHING_HERE = [
    ("GET", "/v1/audio/voice_consents/%00", 404),
    ("POST", "/v1/audio/voice_consents/%00", 404),
    ("DELETE", "/v1/audio/voice_consents/%00", 404),
    ("POST", "/v1/audio/voice_consents/%00/withdraw", 404),
    ("GET", "/v1/audio/voice_consents?after=%00", 400),
    ("GET", "/v1/audio/voice_consents?%00=1", 400),
    ("GET", "/v1/audio/voices/%00", 404),
    ("DELETE", "/v1/audio/voices/%00", 404),
    ("GET", "/v1/models/%00", 404),
    ("GET", "/v1/history/%00", 404),
    ("GET", "/v1/history?voice_id=%00", 400),
    ("GET", "/v1/voices/%00", 404),
    ("DELETE", "/v1/voices/%00", 404),
    ("POST", "/v1/voices/%00/edit", 404),
    ("POST", "/v1/voices/%00/settings/edit", 404),
    ("GET", "/voices/%00", 404),
    ("PATCH", "/voices/%00", 404),
    ("DELETE", "/voices/%00", 404),
]
ENROLMENT = "/api/v1/services/audio/tts/customization"
SAMPLE = recordings.wav(recordings.speech())


@pytest.mark.parametrize(("method", "path", "status"), NOTHING_HERE)
def test_an_address(http: httpx.Client, alice: Party, method: str, path: str, status: int) -> None:
    body = {} if method in ("GET", "DELETE") else {"json": {}}
    answer = http.request(method, path, headers=alice.headers, **body)
    assert answer.status_code == status, answer.text
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize("path", ["voices/%00", "consents/%00", "keys/%00", "members/%00"])
def test_an_address_of_the_management_api(http: httpx.Client, alice: Party, path: str) -> None:
    headers = {"Authorization": f"Bearer {managing(alice)}"}
    assert http.get(f"/api/tenants/alice/{path}", headers=headers).status_code in (404, 405)


@pytest.mark.parametrize("path", ["/console/al%00ice", "/platform/tenants/%00", "/admin/%00/"])
def test_a_page(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code in (302, 404)


@pytest.mark.parametrize("family", ["voice-enrollment", "qwen-voice-enrollment"])
@pytest.mark.parametrize("action", ["query", "update", "delete"])
def test_a_voice_that_dashscope_names(
    http: httpx.Client, alice: Party, family: str, action: str
) -> None:
    field, suffix = ("voice", "") if family.startswith("qwen") else ("voice_id", "_voice")
    answer = enrol(http, alice, family, {"action": action + suffix, field: "\0"})
    assert (answer.status_code, answer.json()["code"]) == (404, "NotFound.VoiceNotFound")


def test_voices_whose_name_begins_so(http: httpx.Client, alice: Party) -> None:
    given = {"action": "list_voice", "prefix": "\0"}
    answer = enrol(http, alice, "voice-enrollment", given)
    assert (answer.status_code, answer.json()["output"]["voice_list"]) == (200, [])


def test_a_consent_of_openai(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    given = {"name": "Ann", "consent": "\0", "embedding": "[1]"}
    answer = http.post("/v1/audio/voices", json=given, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (
        400,
        "unknown_consent",
        "consent",
    )


def test_a_consent_of_cartesia(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    given = {"name": "Ann", "consent": "\0", "language": "en"}
    files = {"clip": ("a.wav", SAMPLE)}
    answer = http.post("/voices/clone", data=given, files=files, headers=alice.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "unknown_consent")


def test_a_consent_of_elevenlabs(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    given = {"name": "Ann", "labels": json.dumps({"consent": "\0"})}
    files = {"files": ("a.wav", SAMPLE)}
    answer = http.post("/v1/voices/add", data=given, files=files, headers=alice.headers)
    assert (answer.status_code, answer.json()["detail"]["status"]) == (400, "unknown_consent")


def test_a_reason(http: httpx.Client, alice: Party) -> None:
    path = f"/v1/audio/voice_consents/{consent(http, alice)}/withdraw"
    answer = http.post(path, json={"reason": "\0"}, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "reason")


def test_words_of_a_recording(http: httpx.Client, cloning: ScriptedEngine, alice: Party) -> None:
    given = {"name": "Ann", "consent": consent(http, alice), "ref_text": "Hello\0 there."}
    files = {"audio_sample": ("a.wav", SAMPLE)}
    answer = http.post("/v1/audio/voices", data=given, files=files, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "ref_text")
    assert not Voice.objects.exists()


def enrol(http: httpx.Client, alice: Party, family: str, given: dict[str, Any]) -> httpx.Response:
    body = {"model": family, "input": given}
    return http.post(ENROLMENT, json=body, headers=alice.headers)
