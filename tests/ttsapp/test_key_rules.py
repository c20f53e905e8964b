"""What a key may do, from where and until when: one way in, and each refusal with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, ends_within_a_second, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from tests.ttsapp.web_thread import WebThread
from ttsapp import environment
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey, Environment
from ttsapp.keys.rules import KeyRules, KeyScope, networks
from ttsapp.keys.secrets import parse
from ttsapp.keys.services import change_key, create_key, revoke_key, rotate_key
from ttsapp.speech.models import RequestLog

HOUR = timedelta(hours=1)


def say(http: httpx.Client, secret: str, **fields: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {secret}"}
    return http.post("/v1/audio/speech", json=speech(**fields), headers=headers)


def make(party: Party, **rules: object) -> str:
    return create_key(SYSTEM, party.tenant, "bound", **rules)[1]


def refused(response: httpx.Response, status: int, code: str, param: str | None = None) -> str:
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["code"], error["param"]) == (code, param)
    return error["message"]


def test_it_works(http: httpx.Client, alice: Party) -> None:
    secret = make(
        alice,
        scopes=["speech"],
        allowed_voices=["Anna"],
        allowed_models=["scripted-voices"],
        allowed_networks=["127.0.0.0/8"],
        expires_at=timezone.now() + HOUR,
    )
    assert say(http, secret, voice="anna").status_code == 200


@pytest.mark.parametrize("kind", Environment.values)
def test_a_test_key_is_spoken_limited_and_charged_like_a_live_one(
    http: httpx.Client, alice: Party, kind: str
) -> None:
    key, secret = create_key(SYSTEM, alice.tenant, kind, Environment(kind))
    ApiKey.objects.filter(pk=key.pk).update(requests_per_minute=1)
    assert secret.startswith(f"parl_{kind}_")
    assert say(http, secret).content == spoken(5)
    event = UsageEvent.objects.get(key=key)
    assert (event.outcome, event.billed_characters) == ("completed", 12)
    assert say(http, secret).status_code == 429


def test_a_key_that_may_only_read(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    secret = make(alice, scopes=["read"])
    headers = {"Authorization": f"Bearer {secret}"}
    assert http.get("/v1/models", headers=headers).status_code == 200
    assert refused(say(http, secret), 403, "key_out_of_scope") == (
        "This API key may not speak or change anything: use one with the scope speech."
    )
    assert engine.heard == []


def test_a_key_that_may_only_speak(http: httpx.Client, alice: Party) -> None:
    headers = {"Authorization": f"Bearer {make(alice, scopes=['speech'])}"}
    message = refused(http.get("/v1/models", headers=headers), 403, "key_out_of_scope")
    assert message == (
        "This API key may not list or look anything up: use one with the scope read."
    )


def test_a_key_bound_to_a_stock_name_speaks_with_the_voice_it_stands_for(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    secret = make(alice, allowed_voices=["alloy"])
    assert say(http, secret, voice="alloy").status_code == 200
    assert say(http, secret, voice="Anna").status_code == 200
    listed = http.get("/v1/audio/voices", headers={"Authorization": f"Bearer {secret}"}).json()
    assert "Anna" in {each["id"] for each in listed["data"]}
    assert refused(say(http, secret, voice="Ben"), 403, "voice_not_allowed", "voice")


def test_a_voice_that_the_key_may_not_use(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    response = say(http, make(alice, allowed_voices=["Anna"]), voice="Ben")
    assert refused(response, 403, "voice_not_allowed", "voice") == (
        "This API key may not use the voice Ben: choose one of anna, or have it added to the key."
    )
    row = eventually(lambda: RequestLog.objects.filter(pk=response.headers["x-request-id"]).first())
    assert (row.status, row.error_code, row.error_field) == (403, "voice_not_allowed", "voice")
    assert engine.heard == []


def test_a_model_that_the_key_may_not_use(http: httpx.Client, alice: Party) -> None:
    response = say(http, make(alice, allowed_models=["parlance-tiny"]))
    assert refused(response, 403, "model_not_allowed", "model") == (
        "This API key may not use the model scripted-voices: choose one of parlance-tiny, or have "
        "it added to the key."
    )


def test_an_address_outside_the_keys_networks(http: httpx.Client, alice: Party) -> None:
    secret = make(alice, allowed_networks=["192.0.2.0/24", "2001:db8::/32"])
    assert refused(say(http, secret), 403, "address_not_allowed") == (
        "This API key may not be used from 127.0.0.1: call from one of its networks, or have this "
        "one added to it in the console."
    )


def test_an_address_that_the_client_only_claims(http: httpx.Client, alice: Party) -> None:
    secret = make(alice, allowed_networks=["192.0.2.0/24"])
    headers = {"Authorization": f"Bearer {secret}", "X-Forwarded-For": "192.0.2.7"}
    response = http.post("/v1/audio/speech", json=speech(), headers=headers)
    refused(response, 403, "address_not_allowed")


def test_a_socket_from_outside_the_keys_networks(base: str, alice: Party) -> None:
    secret = make(alice, allowed_networks=["192.0.2.0/24"])
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    headers = {"Authorization": f"Bearer {secret}"}
    with pytest.raises(InvalidStatus) as refusal, connect(url, additional_headers=headers):
        pass
    assert refusal.value.response.status_code == 403


@pytest.fixture
def behind_a_proxy(base: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A second web server of the same product, which trusts two proxies."""
    monkeypatch.setattr(settings, "TRUSTED_PROXIES", ["127.0.0.1", "198.51.100.0/24"])
    web = WebThread()
    with httpx.Client(base_url=f"http://{web.address}", timeout=10) as client:
        yield client
    web.close()


@pytest.mark.parametrize(
    ("forwarded", "status"),
    [
        ("192.0.2.7", 200),
        ("192.0.2.7, 198.51.100.9", 200),
        ("192.0.2.7, 203.0.113.5", 403),
        ("203.0.113.5", 403),
        ("nonsense", 403),
    ],
    ids=["client", "two proxies", "claimed by the client", "elsewhere", "no address"],
)
def test_a_trusted_proxy_says_who_calls(
    behind_a_proxy: httpx.Client, alice: Party, forwarded: str, status: int
) -> None:
    secret = make(alice, allowed_networks=["192.0.2.0/24"])
    headers = {"Authorization": f"Bearer {secret}", "X-Forwarded-For": forwarded}
    response = behind_a_proxy.post("/v1/audio/speech", json=speech(), headers=headers)
    assert response.status_code == status


def test_trusted_proxies_must_be_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLANCE_TRUSTED_PROXIES", "10.0.0.0/8, proxy.local")
    with pytest.raises(ImproperlyConfigured, match=r"PROXIES: 'proxy\.local'"):
        environment.networks("PARLANCE_TRUSTED_PROXIES")


def test_ipv4_by_way_of_ipv6_is_ipv4() -> None:
    KeyRules.of(["read"], [], [], ["192.0.2.0/24"]).check_call(KeyScope.READ, "::ffff:192.0.2.1")


def test_networks_as_they_are_typed() -> None:
    assert networks("192.0.2.7, 10.0.0.0/8\n2001:db8::/32,") == [
        "192.0.2.7/32",
        "10.0.0.0/8",
        "2001:db8::/32",
    ]
    with pytest.raises(ValueError, match=r"'10.0.0.1/8' is no network: write 192.0.2.7"):
        networks("10.0.0.1/8")


def test_rotation_overlaps(http: httpx.Client, alice: Party) -> None:
    assert say(http, alice.secret).status_code == 200
    fresh = rotate_key(SYSTEM, alice.key, HOUR)

    assert say(http, fresh).status_code == 200
    assert say(http, alice.secret).status_code == 200
    assert parse(fresh).public_id == alice.key.public_id
    assert fresh != alice.secret
    entry = AuditEntry.objects.get(action="key.rotated")
    assert (entry.tenant, entry.target[-4:]) == (alice.tenant, fresh[-4:])


def test_the_old_secret_ends_with_the_overlap(http: httpx.Client, alice: Party) -> None:
    fresh = rotate_key(SYSTEM, alice.key, timedelta(0))
    assert refused(say(http, alice.secret), 401, "replaced_api_key") == (
        "The secret of this API key was replaced, and its time is over: use the new one."
    )
    assert say(http, fresh).status_code == 200


def test_a_second_rotation_ends_the_oldest_secret(http: httpx.Client, alice: Party) -> None:
    second = rotate_key(SYSTEM, alice.key, HOUR)
    third = rotate_key(SYSTEM, alice.key, HOUR)
    answers = [say(http, secret) for secret in (alice.secret, second, third)]
    assert [answer.status_code for answer in answers] == [401, 200, 200]
    assert answers[0].json()["error"]["code"] == "invalid_api_key"


def test_revoking_ends_both_secrets(http: httpx.Client, alice: Party) -> None:
    fresh = rotate_key(SYSTEM, alice.key, HOUR)
    assert revoke_key(SYSTEM, alice.key) is True
    for secret in (fresh, alice.secret):
        refused(say(http, secret), 401, "revoked_api_key")


def test_a_revoked_key_gets_no_new_secret(alice: Party) -> None:
    revoke_key(SYSTEM, alice.key)
    assert rotate_key(SYSTEM, alice.key, HOUR) is None


def test_rotating_one_tenants_key_leaves_the_others(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    rotate_key(SYSTEM, mallory.key, timedelta(0))
    assert [say(http, party.secret).status_code for party in (alice, bob, mallory)] == [
        200,
        200,
        401,
    ]


def test_a_change_is_in_force_within_a_second(http: httpx.Client, alice: Party) -> None:
    assert say(http, alice.secret).status_code == 200
    assert change_key(SYSTEM, alice.key, scopes=["read"]) is True
    ends_within_a_second(lambda: say(http, alice.secret).status_code != 403)


def test_changing_is_audited_once(alice: Party) -> None:
    until = timezone.now() + HOUR
    rules = {"allowed_voices": ["Anna"], "requests_per_minute": 5, "expires_at": until}
    assert change_key(SYSTEM, alice.key, **rules) is True
    assert change_key(SYSTEM, alice.key, **rules) is False
    entry = AuditEntry.objects.get(action="key.changed")
    assert entry.detail == {"name": "alice's key"}
    assert entry.changes == {
        "allowed_voices": [[], ["Anna"]],
        "requests_per_minute": [None, 5],
        "expires_at": [None, until.isoformat(timespec="seconds")],
    }


def test_a_secret_is_no_rule(alice: Party) -> None:
    with pytest.raises(TypeError, match="not a rule of a key: secret_hash"):
        change_key(SYSTEM, alice.key, secret_hash=b"")


def test_last_use_has_address_and_agent(http: httpx.Client, alice: Party) -> None:
    headers = {**alice.headers, "User-Agent": "OpenAI/Python 3.57.0"}
    http.post("/v1/audio/speech", json=speech(), headers=headers)
    key = eventually(lambda: ApiKey.objects.filter(last_used_at__isnull=False).first())
    assert (key.last_used_address, key.last_used_agent) == ("127.0.0.1", "OpenAI/Python 3.57.0")


def test_an_agent_of_any_length_is_cut(http: httpx.Client, alice: Party) -> None:
    http.get("/v1/models", headers={**alice.headers, "User-Agent": "x" * 1000})
    key = eventually(lambda: ApiKey.objects.filter(last_used_at__isnull=False).first())
    assert len(key.last_used_agent) == 200
