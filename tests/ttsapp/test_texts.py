"""Texts of requests: kept where a tenant says so, masked, read by who may, gone after its days."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from django.contrib.auth.models import User

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.test_api import managing, refused
from ttsapp import recent
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.speech import texts
from ttsapp.speech.models import KeptText, RequestLog
from ttsapp.speech.tasks import remove_expired
from ttsapp.tenants.models import Role
from ttsapp.tenants.services import add_member

SAID = "My number is 42, Ann."
MASKED = "•• •••••• •• ••, •••."


@pytest.fixture(autouse=True)
def looked_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.0)


def say(http: httpx.Client, party: Party, text: str = SAID) -> UUID:
    answer = http.post("/v1/audio/speech", json=speech(text), headers=party.headers)
    assert answer.status_code == 200
    wanted = UUID(answer.headers["x-request-id"])
    eventually(lambda: RequestLog.objects.filter(pk=wanted).exists())
    return wanted


def aged(request: UUID, days: int) -> None:
    row = KeptText.objects.get(pk=request)
    KeptText.objects.filter(pk=request).update(at=row.at - timedelta(days=days))


def test_unless_it_is_wanted_nothing_is_kept(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    request = say(http, alice)
    assert not KeptText.objects.exists()
    with browser(base, "alice") as page:
        assert "What it was to say" not in page.get(f"/console/alice/requests/{request}").text


def test_it_is_masked_until_somebody_reads_it(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 30)
    request = say(http, alice)
    where = f"/console/alice/requests/{request}"
    with browser(base, "alice") as page:
        shown = page.get(where).text
        assert MASKED in shown
        assert (
            "My number" not in shown.partition("What it was to say")[2].partition("</section>")[0]
        )
        assert not AuditEntry.objects.filter(action="request.read").exists()
        read = page.post(f"{where}/text")
    assert read.status_code == 200
    assert SAID in read.text
    entry = AuditEntry.objects.get(action="request.read")
    assert (entry.actor, entry.target) == ("user:alice", str(request))


def test_who_may_not_read_it(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 30)
    request = say(http, alice)
    viewer = User.objects.create_user("vera", password=PASSWORD)
    add_member(SYSTEM, alice.tenant, viewer, Role.VIEWER)
    with browser(base, "vera") as page:
        shown = page.get(f"/console/alice/requests/{request}").text
        assert MASKED in shown
        assert "Show the text" not in shown
        assert page.post(f"/console/alice/requests/{request}/text").status_code == 403
    with browser(base, "mallory") as page:
        for slug in ("alice", "mallory"):
            assert page.post(f"/console/{slug}/requests/{request}/text").status_code == 404
    assert not AuditEntry.objects.filter(action="request.read").exists()


def test_of_each_tenant_by_its_own_setting(
    http: httpx.Client, engine: ScriptedEngine, alice: Party, bob: Party, mallory: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 1)
    texts.keep_texts(SYSTEM, bob.tenant, 30)
    first, second = say(http, alice), say(http, bob)
    say(http, mallory)
    for request in (first, second):
        aged(request, 2)
    for party in (alice, bob, mallory):
        party.tenant.refresh_from_db()
    assert texts.find(alice.tenant, first) is None
    assert texts.find(bob.tenant, first) is None
    assert texts.find(bob.tenant, second) is not None

    assert remove_expired() == 1
    assert [row.pk for row in KeptText.objects.all()] == [second]


def test_fewer_days_remove_what_is_older_at_once(
    http: httpx.Client, engine: ScriptedEngine, alice: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 30)
    old, new = say(http, alice), say(http, alice)
    aged(old, 8)
    texts.keep_texts(SYSTEM, alice.tenant, 7)
    assert [row.pk for row in KeptText.objects.all()] == [new]
    texts.keep_texts(SYSTEM, alice.tenant, 0)
    assert not KeptText.objects.exists()
    rows = AuditEntry.objects.filter(action="retention.text_changed").order_by("pk")
    changes = [{"text_days": [0, 30]}, {"text_days": [30, 7]}, {"text_days": [7, 0]}]
    assert [row.changes for row in rows] == changes


def test_a_program_reads_it(
    base: str, http: httpx.Client, engine: ScriptedEngine, alice: Party, mallory: Party
) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 30)
    request = say(http, alice)
    where = f"/api/tenants/alice/requests/{request}/text"
    key = {"Authorization": f"Bearer {managing(alice)}"}
    assert http.get(where, headers=key).json() == {
        "id": str(request),
        "text": SAID,
        "instructions": "",
    }
    assert AuditEntry.objects.get(action="request.read").actor.startswith("key:")
    strange = {"Authorization": f"Bearer {managing(mallory)}"}
    refused(http.get(where, headers=strange), 404, "unknown_tenant", "tenant")


def test_what_no_database_takes(http: httpx.Client, engine: ScriptedEngine, alice: Party) -> None:
    texts.keep_texts(SYSTEM, alice.tenant, 30)
    request = say(http, alice, "Hello\0there.")
    assert KeptText.objects.get(pk=request).text == "Hello\ufffdthere."


@pytest.mark.parametrize("days", ["-1", "366", "many"])
def test_days_that_are_none(base: str, engine: ScriptedEngine, alice: Party, days: str) -> None:
    with browser(base, "alice") as page:
        answer = page.post("/console/alice/settings", data={"name": "Alice", "text_days": days})
    alice.tenant.refresh_from_db()
    assert (answer.status_code, alice.tenant.text_days) == (400, 0)
