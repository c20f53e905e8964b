"""The management API as programs call it: what the console does, with a key that may manage."""

from __future__ import annotations

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.seeded import use
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.keys.models import ApiKey
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import PlatformRole, Tenant
from ttsapp.tenants.services import set_platform_role, suspend_tenant
from ttsapp.voices import selectors

MANAGER = "manage"


@pytest.fixture
def api(http: httpx.Client, alice: Party) -> httpx.Client:
    """Alice's, below her tenant's address."""
    http.base_url = http.base_url.join("/api/tenants/alice/")
    http.headers["Authorization"] = f"Bearer {managing(alice)}"
    return http


def managing(party: Party, *scopes: str) -> str:
    return create_key(SYSTEM, party.tenant, MANAGER, scopes=scopes or ["manage", "speech"])[1]


def refused(response: httpx.Response, status: int, code: str, field: str | None = None) -> str:
    """The reason, of a problem that is whole."""
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert (response.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert problem["request_id"] == response.headers["x-request-id"]
    assert [fault["field"] for fault in problem["errors"]] == ([field] if field else [])
    return problem["detail"]


def test_a_key_is_made_used_changed_rotated_and_revoked(
    api: httpx.Client, base: str, alice: Party
) -> None:
    made = api.post("keys", json={"name": "agents", "scopes": ["speech"]})
    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    key = made.json()
    assert (key["state"], key["scopes"], key["created_by"]) == ("active", ["speech"], None)
    first = key["key"]
    assert say(base, first) == 200

    changed = api.patch(f"keys/{key['id']}", json={"allowed_voices": ["Ben"]}).json()
    assert (changed["allowed_voices"], "key" in changed) == (["Ben"], False)
    rotated = api.post(f"keys/{key['id']}/rotate", json={"overlap_hours": 0}).json()
    assert rotated["id"] == key["id"]
    assert rotated["key"] != first
    assert say(base, rotated["key"], voice="Ben") == 200
    assert say(base, first, voice="Ben") == 401
    assert api.post(f"keys/{key['id']}/revoke").json()["state"] == "revoked"
    detail = refused(api.post(f"keys/{key['id']}/rotate", json={}), 409, "key_not_active", "id")
    assert detail == "This key is revoked: make another."

    actor = f"key:{ApiKey.objects.get(name=MANAGER).public_id}"
    entries = AuditEntry.objects.filter(actor=actor).order_by("id").values_list("action", flat=True)
    assert list(entries) == ["key.created", "key.changed", "key.rotated", "key.revoked"]


def test_a_key_is_bound_to_no_voice_that_is_not_there(api: httpx.Client) -> None:
    made = api.post(
        "keys", json={"name": "none", "scopes": ["speech"], "allowed_voices": ["Ben", "nosuch"]}
    )
    detail = refused(made, 400, "unknown_voice", "allowed_voices")
    assert detail == "No voice here is called nosuch: the list of voices has names."
    assert not ApiKey.objects.filter(name="none").exists()


def test_a_key_is_bound_to_no_model_that_is_not_there(api: httpx.Client) -> None:
    wanted = {"name": "none", "scopes": ["speech"], "allowed_models": ["Scripted-Voices", "nosuch"]}
    detail = refused(api.post("keys", json=wanted), 400, "model_not_found", "allowed_models")
    assert detail.startswith("No model here is called nosuch: there are scripted-voices")
    assert not ApiKey.objects.filter(name="none").exists()


def test_a_key_is_changed_to_no_model_that_is_not_there_and_keeps_what_it_has(
    api: httpx.Client, alice: Party
) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(allowed_models=["gone"])
    path = f"keys/{alice.key.public_id}"
    answer = api.patch(path, json={"allowed_models": ["gone", "nosuch"]})
    refused(answer, 400, "model_not_found", "allowed_models")
    assert ApiKey.objects.get(pk=alice.key.pk).allowed_models == ["gone"]

    kept = {"allowed_models": ["gone", "scripted-voices"]}
    assert api.patch(path, json=kept).json()["allowed_models"] == ["gone", "scripted-voices"]


def test_while_no_engine_can_say_a_model_is_taken_at_its_word(
    api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: object) -> None:
        raise ApiError(503, "engine_unavailable", "away")

    monkeypatch.setattr(selectors, "catalogue", away)
    wanted = {"name": "trusted", "scopes": ["speech"], "allowed_models": ["nosuch"]}
    assert api.post("keys", json=wanted).status_code == 201


def say(base: str, secret: str, **fields: object) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.post(f"{base}/v1/audio/speech", json=speech(**fields), headers=headers).status_code


def test_usage_and_requests(api: httpx.Client, alice: Party) -> None:
    heard = use(alice.tenant, alice.key, timezone.now(), characters=40)
    refusal = use(alice.tenant, None, timezone.now(), ended="refused")

    usage = api.get("usage", params={"by": "key"}).json()
    assert usage["total"] == {
        "requests": 1,
        "characters": 40,
        "characters_charged": 40,
        "audio_ms": 6000,
        "failures": 0,
    }
    assert [(row["key"], row["requests"]) for row in usage["rows"]] == [(alice.key.public_id, 1)]
    newest = api.get("requests", params={"page_size": 1}).json()
    older = httpx.get(newest["next"], headers=api.headers).json()
    assert {newest["results"][0]["id"], older["results"][0]["id"]} == {str(heard), str(refusal)}
    assert older["next"] is None
    (found,) = api.get("requests", params={"ended": "stop"}).json()["results"]
    assert (found["id"], found["characters_charged"]) == (str(heard), 40)
    assert api.get(f"requests/{refusal}").json()["error_code"] == "unknown_voice"


def test_words(api: httpx.Client) -> None:
    word = {"word": "Nginx", "alias": "engine x", "language": "en"}
    made = api.post("lexicon", json=word)
    assert made.status_code == 201
    place = f"lexicon/{made.json()['id']}"
    refused(api.post("lexicon", json=word), 409, "word_exists", "word")
    assert api.patch(place, json={"alias": "N G N X"}).json()["alias"] == "N G N X"
    assert [one["word"] for one in api.get("lexicon").json()["results"]] == ["Nginx"]
    assert api.delete(place).status_code == 204
    refused(api.get(place), 404, "not_found")


def test_limits_voices_and_tenants(api: httpx.Client, base: str) -> None:
    limits = api.get("limits").json()
    assert limits["own"]["concurrent_streams"] is None
    assert limits["in_force"]["concurrent_streams"] == 1000
    assert [one["id"] for one in api.get("voices").json()["results"]] == ["Anna", "Ben"]
    (tenant,) = api.get(f"{base}/api/tenants").json()["results"]
    assert (tenant["slug"], tenant["role"]) == ("alice", "developer")


NAMES = [
    ({"name": "\u202e\u0007T"}, "name"),
    *(({"slug": slug}, "slug") for slug in ("BEE", "-", "bee-", "login", "b\u0435e")),
]


@pytest.mark.parametrize(("wanted", "field"), NAMES)
def test_a_name_that_no_tenant_has(
    base: str, alice: Party, wanted: dict[str, str], field: str
) -> None:
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    body = {"name": "Bee", "slug": "bee", **wanted}
    with browser(base, "alice") as client:
        made = client.post("/api/platform/tenants", json=body)
        page = client.post("/platform/tenants", data=body)
        if field == "name":
            changed = client.patch("/api/platform/tenants/alice", json=wanted)
            refused(changed, 400, "invalid_value", "name")
    refused(made, 400, "invalid_value", field)
    assert page.status_code == 400
    assert [tenant.name for tenant in Tenant.objects.all()] == ["Alice"]


def test_members_addresses_are_for_who_manages_them(
    api: httpx.Client, base: str, alice: Party
) -> None:
    User.objects.update(email="alice@example.com")
    with browser(base, "alice") as client:
        (told,) = client.get("/api/tenants/alice/members").json()["results"]
    assert told["email"] == "alice@example.com"
    (told,) = api.get("members").json()["results"]
    assert (told["username"], told["email"]) == ("alice", "")


def test_an_operator_gives_a_tenant_its_share_of_the_engine(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    with browser(base, "alice") as client:
        changed = client.patch("/api/platform/tenants/alice", json={"engine_share": 3})
        assert changed.json()["engine_share"] == 3
        refused(
            client.patch("/api/platform/tenants/alice", json={"engine_share": 0}),
            *(400, "invalid_value", "engine_share"),
        )
    assert say(base, alice.secret) == 200
    assert engine.heard[0].start.share == 3.0
    entry = AuditEntry.objects.get(action="tenant.limited")
    assert entry.changes == {"engine_share": [1, 3]}


def test_who_changed_what_and_who_may(base: str, alice: Party, bob: Party) -> None:
    with browser(base, "alice") as client:
        client.patch(f"/api/tenants/alice/keys/{alice.key.public_id}", json={"scopes": ["read"]})
        entries = client.get("/api/tenants/alice/audit?action=key.changed").json()["results"]
        members = client.get("/api/tenants/alice/members").json()["results"]
    assert [(one["actor"], one["changes"]) for one in entries] == [
        ("user:alice", {"scopes": [["speech", "read"], ["read"]]})
    ]
    assert [(one["username"], one["role"]) for one in members] == [("alice", "owner")]


def test_the_documents(http: httpx.Client) -> None:
    document = http.get("/api/schema/")
    assert document.json()["openapi"] == "3.1.0"
    assert "nullable" not in document.text  # 3.0 had that word
    page = http.get("/api/docs")
    assert page.status_code == 200
    assert "script-src 'self'; style-src 'self'" in page.headers["Content-Security-Policy"]
    for path in document.json()["paths"]:
        assert f"<code>{path}</code>" in page.text


BAD = [
    ("keys", {"name": "x", "colour": "red"}, "unknown_field", "colour"),
    ("keys", {}, "invalid_value", "name"),
    ("keys", {"name": "x", "scopes": ["read"]}, "invalid_value", "scopes"),
    ("keys", {"name": "x", "allowed_networks": ["here"]}, "invalid_value", "allowed_networks"),
    ("keys", {"name": "x"}, "invalid_value", "scopes"),
    (
        "keys",
        {"name": "x", "scopes": ["speech"], "expires_at": "2001-01-01T00:00Z"},
        "invalid_value",
        "expires_at",
    ),
    (
        "keys",
        {"name": "x", "soft_monthly_characters": 2, "hard_monthly_characters": 1},
        "invalid_value",
        "soft_monthly_characters",
    ),
    ("lexicon", {"word": "…", "alias": "dots"}, "invalid_value", "word"),
    ("lexicon", [], "invalid_value", "body"),
    ("usage?since=2026-01-02&until=2026-01-01", None, "invalid_value", "until"),
    ("usage?by=hour&since=2026-01-01&until=2026-03-01", None, "invalid_value", "since"),
    ("requests?ended=well", None, "invalid_value", "ended"),
    ("requests?page=2", None, "unknown_field", "page"),
    ("keys?by=day", None, "unknown_field", "by"),
    ("limits?x=1", None, "unknown_field", "x"),
    ("voices?page_size=1", None, "unknown_field", "page_size"),
    ("requests?page_size=0", None, "invalid_value", "page_size"),
    ("requests?page_size=-1", None, "invalid_value", "page_size"),
    ("requests?page_size=201", None, "invalid_value", "page_size"),
    ("requests?page_size=100000000000000000000", None, "invalid_value", "page_size"),
    ("requests?page_size=%00", None, "invalid_value", "page_size"),
    ("requests?page_size=", None, "invalid_value", "page_size"),
    ("requests?page_size=%D9%A1", None, "invalid_value", "page_size"),
    ("keys?x=1", {"name": "x", "scopes": ["speech"]}, "unknown_field", "x"),
]


FAR = ["0001-01-01", "1999-12-31", "2100-01-01", "9999-12-31"]
LISTS = ["usage", "requests", "audit", "platform/costs"]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("day", FAR)
def test_a_day_that_nobody_means(base: str, alice: Party, path: str, name: str, day: str) -> None:
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    below = path if path.startswith("platform") else f"tenants/alice/{path}"
    is_moment = path in ("requests", "audit")
    asked = f"{day}T12:00:00Z" if is_moment else day

    with browser(base, "alice") as client:
        detail = refused(client.get(f"/api/{below}?{name}={asked}"), 400, "invalid_value", name)

    what = "moment from 2000-01-01 to 2099-12-31, UTC." if is_moment else ""
    assert detail == f"{name}: Choose a {what or 'day from 2000-01-01 to 2099-12-31.'}"


@pytest.mark.parametrize("end", ["2100-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
def test_a_key_does_not_end_where_nobody_means(api: httpx.Client, alice: Party, end: str) -> None:
    wanted = {"name": "x", "scopes": ["speech"], "expires_at": end}
    refused(api.post("keys", json=wanted), 400, "invalid_value", "expires_at")
    path = f"keys/{alice.key.public_id}"
    refused(api.patch(path, json={"expires_at": end}), 400, "invalid_value", "expires_at")
    assert not ApiKey.objects.exclude(expires_at=None).exists()
    assert api.patch(path, json={"expires_at": "2099-12-31T23:59:59Z"}).is_success


def test_what_is_wrong_is_named(api: httpx.Client) -> None:
    for path, body, code, field in BAD:
        response = api.get(path) if body is None else api.post(path, json=body)
        refused(response, 400, code, field)
    assert ApiKey.objects.filter(name="x").count() == 0


def test_a_key_that_may_only_manage_gets_no_speech(
    api: httpx.Client, base: str, alice: Party
) -> None:
    api.headers["Authorization"] = f"Bearer {managing(alice, 'manage')}"
    detail = refused(api.post("keys", json={"name": "x"}), 400, "invalid_value", "scopes")
    assert detail == (
        "scopes: A key has speech and read unless told otherwise, and you have no speech to give: "
        "say which it is to have."
    )
    rotate = f"keys/{alice.key.public_id}/rotate"
    refused(api.post(rotate, json={}), 403, "key_out_of_scope", "id")
    assert say(base, alice.secret) == 200
    assert not ApiKey.objects.filter(name="x").exists()
    alice.key.refresh_from_db()
    assert alice.key.previous_until is None


@pytest.mark.parametrize(
    "change",
    [
        {"hard_monthly_characters": None},
        {"concurrent_streams": 50},
        {"scopes": ["manage"]},
        {"allowed_networks": []},
        {"expires_at": None},
        {},
    ],
)
def test_a_key_does_not_change_itself(
    api: httpx.Client, alice: Party, change: dict[str, object]
) -> None:
    own = ApiKey.objects.get(name=MANAGER)
    held = {"hard_monthly_characters": 10, "concurrent_streams": 1}
    ApiKey.objects.filter(pk=own.pk).update(**held)

    detail = refused(api.patch(f"keys/{own.public_id}", json=change), 403, "key_out_of_scope", "id")

    assert detail == "A key does not change what it may do itself: ask a person, or another key."
    assert ApiKey.objects.filter(pk=own.pk, scopes=["manage", "speech"], **held).exists()
    assert not AuditEntry.objects.filter(action="key.changed").exists()
    # Another's is its to change, and a secret of its own as well.
    assert api.patch(f"keys/{alice.key.public_id}", json={"concurrent_streams": 5}).is_success
    assert api.post(f"keys/{own.public_id}/rotate", json={}).is_success


def test_a_suspended_accounts_keys_are_only_revoked(base: str, alice: Party) -> None:
    suspend_tenant(SYSTEM, alice.tenant)
    own = f"alice/keys/{alice.key.public_id}"
    with browser(base, "alice") as client:
        made = client.post("/api/tenants/alice/keys", json={"name": "x"})
        refused(made, 403, "tenant_suspended")
        changed = client.patch(f"/api/tenants/{own}", json={"scopes": ["read"]})
        refused(changed, 403, "tenant_suspended")
        rotated = client.post(f"/api/tenants/{own}/rotate", json={})
        refused(rotated, 403, "tenant_suspended")
        places = ("alice/keys", f"{own}/change", f"{own}/rotate")
        pages = [client.post(f"/console/{place}") for place in places]
        assert [page.status_code for page in pages] == [403, 403, 403]
        alice.key.refresh_from_db()
        assert (alice.key.scopes, alice.key.previous_until) == (["speech", "read"], None)
        revoked = client.post(f"/api/tenants/{own}/revoke")
    assert revoked.json()["state"] == "revoked"
    assert ApiKey.objects.count() == 1


def test_a_key_that_may_not_manage(api: httpx.Client, alice: Party) -> None:
    detail = refused(api.get("keys", headers=alice.headers), 403, "key_out_of_scope")
    assert detail == "This API key may not manage its account: use one with the scope manage."


def test_nobody(api: httpx.Client) -> None:
    del api.headers["Authorization"]
    response = api.get("keys")
    refused(response, 401, "invalid_api_key")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_page_that_nobody_was_given(api: httpx.Client) -> None:
    refused(api.get("requests", params={"cursor": "cD14"}), 404, "not_found")


def test_a_body_that_is_no_json(api: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    deep = "[" * 100_000
    for body in ("{", deep, f'{{"name": {deep}', '{"\\ud800": 1}', '{"name": "\\ud800"}'):
        refused(api.post("keys", content=body, headers=headers), 400, "invalid_json")
    refused(api.post("keys", data={"name": "x"}), 415, "unsupported_media_type")


def test_an_address_that_is_none(api: httpx.Client, base: str) -> None:
    refused(api.get(f"{base}/api/nothing"), 404, "unknown_url")
    refused(api.put("keys", json={}), 405, "method_not_allowed")
