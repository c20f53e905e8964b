"""Limits as a tenant meets them: told what is left, refused for nothing."""

from __future__ import annotations

import re

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, ends_within_a_second, eventually, speech
from tests.ttsapp.limited import TEXT, limit, limit_key, refused, say, spend
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.limits import known, selectors
from ttsapp.limits.rules import Limits
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.services import limit_tenant


def test_it_works(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=3, characters_per_minute=100, concurrent_streams=2)
    response = say(http, alice)

    assert response.status_code == 200
    told = {name: response.headers[name] for name in response.headers if "limit" in name}
    reset = told.pop("x-ratelimit-reset-requests")
    assert told.pop("x-ratelimit-reset-tokens") == reset
    assert 60_000 < int(re.fullmatch(r"(\d+)ms", reset)[1]) <= 65_000
    assert told == {
        "x-ratelimit-limit-requests": "3",
        "x-ratelimit-limit-tokens": "100",
        "x-parlance-streams-limit": "2",
    } | {"x-ratelimit-remaining-requests": "2", "x-ratelimit-remaining-tokens": "88"}
    assert response.headers["x-parlance-streams-remaining"] == "1"


def test_a_tenant_without_limits_of_its_own_has_the_installations(
    http: httpx.Client, alice: Party
) -> None:
    headers = say(http, alice).headers
    assert headers["x-ratelimit-limit-requests"] == "12000"
    assert headers["x-ratelimit-limit-tokens"] == "3000000"
    assert headers["x-parlance-streams-limit"] == "1000"
    assert "x-parlance-budget-limit" not in headers


def test_requests_a_minute(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    limit(alice, requests_per_minute=1)
    assert say(http, alice).status_code == 200
    response = say(http, alice)

    message = refused(response, "rate_limit_exceeded", "account.requests_per_minute")
    assert message.startswith("This account may begin 1 request a minute. Try again in 6")
    assert response.headers["x-ratelimit-remaining-requests"] == "0"
    assert 55_000 < int(response.headers["retry-after-ms"]) <= 65_000
    assert "x-should-retry" not in response.headers
    assert len(engine.heard) == 1


def test_characters_a_minute(http: httpx.Client, alice: Party) -> None:
    limit(alice, characters_per_minute=20)
    assert say(http, alice).status_code == 200
    message = refused(say(http, alice), "rate_limit_exceeded", "account.characters_per_minute")
    assert message.startswith("This account may speak 20 characters a minute. Try again in 6")


def test_a_text_that_no_waiting_would_let_through(http: httpx.Client, alice: Party) -> None:
    limit(alice, characters_per_minute=5)
    response = say(http, alice)

    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"]) == ("string_above_max_length", "input")
    assert error["message"] == (
        "The text has 12 characters, and this account may speak 5 a minute: "
        "send it in smaller parts, or ask for a higher limit."
    )


def test_streams_at_once(http: httpx.Client, alice: Party, engine: ScriptedEngine) -> None:
    limit(alice, concurrent_streams=1)
    engine.script.hold_after = 2
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as first:
        response = say(http, alice)
        message = refused(response, "concurrent_limit_exceeded", "account.concurrent_streams")
        engine.release.set()
        first.read()
    engine.script.hold_after = None

    assert message == "This account may have 1 stream at once. Wait until one ends."
    assert response.headers["retry-after-ms"] == "1000"
    assert say(http, alice).status_code == 200


def test_a_client_that_leaves_frees_its_stream(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    engine.script.hold_after = 2
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as first:
        next(first.iter_raw())
    engine.script.hold_after = None
    eventually(lambda: say(http, alice).status_code == 200)


def test_a_stream_that_fails_frees_its_place(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    engine.script.hang_up_after = 0
    assert say(http, alice).status_code >= 500
    engine.script.hang_up_after = None
    eventually(lambda: say(http, alice).status_code == 200)


def test_a_spent_budget(http: httpx.Client, alice: Party) -> None:
    spend(alice, 90)
    limit(alice, hard_monthly_characters=100)
    response = say(http, alice)

    message = refused(response, "insufficient_quota", "account.hard_monthly_characters")
    assert message == (
        "This account may speak 100 characters a month, and too few are left for these 12. "
        "Raise its budget, or wait for the next month."
    )
    assert response.headers["x-should-retry"] == "false"
    assert response.headers["x-parlance-budget-remaining"] == "10"
    assert 0 < int(response.headers["Retry-After"]) <= 31 * 86_400


def test_a_budget_is_spent_request_by_request(http: httpx.Client, alice: Party) -> None:
    spend(alice, 70)
    limit(alice, hard_monthly_characters=100)
    left = [say(http, alice).headers["x-parlance-budget-remaining"] for _ in range(3)]
    assert left == ["18", "6", "6"]
    assert eventually(lambda: UsageEvent.objects.filter(outcome="completed").count() == 3)


def test_what_others_spent_of_a_budget_is_read_again(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "SPENT_MS", -2)
    limit(alice, hard_monthly_characters=100_000)
    assert say(http, alice).headers["x-parlance-budget-remaining"] == "99988"
    spend(alice, 90_000)
    eventually(lambda: int(say(http, alice).headers["x-parlance-budget-remaining"]) < 10_000)


def test_where_nobody_knows_what_is_spent_a_budget_is_a_503(
    http: httpx.Client, alice: Party, bob: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> int:
        raise OperationalError("the database is away")

    monkeypatch.setattr(selectors, "spent", away)
    limit(alice, hard_monthly_characters=100)
    assert [say(http, party).status_code for party in (alice, bob)] == [503, 200]


def test_what_failed_costs_no_budget(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, hard_monthly_characters=12)
    engine.script.hang_up_after = 0
    assert say(http, alice).status_code >= 500
    engine.script.hang_up_after = None
    eventually(lambda: say(http, alice).status_code == 200)
    assert say(http, alice).status_code == 429


def test_a_soft_budget_warns(http: httpx.Client, alice: Party) -> None:
    limit(alice, soft_monthly_characters=12)
    first, second = say(http, alice), say(http, alice)
    assert (first.status_code, second.status_code) == (200, 200)
    assert "x-parlance-budget-warning" not in first.headers
    assert second.headers["x-parlance-budget-warning"] == "soft"


def test_a_keys_limit_within_its_tenants(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=10)
    limit_key(alice, requests_per_minute=1)
    response = say(http, alice)
    assert response.headers["x-ratelimit-limit-requests"] == "1"
    message = refused(say(http, alice), "rate_limit_exceeded", "key.requests_per_minute")
    assert message.startswith("This key may begin 1 request a minute.")


def test_a_key_has_a_budget_of_its_own(http: httpx.Client, alice: Party) -> None:
    limit(alice, hard_monthly_characters=1000)
    limit_key(alice, hard_monthly_characters=20)
    assert say(http, alice).headers["x-parlance-budget-remaining"] == "8"
    refused(say(http, alice), "insufficient_quota", "key.hard_monthly_characters")


def test_what_is_refused_is_free_and_logged(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=1)
    assert say(http, alice).status_code == 200
    response = say(http, alice)

    row = eventually(lambda: RequestLog.objects.filter(pk=response.headers["x-request-id"]).first())
    assert (row.status, row.error_code, row.characters) == (429, "rate_limit_exceeded", 0)
    assert row.key == alice.key
    assert UsageEvent.objects.count() == 1
    assert not Reservation.objects.exists()


def test_a_refused_event_stream_is_a_429(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=1)
    assert say(http, alice, stream_format="sse").status_code == 200
    refused(
        say(http, alice, stream_format="sse"), "rate_limit_exceeded", "account.requests_per_minute"
    )


def test_a_whole_answer_tells_what_is_left(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=5)
    response = say(http, alice, stream=False)
    assert response.headers["x-ratelimit-remaining-requests"] == "4"


def test_a_person_at_the_console_speaks_within_the_tenants_limits(base: str, alice: Party) -> None:
    from tests.ttsapp.browser import browser

    limit(alice, requests_per_minute=1)
    body = {"input": TEXT, "model": "tts-1", "voice": "Anna", "stream_format": "sse"}
    with browser(base, "alice") as client:
        answers = [client.post("/console/alice/speak", json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]


def test_limits_changed_are_in_force_within_a_second(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=1)
    assert say(http, alice).status_code == 200
    assert say(http, alice).status_code == 429
    limit(alice, requests_per_minute=100)
    ends_within_a_second(lambda: say(http, alice).status_code == 429)


def test_changing_limits_is_audited_once(alice: Party) -> None:
    limits = Limits(requests_per_minute=7)
    assert limit_tenant(SYSTEM, alice.tenant, limits) is True
    assert limit_tenant(SYSTEM, alice.tenant, limits) is False
    entry = AuditEntry.objects.get(action="tenant.limited")
    assert (entry.tenant, entry.changes) == (alice.tenant, {"requests_per_minute": [None, 7]})


@pytest.fixture
def three(alice: Party, bob: Party, mallory: Party) -> tuple[Party, Party, Party]:
    return alice, bob, mallory


def test_one_tenants_burst_refuses_nobody_else(
    http: httpx.Client, three: tuple[Party, Party, Party]
) -> None:
    alice, bob, mallory = three
    for party in three:
        limit(party, requests_per_minute=2, hard_monthly_characters=30)
    assert [say(http, mallory).status_code for _ in range(6)] == [200, 200, 429, 429, 429, 429]
    for party in (alice, bob):
        response = say(http, party)
        assert response.content == spoken(5)
        assert response.headers["x-ratelimit-remaining-requests"] == "1"
        assert response.headers["x-parlance-budget-remaining"] == "18"


def test_the_defaults_are_settings() -> None:
    assert settings.TENANT_LIMITS == {
        "requests_per_minute": 12_000,
        "characters_per_minute": 3_000_000,
        "concurrent_streams": 1000,
    }
