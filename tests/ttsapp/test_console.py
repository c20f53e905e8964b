"""The signed-in pages: what they show and do, and what they never let a browser do."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User

from billing.models import UsageEvent
from tests.billing.selling import price_book
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party, eventually, speech
from tests.ttsapp.scripted_engine import EngineThread, Script, ScriptedEngine, spoken
from ttsapp import ids
from ttsapp.audit.services import SYSTEM
from ttsapp.console.views import playground
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Role
from ttsapp.tenants.services import add_member, restore_tenant, suspend_tenant

PAGES = ("", "/playground", "/requests", "/keys", "/usage", "/start")


def test_it_works(base: str, http: httpx.Client, alice: Party) -> None:
    http.post("/v1/audio/speech", json=speech("Twelve chars"), headers=alice.headers)

    with browser(base, "alice") as client:
        assert client.get("/console/").headers["location"] == "/console/alice"
        page = client.get("/console/alice")

    assert page.status_code == 200
    assert "<dt>Characters charged</dt><dd>12</dd><dd>of 12 sent" in page.text
    assert "<dt>Requests today</dt><dd>1</dd>" in page.text
    assert '<span class="pill ready">ready</span>' in page.text
    assert page.headers["cache-control"].startswith("max-age=0, no-cache, no-store")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_and_is_the_current_one(base: str, alice: Party, path: str) -> None:
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice{path}")

    assert page.status_code == 200
    assert f'<a href="/console/alice{path}" aria-current="page">' in page.text


def test_a_test_sentence_streams_and_is_metered(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script = Script(hold_after=2, tells_words=True)
    body = speech("Hello there.", voice="Ben", seed=7, word_timestamps=True, stream_format="sse")
    with browser(base, "alice") as client:
        with client.stream("POST", "/console/alice/speak", json=body) as response:
            lines = response.iter_lines()
            early = next(lines)
            assert engine.heard[0].ended.is_set() is False
            engine.release.set()
            told = [early, *lines]
        take = client.get(f"/console/alice/takes/{response.headers['x-request-id']}").json()

    events = [json.loads(line.removeprefix("data: ")) for line in told if line]
    audio = [base64.b64decode(event["audio"]) for event in events if "audio" in event]
    words = [word["word"] for event in events for word in event.get("words", ())]
    event = UsageEvent.objects.get()
    assert b"".join(audio) == spoken(5)
    assert words == ["Hello", "there."]
    assert (event.tenant, event.key, event.billed_characters) == (alice.tenant, None, 12)
    assert engine.heard[0].start.voice.preset == "Ben"
    assert engine.heard[0].start.seed == 7
    assert (take["state"], take["billed_characters"], take["seed"]) == ("ended", 12, 7)
    assert take["price"] is None


@pytest.mark.parametrize(
    ("role", "price"), [(Role.OWNER, "0.0001 EUR"), (Role.DEVELOPER, "not told")]
)
def test_a_take_tells_its_price_to_who_may_read_the_bill(
    base: str, alice: Party, role: Role, price: str
) -> None:
    price_book()
    user = User.objects.create_user("ann", password=PASSWORD)
    add_member(SYSTEM, alice.tenant, user, role)
    with browser(base, "ann") as client:
        body = speech("Hello there.", stream_format="sse")
        response = client.post("/console/alice/speak", json=body)
        url = f"/console/alice/takes/{response.headers['x-request-id']}"
        take = eventually(lambda: _ended(client.get(url)))

    assert isinstance(take, dict)
    assert take.get("price", "not told") == price


def test_a_take_that_has_just_ended_is_waited_for(
    base: str, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground, "SETTLED_SECONDS", 60.0)
    engine.script = Script(hold_after=2)
    body = speech("Hello there.", stream_format="sse")
    with browser(base, "alice") as client, ThreadPoolExecutor() as beside:
        with client.stream("POST", "/console/alice/speak", json=body) as response:
            lines = response.iter_lines()
            next(lines)
            url = f"/console/alice/takes/{response.headers['x-request-id']}"
            take = beside.submit(client.get, url)
            assert wait([take], timeout=0.3).done == set()
            engine.release.set()
            assert list(lines)
        found = take.result().json()

    assert (found["state"], found["billed_characters"]) == ("ended", 12)


@pytest.mark.parametrize("mint", [ids.uuid7, lambda: UUID(int=2**128 - 1)], ids=["new", "odd"])
def test_a_take_that_is_nobodys_is_not_found(
    base: str, alice: Party, mint: Callable[[], UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground, "SETTLED_SECONDS", 0.2)
    with browser(base, "alice") as client:
        assert client.get(f"/console/alice/takes/{mint()}").status_code == 404


def test_a_take_that_is_long_gone_is_waited_for_by_nobody(
    base: str, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground, "SETTLED_SECONDS", 3600.0)
    wanted = ids.lowest(datetime(2026, 1, 1, tzinfo=UTC))
    with browser(base, "alice") as client:
        assert client.get(f"/console/alice/takes/{wanted}").status_code == 404


def _ended(response: httpx.Response) -> dict[str, object] | None:
    return response.json() if response.json().get("state") == "ended" else None


def test_the_pages_open_while_the_engine_is_away(
    base: str, alice: Party, engine_thread: EngineThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for remembers in ("voices.selectors", "engine.connection"):
        monkeypatch.setattr(f"ttsapp.{remembers}.USABLE_SECONDS", -1.0)
    engine_thread.stop()
    with browser(base, "alice") as client:
        overview, playground = client.get("/console/alice"), client.get("/console/alice/playground")

    assert (overview.status_code, playground.status_code) == (200, 200)
    assert "Nothing can be spoken now" in overview.text
    assert "The engine is not there yet." in playground.text


def test_a_person_without_a_tenant_is_told_so(base: str, transactional_db: None) -> None:
    User.objects.create_user("carol", password=PASSWORD)
    with browser(base, "carol") as client:
        assert "you belong to no tenant" in client.get("/console/").text


def test_suspended_people_read_why(base: str, alice: Party) -> None:
    suspend_tenant(SYSTEM, alice.tenant, "The invoice of May is open.")
    with browser(base, "alice") as client:
        pages = [client.get(f"/console/alice{path}") for path in PAGES]
        body = speech("Hello.", stream_format="sse")
        refused = client.post("/console/alice/speak", json=body)
        restore_tenant(SYSTEM, alice.tenant)
        after = client.get("/console/alice")

    for page in pages:
        assert page.status_code == 200
        assert "Reason: The invoice of May is open." in page.text
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tenant_suspended")
    assert not UsageEvent.objects.exists()
    assert "is suspended" not in after.text


def test_a_suspension_without_a_reason_says_whom_to_ask(base: str, alice: Party) -> None:
    suspend_tenant(SYSTEM, alice.tenant)
    with browser(base, "alice") as client:
        assert "No reason was given: ask whoever runs" in client.get("/console/alice").text


@pytest.mark.parametrize(
    ("path", "location"),
    [("/", "/console/"), ("/console", "/console/"), ("/favicon.ico", "/static/console/icon.svg")],
)
def test_addresses_that_people_type(http: httpx.Client, path: str, location: str) -> None:
    response = http.get(path)
    assert (response.status_code, response.headers["location"]) == (302, location)


def test_the_quick_start_has_this_installations_address_and_key(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        page = client.get("/console/alice/start").text
    assert f"export BASE={base}\nexport KEY={alice.key.hint}" in page
    assert f'base_url="{base}/v1"' in page.replace("&quot;", '"')


def test_the_quick_start_without_a_key_says_where_to_make_one(base: str, alice: Party) -> None:
    ApiKey.objects.all().delete()
    with browser(base, "alice") as client:
        page = client.get("/console/alice/start").text
    assert 'There is no key that works yet: <a href="/console/alice/keys">make one</a>' in page


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
        ({"input": " "}, "input"),
        ({"input": "a" * 4097}, "input"),
        ({"voice": "Zelda"}, "voice"),
        ({"voice": ...}, "voice"),
        ({"x": 1}, "x"),
        ({"seed": -1}, "seed"),
        ({"stream_format": "audio"}, "stream_format"),
    ],
)
def test_a_test_sentence_is_checked(base: str, alice: Party, body: dict, param: str) -> None:
    with browser(base, "alice") as client:
        sent = speech("Hi", **{"stream_format": "sse", **body})
        response = client.post("/console/alice/speak", json=sent)

    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


@pytest.mark.parametrize(
    "path",
    ["/console/login", *(f"/console/alice{path}" for path in PAGES), "/nothing", "/admin/"],
)
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
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page.text)


def test_cookies_stay_out_of_scripts_and_other_sites(base: str, alice: Party) -> None:
    with browser(base, None) as client:
        fields = {"login": "alice", "password": PASSWORD}
        cookie = client.post("/console/login", data=fields).headers["set-cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


FILES = sorted(Path(settings.BASE_DIR, "ttsapp/console/static/console").iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_pages_files_are_served(http: httpx.Client, file: Path) -> None:
    response = http.get(f"/static/console/{file.name}")

    assert response.status_code == 200
    assert response.content == file.read_bytes()


@pytest.mark.parametrize("path", ["/static/../settings.py", "/static/%2e%2e/settings.py"])
def test_nothing_else_is_served(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_templates_hold_no_inline_code() -> None:
    for template in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        text = template.read_text("utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text), template


def test_text_from_outside_is_escaped(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        name = "<script>alert(1)</script>"
        fields = {"name": name, "environment": "live", "scopes": ["speech", "read"]}
        client.post("/console/alice/keys", data=fields)
        page = eventually(lambda: client.get("/console/alice/keys"))

    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text
