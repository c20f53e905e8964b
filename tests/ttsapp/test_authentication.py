"""Who may call the API: one way in, and every other way refused in OpenAI's shape."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tests.ttsapp.conftest import Party, ends_within_a_second, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM, Actor
from ttsapp.keys.models import ApiKey, Environment
from ttsapp.keys.services import create_key, revoke_key, touch
from ttsapp.tenants.services import restore_tenant, suspend_tenant

ROUTES = [
    ("POST", "/v1/audio/speech"),
    ("GET", "/v1/audio/voices"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/tts-1"),
    ("GET", "/v1/audio/speech/requests/01900000-0000-7000-8000-000000000000"),
    ("POST", "/openai/v1/audio/speech"),
    ("GET", "/openai/v1/models"),
]


def call(http: httpx.Client, authorization: str | None, method: str = "POST", path: str = ""):
    headers = {} if authorization is None else {"Authorization": authorization}
    body = speech() if method == "POST" else None
    return http.request(method, path or "/v1/audio/speech", json=body, headers=headers)


def refused(response: httpx.Response, status: int = 401, code: str = "invalid_api_key") -> str:
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", None)
    assert error["code"] == code
    assert response.headers["x-request-id"]
    return error["message"]


def test_it_works(http: httpx.Client, alice: Party) -> None:
    assert call(http, f"Bearer {alice.secret}").status_code == 200


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_key(http: httpx.Client, method: str, path: str, engine: ScriptedEngine) -> None:
    refused(call(http, None, method, path))
    assert engine.heard == []


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_key_that_was_never_made(http: httpx.Client, method: str, path: str) -> None:
    from ttsapp.keys import secrets

    unknown = secrets.mint("live").full
    message = refused(call(http, f"Bearer {unknown}", method, path))
    assert message == "Incorrect API key provided."
    assert unknown not in message


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_revoked_key(http: httpx.Client, alice: Party, method: str, path: str) -> None:
    revoke_key(SYSTEM, alice.key)
    message = refused(call(http, f"Bearer {alice.secret}", method, path), code="revoked_api_key")
    assert message == "This API key was revoked: use another, or make one in the console."


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_an_expired_key(http: httpx.Client, alice: Party, method: str, path: str) -> None:
    soon = timezone.now() - timedelta(seconds=1)
    _, secret = create_key(SYSTEM, alice.tenant, "short", expires_at=soon)
    message = refused(call(http, f"Bearer {secret}", method, path), code="expired_api_key")
    assert message == "This API key has expired: make another in the console."


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_key_of_a_suspended_tenant(
    http: httpx.Client, alice: Party, method: str, path: str
) -> None:
    suspend_tenant(SYSTEM, alice.tenant)
    message = refused(call(http, f"Bearer {alice.secret}", method, path), 403, "tenant_suspended")
    assert message.startswith("This account is suspended: ask whoever runs this installation, ")


def test_a_restored_tenant_may_speak_again(http: httpx.Client, alice: Party) -> None:
    suspend_tenant(SYSTEM, alice.tenant)
    restore_tenant(SYSTEM, alice.tenant)
    assert call(http, f"Bearer {alice.secret}").status_code == 200


def test_one_tenants_public_id_with_anothers_secret(
    http: httpx.Client, alice: Party, bob: Party
) -> None:
    from ttsapp.keys.secrets import _full, parse

    theirs, mine = parse(alice.secret), parse(bob.secret)
    forged = _full("live", theirs.public_id, mine.secret)
    refused(call(http, f"Bearer {forged}"))


def test_a_live_key_dressed_as_a_test_key(http: httpx.Client, alice: Party) -> None:
    from ttsapp.keys.secrets import _full, parse

    key = parse(alice.secret)
    refused(call(http, f"Bearer {_full('test', key.public_id, key.secret)}"))


def test_a_test_key_works(http: httpx.Client, alice: Party) -> None:
    _, secret = create_key(SYSTEM, alice.tenant, "test", Environment.TEST)
    assert secret.startswith("parl_test_")
    assert call(http, f"Bearer {secret}").status_code == 200


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Basic abc", "Bearer sk-123", "Bearer a b c", "x"]
)
def test_nonsense(http: httpx.Client, authorization: str) -> None:
    refused(call(http, authorization))


def test_a_mistyped_key_is_told_so(http: httpx.Client, alice: Party) -> None:
    last = "A" if alice.secret[-2] != "A" else "B"
    typo = alice.secret[:-2] + last + alice.secret[-1]
    assert "mistyped" in refused(call(http, f"Bearer {typo}"))


def test_a_revoked_key_stops_within_a_second_of_its_last_use(
    http: httpx.Client, alice: Party
) -> None:
    assert call(http, f"Bearer {alice.secret}").status_code == 200
    revoke_key(SYSTEM, alice.key)
    ends_within_a_second(lambda: call(http, f"Bearer {alice.secret}").status_code != 401)


def test_the_key_itself_is_stored_nowhere(alice: Party) -> None:
    stored = ApiKey.objects.values().get(pk=alice.key.pk)
    secret = alice.secret.split("_")[3][:43]
    assert secret not in str(stored)
    assert len(stored["secret_hash"]) == 32
    assert secret not in str(list(AuditEntry.objects.values()))


def test_last_use_is_noted_once_a_minute(http: httpx.Client, alice: Party) -> None:
    call(http, f"Bearer {alice.secret}")
    first = eventually(lambda: ApiKey.objects.get(pk=alice.key.pk).last_used_at)

    touch(alice.key.pk)
    assert ApiKey.objects.get(pk=alice.key.pk).last_used_at == first

    ApiKey.objects.filter(pk=alice.key.pk).update(last_used_at=first - timedelta(seconds=61))
    touch(alice.key.pk)
    assert ApiKey.objects.get(pk=alice.key.pk).last_used_at > first - timedelta(seconds=61)


def test_revoking_is_audited_once(alice: Party) -> None:
    actor = Actor.of(alice.user)
    assert revoke_key(actor, alice.key) is True
    assert revoke_key(actor, alice.key) is False

    entry = AuditEntry.objects.get(action="key.revoked")
    assert (entry.tenant, entry.actor_user, entry.actor) == (alice.tenant, alice.user, "user:alice")
    assert entry.target == alice.key.hint
