"""Keys in the console: made once, shown once; changed, rotated, revoked after a question."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp.audit.models import AuditEntry
from ttsapp.keys.models import ApiKey

KEY = re.compile(r"parl_(?:live|test)_[0-9a-z]{10}_[0-9A-Za-z]{44}")
FIELDS: dict[str, object] = {
    "name": "CI",
    "environment": "live",
    "scopes": ["speech", "read"],
}


def make(client: httpx.Client, **fields: str) -> str:
    """Posts the form; the address that it leads to."""
    made = client.post("/console/alice/keys", data={**FIELDS, **fields})
    assert made.status_code == 302
    assert KEY.search(made.text) is None
    return made.headers["location"]


def test_it_works(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        page = client.get(make(client))
        listed = client.get("/console/alice/keys")

    secret = KEY.search(page.text)[0]
    assert f"export BASE={base} KEY={secret}" in page.text
    assert KEY.search(listed.text) is None
    assert "CI" in listed.text
    headers = {"Authorization": f"Bearer {secret}"}
    assert http.post("/v1/audio/speech", json=speech(), headers=headers).status_code == 200
    entry = AuditEntry.objects.filter(action="key.created").first()
    assert (entry.actor, entry.tenant) == ("user:alice", alice.tenant)


def test_reloading_the_new_key_makes_no_other_and_shows_nothing(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        where = make(client)
        assert KEY.search(client.get(where).text)
        again = client.get(where)

    assert KEY.search(again.text) is None
    assert "was shown once, when it was made" in again.text
    assert ApiKey.objects.count() == 2


def test_the_new_key_waits_in_its_makers_browser_alone(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        made = client.post("/console/alice/keys", data=FIELDS)
    cookie = made.headers["set-cookie"]
    assert f"Path={made.headers['location']}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Max-Age=120" in cookie


def test_a_cookie_of_another_key_shows_nothing(base: str, alice: Party, bob: Party) -> None:
    with browser(base, "alice") as client:
        client.cookies.set("new_key", bob.secret)
        page = client.get(f"/console/alice/keys/{alice.key.public_id}")
    assert bob.secret not in page.text


def test_a_key_may_expire(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        make(client, environment="test", days="30")

    key = ApiKey.objects.get(name="CI")
    assert (key.expires_at - key.created_at).days in (29, 30)
    assert key.environment == "test"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("days", "0"),
        ("days", "-1"),
        ("days", "soon"),
        ("days", "99999"),
        ("name", ""),
        ("name", "x" * 101),
        ("environment", "prod"),
        ("scopes", "everything"),
        ("scopes", ""),
        ("allowed_networks", "10.0.0.1/8"),
        ("requests_per_minute", "0"),
        ("hard_monthly_characters", "many"),
    ],
)
def test_a_form_that_is_wrong_keeps_what_was_typed(
    base: str, alice: Party, field: str, value: str
) -> None:
    with browser(base, "alice") as client:
        fields = {**FIELDS, "name": "Kept name", "environment": "test", field: value}
        page = client.post("/console/alice/keys", data=fields)

    assert page.status_code == 400
    assert 'class="problem" role="alert"' in page.text
    if field != "name":
        assert 'value="Kept name"' in page.text
    if field == "days":
        assert f'value="{value}"' in page.text
        assert '<option value="test" selected>' in page.text
    assert ApiKey.objects.count() == 1


def test_revoking_asks_first(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        question = client.get(f"/console/alice/keys/{alice.key.public_id}/revoke")

    assert question.status_code == 200
    assert "Revoke alice&#x27;s key?" in question.text
    answer = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert answer.status_code == 200


def test_revoking_stops_the_key(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        done = client.post(f"/console/alice/keys/{alice.key.public_id}/revoke")
        page = client.get(done.headers["location"])
        again = client.get(f"/console/alice/keys/{alice.key.public_id}/revoke")

    assert '<span class="pill revoked">revoked</span>' in page.text
    assert "It is revoked already." in again.text
    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert response.status_code == 401


RULES = {
    "scopes": ["speech"],
    "allowed_voices": "Anna, Ben",
    "allowed_networks": "127.0.0.1, 2001:db8::/32",
    "requests_per_minute": "2",
    "soft_monthly_characters": "10",
    "hard_monthly_characters": "100",
}


def test_a_key_made_with_rules(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        client.post("/console/alice/keys", data={**FIELDS, **RULES})

    key = ApiKey.objects.get(name="CI")
    assert (key.scopes, key.allowed_voices, key.allowed_models) == (["speech"], ["Anna", "Ben"], [])
    assert key.allowed_networks == ["127.0.0.1/32", "2001:db8::/32"]
    assert (key.requests_per_minute, key.characters_per_minute) == (2, None)
    assert (key.soft_monthly_characters, key.hard_monthly_characters) == (10, 100)


def test_changing_what_a_key_may_do(base: str, http: httpx.Client, alice: Party) -> None:
    where = f"/console/alice/keys/{alice.key.public_id}/change"
    with browser(base, "alice") as client:
        assert client.post(where, data={**RULES, "allowed_voices": "Ben"}).status_code == 302
        page = client.get(where)

    assert 'value="127.0.0.1/32, 2001:db8::/32"' in page.text
    assert 'value="Ben"' in page.text
    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    assert response.json()["error"]["code"] == "voice_not_allowed"
    assert AuditEntry.objects.get(action="key.changed").actor == "user:alice"


@pytest.mark.parametrize("path", ["", "/{}/change"])
def test_a_key_is_bound_to_no_voice_that_is_not_there(
    base: str, alice: Party, engine: ScriptedEngine, path: str
) -> None:
    where = "/console/alice/keys" + path.format(alice.key.public_id)
    with browser(base, "alice") as client:
        page = client.post(where, data={**FIELDS, **RULES, "allowed_voices": "anna, nosuch"})
    assert page.status_code == 400
    assert "No voice here is called nosuch: the list of voices has names." in page.text
    assert list(ApiKey.objects.exclude(allowed_voices=[])) == []


@pytest.mark.parametrize("path", ["", "/{}/change"])
def test_a_key_is_bound_to_no_model_that_is_not_there(
    base: str, alice: Party, engine: ScriptedEngine, path: str
) -> None:
    where = "/console/alice/keys" + path.format(alice.key.public_id)
    with browser(base, "alice") as client:
        page = client.post(where, data={**FIELDS, **RULES, "allowed_models": "nosuch"})
    assert page.status_code == 400
    assert "No model here is called nosuch: there are scripted-voices" in page.text
    assert list(ApiKey.objects.exclude(allowed_models=[])) == []


def test_a_key_keeps_a_voice_that_has_gone(base: str, alice: Party, engine: ScriptedEngine) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(allowed_voices=["gone"])
    where = f"/console/alice/keys/{alice.key.public_id}/change"
    with browser(base, "alice") as client:
        page = client.post(where, data={**RULES, "allowed_voices": "gone, alloy"})
    assert page.status_code == 302
    assert ApiKey.objects.get(pk=alice.key.pk).allowed_voices == ["gone", "alloy"]


def test_a_soft_budget_above_the_hard_one_is_refused(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        page = client.post(
            f"/console/alice/keys/{alice.key.public_id}/change",
            data={**RULES, "soft_monthly_characters": "101"},
        )
    assert page.status_code == 400
    assert "Warn before the stop: a smaller number." in page.text
    alice.key.refresh_from_db()
    assert alice.key.hard_monthly_characters is None


def test_rotating_shows_the_new_secret_once(base: str, http: httpx.Client, alice: Party) -> None:
    with browser(base, "alice") as client:
        done = client.post(f"/console/alice/keys/{alice.key.public_id}/rotate", data={"hours": "2"})
        page, again = (client.get(done.headers["location"]) for _ in range(2))

    fresh = KEY.search(page.text)[0]
    assert fresh != alice.secret
    assert "The secret before this one works until" in page.text
    assert KEY.search(again.text) is None
    for secret in (fresh, alice.secret):
        headers = {"Authorization": f"Bearer {secret}"}
        assert http.post("/v1/audio/speech", json=speech(), headers=headers).status_code == 200


@pytest.mark.parametrize("hours", ["", "-1", "9999", "soon"])
def test_a_rotation_needs_its_hours(base: str, alice: Party, hours: str) -> None:
    with browser(base, "alice") as client:
        page = client.post(
            f"/console/alice/keys/{alice.key.public_id}/rotate", data={"hours": hours}
        )
    assert page.status_code == 400
    alice.key.refresh_from_db()
    assert alice.key.previous_until is None


def test_a_revoked_key_cannot_be_rotated(base: str, alice: Party) -> None:
    where = f"/console/alice/keys/{alice.key.public_id}"
    with browser(base, "alice") as client:
        client.post(f"{where}/revoke")
        page = client.post(f"{where}/rotate", data={"hours": "1"})
    assert "It is revoked: make another key instead." in page.text
