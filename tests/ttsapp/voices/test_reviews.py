"""Voices on their way to be used: drafts that are heard first, clones that wait for approval."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party, eventually
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.test_api import managing, refused
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import clone, consent, made, speak
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Role
from ttsapp.tenants.services import add_member, review_voices
from ttsapp.voices.models import Consent, Voice

SAMPLE = recordings.wav(recordings.speech())
TYPED = {"name": "Ann", "language": "auto", "speed": "1"}
FILES = {"recording": ("ann.wav", SAMPLE)}


@pytest.fixture
def waiting(alice: Party) -> Party:
    """Alice's clones wait; Dora is a developer there."""
    review_voices(SYSTEM, alice.tenant, True)
    dora = User.objects.create_user("dora", password=PASSWORD)
    add_member(SYSTEM, alice.tenant, dora, Role.DEVELOPER)
    return alice


def cloned_by(base: str, name: str, agreed: str, **fields: str) -> str:
    """The page of the voice."""
    with browser(base, name) as page:
        sent = {**TYPED, "consent": agreed, **fields}
        answer = page.post("/console/alice/voices/clone", data=sent, files=FILES)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def actions(*names: str) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(action__in=[f"voice.{name}" for name in names])
    return list(rows.order_by("pk").values_list("action", "actor"))


def test_a_clone_waits_for_approval(
    base: str, http: httpx.Client, cloning: ScriptedEngine, waiting: Party
) -> None:
    where = cloned_by(base, "dora", consent(http, waiting))
    voice = Voice.objects.get()
    assert voice.stage == "review"
    assert refusal(speak(http, waiting, voice.public_id)) == (403, "voice_review")
    assert refusal(speak(http, waiting, "Ann")) == (403, "voice_review")
    with browser(base, "dora") as page:
        assert ">Approve<" not in page.get(where).text
        assert page.post(f"{where}/review", data={"decision": "approve"}).status_code == 403
    with browser(base, "alice") as page:
        assert "1 voice waits for approval." in page.get("/console/alice/voices").text
        listed = page.get("/console/alice/voices", params={"state": "review"}).text
        assert voice.public_id in listed
        assert ">Approve<" in page.get(where).text
        approved = page.post(f"{where}/review", data={"decision": "approve"})
    assert approved.status_code == 302
    assert speak(http, waiting, voice.public_id).status_code == 200
    assert actions("approved", "published", "submitted") == [("voice.approved", "user:alice")]


def test_one_that_is_refused_can_be_asked_for_again(
    base: str, http: httpx.Client, cloning: ScriptedEngine, waiting: Party
) -> None:
    where = cloned_by(base, "dora", consent(http, waiting))
    voice = Voice.objects.get()
    with browser(base, "alice") as page:
        page.post(f"{where}/review", data={"decision": "refuse", "reason": "Not her voice."})
    assert refusal(speak(http, waiting, voice.public_id)) == (403, "voice_refused")
    with browser(base, "dora") as page:
        assert "Not her voice." in page.get(where).text
        page.post(f"{where}/publish")
    voice.refresh_from_db()
    assert voice.stage == "review"
    entry = AuditEntry.objects.get(action="voice.refused")
    assert (entry.changes, entry.reason) == ({"stage": ["review", "refused"]}, "Not her voice.")
    assert actions("submitted") == [("voice.submitted", "user:dora")]


def test_a_keys_clone_waits_and_says_so(
    http: httpx.Client, cloning: ScriptedEngine, waiting: Party
) -> None:
    answer = clone(http, waiting, consent=consent(http, waiting))
    assert (answer.status_code, answer.json()["state"]) == (200, "review")
    listed = http.get("/v1/audio/voices", headers=waiting.headers).json()["data"]
    assert answer.json()["id"] not in [each["id"] for each in listed]


def test_an_owners_clone_waits_for_nobody(
    base: str, http: httpx.Client, cloning: ScriptedEngine, waiting: Party
) -> None:
    cloned_by(base, "alice", consent(http, waiting))
    assert speak(http, waiting, "Ann").status_code == 200


def test_of_each_tenant_by_its_own_setting(
    http: httpx.Client, cloning: ScriptedEngine, waiting: Party, bob: Party, mallory: Party
) -> None:
    voices = {party.tenant.slug: made(http, party) for party in (waiting, bob, mallory)}
    stages = dict(Voice.objects.values_list("public_id", "stage"))
    assert [stages[voices[slug]] for slug in ("alice", "bob", "mallory")] == [
        "review",
        "live",
        "live",
    ]


def test_a_stranger_decides_nothing(
    base: str, http: httpx.Client, cloning: ScriptedEngine, waiting: Party, mallory: Party
) -> None:
    voice = made(http, waiting)
    with browser(base, "mallory") as page:
        for slug in ("alice", "mallory"):
            where = f"/console/{slug}/voices/of/{voice}"
            assert page.post(f"{where}/review", data={"decision": "approve"}).status_code == 404
            assert page.post(f"{where}/takes", data={"text": "Hello."}).status_code == 404
    assert Voice.objects.get().stage == "review"


def test_another_recording_is_no_way_around_it(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    """Given a voice in use, when its tenant wants clones approved from now on."""
    voice = made(http, alice)
    review_voices(SYSTEM, alice.tenant, True)
    answer = http.post(
        f"/v1/voices/{voice}/edit",
        data={"name": "Ann"},
        files={"files": SAMPLE},
        headers=alice.headers,
    )
    assert answer.status_code == 403
    assert speak(http, alice, voice).status_code == 200
    assert Voice.objects.get().versions.count() == 1
    with browser(base, "alice") as page:
        renewed = page.post(f"/console/alice/voices/of/{voice}/renew", files=FILES)
    assert renewed.status_code == 302
    assert Voice.objects.get().versions.count() == 2


def test_a_draft_is_heard_and_then_published(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    where = cloned_by(base, "alice", consent(http, alice), is_draft="on")
    assert refusal(speak(http, alice, "Ann")) == (403, "voice_draft")
    with browser(base, "alice") as page:
        shown = page.get(where).text
        assert "Test takes" in shown
        take = page.post(f"{where}/takes", data={"text": "Hello."})
        assert (take.status_code, take.headers["content-type"]) == (200, "audio/mpeg")
        assert cloning.heard[-1].start.voice.WhichOneof("kind") == "artifact"
        wanted = take.headers["x-request-id"]
        row = eventually(lambda: RequestLog.objects.filter(pk=wanted).first())
        assert (row.transport, row.characters) == ("console", 6)
        assert page.post(f"{where}/publish").status_code == 302
        assert "Test takes" not in page.get(where).text
    assert speak(http, alice, "Ann").status_code == 200
    assert actions("published") == [("voice.published", "user:alice")]


def test_a_take_of_what_is_not_said(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    where = cloned_by(base, "alice", consent(http, alice), is_draft="on")
    with browser(base, "alice") as page:
        blank = page.post(f"{where}/takes", data={"text": " "})
        long = page.post(f"{where}/takes", data={"text": "Hello. " * 72})
    assert refusal(blank) == (400, "empty_input")
    assert refusal(long) == (400, "string_above_max_length")


def test_no_take_once_the_consent_has_ended(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    agreed = consent(http, alice)
    where = cloned_by(base, "alice", agreed, is_draft="on")
    http.post(f"/v1/audio/voice_consents/{agreed}/withdraw", headers=alice.headers)
    with browser(base, "alice") as page:
        answer = page.post(f"{where}/takes", data={"text": "Hello."})
    assert refusal(answer) == (403, "consent_withdrawn")


def test_by_the_management_api(
    base: str, http: httpx.Client, cloning: ScriptedEngine, waiting: Party
) -> None:
    voice = made(http, waiting)
    where = f"/api/tenants/alice/voices/{voice}"
    key = {"Authorization": f"Bearer {managing(waiting)}"}
    asked = http.post(f"{where}/publish", headers=key)
    assert (asked.status_code, asked.json()["state"]) == (200, "review")
    approval = {"decision": "approve"}
    refused(http.post(f"{where}/review", json=approval, headers=key), 403, "forbidden")
    with browser(base, "alice") as person:
        approved = person.post(f"{where}/review", json=approval)
        assert (approved.status_code, approved.json()["state"]) == (200, "active")
        again = person.post(f"{where}/review", json=approval)
        refused(again, 409, "not_in_review", "voice")
        published = person.post(f"{where}/publish")
        assert (published.status_code, published.json()["state"]) == (200, "active")


def test_the_setting_is_audited(base: str, engine: ScriptedEngine, alice: Party) -> None:
    with browser(base, "alice") as page:
        page.post("/console/alice/settings", data={"name": "Alice", "reviews_voices": "on"})
        page.post("/console/alice/settings", data={"name": "Alice"})
    rows = AuditEntry.objects.filter(action="voice.reviews_changed").order_by("pk")
    changes = [{"reviews_voices": [False, True]}, {"reviews_voices": [True, False]}]
    assert [row.changes for row in rows] == changes


def test_what_a_withdrawal_takes_is_told_before_and_after(
    base: str, http: httpx.Client, cloning: ScriptedEngine, alice: Party
) -> None:
    voice = made(http, alice)
    create_key(SYSTEM, alice.tenant, "Hotline", allowed_voices=["Ann"])
    row = Consent.objects.get()
    where = f"/console/alice/consents/of/{row.public_id}"
    with browser(base, "alice") as page:
        asked = page.get(f"{where}/withdraw").text
        page.post(f"{where}/withdraw", data={"reason": ""})
        told = [page.get(path).text for path in (where, f"/console/alice/voices/of/{voice}")]
    assert "Bound to it, and of no use without:" in asked
    assert ">Hotline</a>" in asked
    gone = timezone.now() + timedelta(days=settings.ENDED_VOICE_DAYS)
    for text in told:
        assert f'datetime="{gone:%Y-%m-%d}' in text.partition("deleted after")[2][:60]
