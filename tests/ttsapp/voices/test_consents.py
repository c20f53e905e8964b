"""No consent, no clone; and no voice outlives its consent by more than a second."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from tests.ttsapp.conftest import Party, ends_within_a_second
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import clone, consent, made, speak, stored
from tests.ttsapp.web_thread import WebThread
from ttsapp import recent
from ttsapp.audit.models import AuditEntry
from ttsapp.idempotency.models import KeyedRequest
from ttsapp.voices import artifacts
from ttsapp.voices.models import Consent, Share, Voice, VoiceVersion
from ttsapp.voices.services import shelves
from ttsapp.voices.services.registry import delete_ended

CONSENTS = "/v1/audio/voice_consents"


def test_it_works(http: httpx.Client, engine: ScriptedEngine, alice: Party, store: Path) -> None:
    soon = (timezone.now() + timedelta(days=30)).isoformat()
    allowed = consent(http, alice, person="Ann Archer", relation="staff", expires_at=soon)

    read = http.get(f"{CONSENTS}/{allowed}", headers=alice.headers).json()
    assert (read["object"], read["name"]) == ("audio.voice_consent", "Ann's consent")
    assert (read["person"], read["relation"], read["state"]) == ("Ann Archer", "staff", "active")
    assert stored(store) == ["evidence"]
    assert AuditEntry.objects.get(action="consent.recorded").target == allowed


@pytest.mark.parametrize(
    "end",
    [
        *("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"),
        *("2100-01-01T00:00:00Z", "1999-12-31T23:59:59Z"),
    ],
)
def test_an_end_that_nobody_means(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, end: str
) -> None:
    sent = {"name": "Ann", "expires_at": end}
    files = {"recording": b"%PDF-1.7 I agree that my voice is cloned."}
    answer = http.post(CONSENTS, data=sent, files=files, headers=alice.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, "expires_at")
    assert error["message"] == "expires_at may be a time from 2000-01-01 to 2099-12-31."
    assert not Consent.objects.exists()


@pytest.mark.parametrize("zone", ["+16:00", "-23:59"])
def test_an_end_in_a_zone_that_no_database_has(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, zone: str
) -> None:
    allowed = consent(http, alice, expires_at=f"2090-01-01T00:00:00{zone}")
    read = http.get(f"{CONSENTS}/{allowed}", headers=alice.headers).json()
    assert read["expires_at"] == datetime.fromisoformat(f"2090-01-01T00:00:00{zone}").timestamp()


def test_withdrawal_stops_the_next_request_within_a_second(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.5)
    voice = made(http, alice)
    allowed = Consent.objects.get().public_id
    assert speak(http, alice, voice).status_code == 200

    withdrawn = http.post(f"{CONSENTS}/{allowed}/withdraw", headers=alice.headers)
    assert withdrawn.json()["state"] == "withdrawn"
    ends_within_a_second(lambda: speak(http, alice, voice).status_code == 200)

    answer = speak(http, alice, voice)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "consent_withdrawn")
    listed = http.get("/v1/audio/voices", headers=alice.headers).json()["data"]
    assert voice not in {each["id"] for each in listed}
    assert AuditEntry.objects.get(action="consent.withdrawn").detail["voices"] == [voice]


def test_withdrawal_and_deletion_end_kept_answers_too(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party
) -> None:
    voice = made(http, alice)
    Share.objects.create(voice=Voice.objects.get(), tenant=bob.tenant)
    shelves.note_change(Voice.objects.get())
    for party in (alice, alice, bob):
        answer = speak(http, party, voice, key="one")
        assert answer.status_code == 200
    assert speak(http, alice, "Anna", key="two").status_code == 200
    allowed = Consent.objects.get().public_id

    http.post(f"{CONSENTS}/{allowed}/withdraw", headers=alice.headers)
    for party in (alice, bob):
        assert speak(http, party, voice, key="one").json()["error"]["code"] == "consent_withdrawn"
    assert KeyedRequest.objects.count() == 3

    http.delete(f"{CONSENTS}/{allowed}", headers=alice.headers)
    for party in (alice, bob):
        assert speak(http, party, voice, key="one").json()["error"]["code"] == "unknown_voice"
    assert KeyedRequest.objects.get().tenant == alice.tenant
    assert "idempotent-replayed" in speak(http, alice, "Anna", key="two").headers


def test_a_voice_that_is_deleted_while_it_speaks_leaves_no_answer(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    cloning.script.hold_after = 1
    body = {"model": "tts-1", "voice": voice, "input": "Hello.", "response_format": "pcm"}
    headers = {**alice.headers, "Idempotency-Key": "one"}
    with http.stream("POST", "/v1/audio/speech", json=body, headers=headers) as first:
        assert KeyedRequest.objects.get().is_running
        http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers).raise_for_status()
        cloning.release.set()
        first.read()
    assert not KeyedRequest.objects.exists()


def test_deepgram_tells_of_a_withdrawal_as_the_others_do(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    allowed = Consent.objects.get().public_id
    http.post(f"{CONSENTS}/{allowed}/withdraw", headers=alice.headers).raise_for_status()
    url = f"/deepgram/v1/speak?model={voice}"
    ends_within_a_second(
        lambda: http.post(url, json={"text": "Hi."}, headers=alice.headers).status_code == 200
    )
    answer = http.post(url, json={"text": "Hi."}, headers=alice.headers)
    assert (answer.status_code, answer.json()["err_code"]) == (403, "CONSENT_WITHDRAWN")


def test_two_web_processes_agree(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two loops, which share nothing that one learns of voices but the database and the store."""
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.5)
    second = WebThread()
    with httpx.Client(base_url=f"http://{second.address}", timeout=10) as other:
        # Its key is known there before there is a voice.
        assert speak(other, alice, "Anna").status_code == 200
        voice = made(http, alice)
        assert speak(other, alice, voice).status_code == 200

        allowed = Consent.objects.get().public_id
        http.post(f"{CONSENTS}/{allowed}/withdraw", headers=alice.headers).raise_for_status()
        time.sleep(recent.FRESH_SECONDS)
        answers = [speak(client, alice, voice) for client in (http, other)]
    second.close()
    codes = [answer.json()["error"]["code"] for answer in answers]
    assert codes == ["consent_withdrawn", "consent_withdrawn"]


def test_expiry_needs_nobody_to_say_so(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    Consent.objects.update(expires_at=timezone.now() + timedelta(milliseconds=400))
    Voice.objects.get().tenant.shelf.__class__.objects.update(number=99)
    assert speak(http, alice, voice).status_code == 200
    while timezone.now() < Consent.objects.get().expires_at:
        time.sleep(0.05)
    assert speak(http, alice, voice).json()["error"]["code"] == "consent_expired"


def test_nothing_is_cloned_under_a_consent_that_has_ended(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    allowed = consent(http, alice)
    http.post(f"{CONSENTS}/{allowed}/withdraw", json={"reason": "asked"}, headers=alice.headers)
    answer = clone(http, alice, consent=allowed)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "consent_withdrawn")
    assert Consent.objects.get().withdrawn_because == "asked"


def test_another_accounts_consent_is_none(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    allowed = consent(http, alice)
    assert clone(http, mallory, consent=allowed).json()["error"]["code"] == "unknown_consent"
    for call in (http.get, http.delete, http.post):
        assert call(f"{CONSENTS}/{allowed}", headers=mallory.headers).status_code == 404
    withdrawal = http.post(f"{CONSENTS}/{allowed}/withdraw", headers=mallory.headers)
    assert withdrawal.status_code == 404
    assert http.get(CONSENTS, headers=mallory.headers).json()["data"] == []
    assert Consent.objects.get().state == "active"


def test_deleting_a_voice_removes_it_everywhere(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, bob: Party, store: Path
) -> None:
    voice, kept = made(http, alice), made(http, bob)
    artifact = VoiceVersion.objects.filter(voice__public_id=voice).get().artifact
    http.delete(f"/v1/audio/voices/{voice}", headers=alice.headers).raise_for_status()
    assert speak(http, alice, voice).json()["error"]["code"] == "unknown_voice"
    # Bob's voice was made of the same recording.
    assert stored(store) == ["artifact", "clip", "evidence"]
    assert speak(http, bob, kept).status_code == 200

    http.delete(f"/v1/audio/voices/{kept}", headers=bob.headers).raise_for_status()
    assert speak(http, bob, kept).status_code == 400
    assert stored(store) == ["evidence"]
    assert (artifacts.cache.get(artifact), VoiceVersion.objects.count()) == (None, 0)
    entry = AuditEntry.objects.filter(action="voice.deleted").first()
    assert entry is not None
    assert f"artifact/{artifact}" in entry.detail["removed"]


def test_deleting_a_consent_ends_all_that_rests_on_it(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    made(http, alice)
    allowed = Consent.objects.get().public_id
    gone = http.delete(f"{CONSENTS}/{allowed}", headers=alice.headers).json()
    assert gone == {"id": allowed, "object": "audio.voice_consent", "deleted": True}
    assert stored(store) == []
    assert Consent.objects.get().person == "(erased)"
    assert http.get(f"{CONSENTS}/{allowed}", headers=alice.headers).status_code == 404


def test_voices_are_deleted_some_time_after_their_consent_ended(
    http: httpx.Client, cloning: ScriptedEngine, alice: Party, store: Path
) -> None:
    made(http, alice)
    Consent.objects.update(withdrawn_at=timezone.now() - timedelta(days=10))
    assert delete_ended(timedelta(days=30)) == 0
    assert delete_ended(timedelta(days=7)) == 1
    assert stored(store) == ["evidence"]


def test_the_list_is_paged(http: httpx.Client, engine: ScriptedEngine, alice: Party) -> None:
    made = [consent(http, alice, name=f"consent {n}") for n in range(3)]
    first = http.get(CONSENTS, params={"limit": 2}, headers=alice.headers).json()
    assert [each["id"] for each in first["data"]] == [made[2], made[1]]
    assert first["has_more"] is True
    rest = http.get(
        CONSENTS, params={"limit": 2, "after": first["last_id"]}, headers=alice.headers
    ).json()
    assert ([each["id"] for each in rest["data"]], rest["has_more"]) == ([made[0]], False)


def test_it_is_renamed(http: httpx.Client, engine: ScriptedEngine, alice: Party) -> None:
    allowed = consent(http, alice)
    answer = http.post(f"{CONSENTS}/{allowed}", json={"name": "Newer"}, headers=alice.headers)
    assert answer.json()["name"] == "Newer"
    changes = AuditEntry.objects.get(action="consent.changed").changes
    assert changes == {"name": ["Ann's consent", "Newer"]}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"name": ""}, "name"),
        ({"relation": "friend of a friend"}, "relation"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"expires_at": "2020-01-01"}, "expires_at"),
        ({"purposes": "p" * 501}, "purposes"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_terms_that_are_wrong(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, fields: dict[str, str], param: str
) -> None:
    sent = {"name": "Ann", **fields}
    files = {"recording": recordings.wav(recordings.speech(2.0))}
    answer = http.post(CONSENTS, data=sent, files=files, headers=alice.headers)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert Consent.objects.count() == 0


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"%PDF-1.7 signed", 200), (b"<html>no</html>", 400), (b"", 400)],
)
def test_what_proves_it(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, content: bytes, status: int
) -> None:
    files = {"recording": ("proof", content)}
    answer = http.post(CONSENTS, data={"name": "Ann"}, files=files, headers=alice.headers)
    assert answer.status_code == status
