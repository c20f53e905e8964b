"""The signed-in page: what it shows, what it does, and what it never lets a browser do."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from billing.models import UsageEvent
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party, eventually, speech
from tests.ttsapp.scripted_engine import EngineThread, ScriptedEngine, spoken
from ttsapp.audit.models import AuditEntry
from ttsapp.keys.models import ApiKey
from ttsapp.speech.models import RequestLog

KEY = re.compile(r"parl_live_[0-9a-z]{10}_[0-9A-Za-z]{44}")


def test_it_works(base: str, http: httpx.Client, alice: Party) -> None:
    http.post("/v1/audio/speech", json=speech("Twelve chars"), headers=alice.headers)

    with browser(base, "alice") as client:
        assert client.get("/console/").headers["location"] == "/console/alice"
        page = client.get("/console/alice")

    assert page.status_code == 200
    assert page.text.count("<dd>12</dd>") == 2  # today and this month
    assert alice.key.hint in page.text
    assert str(RequestLog.objects.get().id) in page.text
    assert "A calm female voice" in page.text
    assert page.headers["cache-control"].startswith("max-age=0, no-cache, no-store")


def test_a_test_sentence_streams_and_is_metered(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    with browser(base, "alice") as client:
        body = {"text": "Hello there.", "voice": "Ben"}
        with client.stream("POST", "/console/alice/speak", json=body) as response:
            pieces = response.iter_raw()
            early = next(pieces)
            assert engine.heard[0].ended.is_set() is False
            engine.release.set()
            assert early + b"".join(pieces) == spoken(5)

    event = UsageEvent.objects.get()
    assert (event.tenant, event.key, event.billed_characters) == (alice.tenant, None, 12)
    assert engine.heard[0].start.voice.preset == "Ben"


def test_a_new_key_is_shown_once_and_works(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        made = client.post("/console/alice/keys", data={"name": "CI", "environment": "live"})
        secret = KEY.search(made.text)[0]
        later = client.get("/console/alice")

    assert KEY.search(later.text) is None
    assert "CI" in later.text
    headers = {"Authorization": f"Bearer {secret}"}
    assert http.post("/v1/audio/speech", json=speech(), headers=headers).status_code == 200
    entry = AuditEntry.objects.filter(action="key.created").first()
    assert (entry.actor, entry.tenant) == ("user:alice", alice.tenant)


def test_a_key_may_expire(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        fields = {"name": "CI", "environment": "test", "days": "30"}
        client.post("/console/alice/keys", data=fields)

    key = ApiKey.objects.get(name="CI")
    assert (key.expires_at - key.created_at).days in (29, 30)
    assert key.environment == "test"


@pytest.mark.parametrize("days", ["0", "-1", "soon", "99999"])
def test_a_key_with_an_odd_expiry_is_not_made(base: str, alice: Party, days: str) -> None:
    with browser(base, "alice") as client:
        fields = {"name": "CI", "environment": "live", "days": days}
        response = client.post("/console/alice/keys", data=fields)

    assert response.status_code == 400
    assert "Days:" in response.text
    assert ApiKey.objects.count() == 1


def test_a_key_without_a_name_is_not_made(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        response = client.post("/console/alice/keys", data={"name": "", "environment": "live"})

    assert response.status_code == 400
    assert "This field is required." in response.text
    assert ApiKey.objects.count() == 1


def test_revoking_from_the_page_stops_the_key(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        client.post(f"/console/alice/keys/{alice.key.public_id}/revoke")
        page = client.get("/console/alice")

    assert '<span class="state revoked">revoked</span>' in page.text
    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert response.status_code == 401


def test_the_page_opens_while_the_engine_is_away(
    base: str, alice: Party, engine_thread: EngineThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttsapp.voices.selectors.USABLE_SECONDS", -1.0)
    engine_thread.stop()
    with browser(base, "alice") as client:
        page = client.get("/console/alice")

    assert page.status_code == 200
    assert "The engine is starting" in page.text


def test_a_person_without_a_tenant_is_told_so(base: str, transactional_db: None) -> None:
    from django.contrib.auth.models import User

    User.objects.create_user("carol", password=PASSWORD)
    with browser(base, "carol") as client:
        assert "you belong to no tenant" in client.get("/console/").text


def test_a_wrong_password_is_refused(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        fields = {"username": "alice", "password": "wrong"}
        response = client.post("/console/login", data=fields)

    assert response.status_code == 200
    assert "do not match an account" in response.text
    assert "sessionid" not in client.cookies


def test_signing_in_leads_nowhere_else(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        fields = {"username": "alice", "password": PASSWORD, "next": "https://evil.example/"}
        response = client.post("/console/login", data=fields)

    assert response.headers["location"] == "/console/"


@pytest.mark.parametrize("path", ["keys", "speak", "keys/x/revoke"])
def test_nothing_changes_without_the_csrf_token(base: str, alice: Party, path: str) -> None:
    with browser(base, "alice") as client:
        del client.headers["X-CSRFToken"]
        response = client.post(f"/console/alice/{path}", json={"text": "Hi", "voice": "Anna"})

    assert response.status_code == 403
    assert ApiKey.objects.count() == 1
    assert not UsageEvent.objects.exists()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"text": " ", "voice": "Anna"}, "text"),
        ({"text": "a" * 501, "voice": "Anna"}, "text"),
        ({"text": "Hi", "voice": "Zelda"}, "voice"),
        ({"text": "Hi"}, "voice"),
        ({"text": "Hi", "voice": "Anna", "x": 1}, "x"),
    ],
)
def test_a_test_sentence_is_checked(base: str, alice: Party, body: dict, param: str) -> None:
    with browser(base, "alice") as client:
        response = client.post("/console/alice/speak", json=body)

    assert response.status_code in (400, 404)
    assert response.json()["error"]["param"] == param


@pytest.mark.parametrize("path", ["/console/login", "/console/alice", "/nothing", "/admin/login/"])
def test_pages_allow_no_inline_code_and_no_framing(base: str, alice: Party, path: str) -> None:
    with browser(base, "alice") as client:
        page = client.get(path)

    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["x-request-id"]
    if not path.startswith("/admin"):
        assert not re.search(r"<script(?![^>]*\bsrc=)", page.text)
        assert not re.search(r"<style|\sstyle=|\son\w+=", page.text)


def test_cookies_stay_out_of_scripts_and_other_sites(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        fields = {"username": "alice", "password": PASSWORD}
        cookie = client.post("/console/login", data=fields).headers["set-cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("name", ["console/console.css", "console/player.js", "console/icon.svg"])
def test_the_pages_files_are_served(http: httpx.Client, name: str) -> None:
    response = http.get(f"/static/{name}")

    assert response.status_code == 200
    assert len(response.content) > 100


@pytest.mark.parametrize("path", ["/static/../settings.py", "/static/%2e%2e/settings.py"])
def test_nothing_else_is_served(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_templates_hold_no_inline_code() -> None:
    for template in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        text = template.read_text("utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), template


def test_text_from_outside_is_escaped(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        fields = {"name": "<script>alert(1)</script>", "environment": "live"}
        client.post("/console/alice/keys", data=fields)
        page = eventually(lambda: client.get("/console/alice"))

    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text
