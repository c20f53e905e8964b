"""Limits as a tenant meets them: told what is left, refused in its API's own shape, for nothing."""

from __future__ import annotations

import json
import re
import threading

import httpx
import openai
import pytest
from django.conf import settings
from django.db import OperationalError
from websockets.sync.client import connect

from billing import services as billing
from billing.models import Reservation, UsageEvent
from billing.rating import Outcome
from tests.ttsapp import cartesia_calls
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp import ids
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey
from ttsapp.limits import known, selectors
from ttsapp.limits.rules import Limits
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.services import limit_tenant

TEXT = "Hello there."


def say(http: httpx.Client, party: Party, text: str = TEXT, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(text, **fields), headers=party.headers)


def limit(party: Party, **limits: int) -> None:
    assert limit_tenant(SYSTEM, party.tenant, Limits(**limits))


def limit_key(party: Party, **limits: int) -> None:
    ApiKey.objects.filter(pk=party.key.pk).update(**limits)


def spend(party: Party, characters: int) -> None:
    """In the ledger, by a request that ended a moment ago."""
    request = billing.Metered(ids.uuid7(), party.tenant.pk, party.key.pk, "model", "Anna")
    billing.settle(request, billing.Usage(Outcome.COMPLETED, characters, characters))


def refused(response: httpx.Response, code: str, limited: str) -> str:
    assert response.status_code == 429
    error = response.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("rate_limit_error", code, None)
    assert response.headers["x-parlance-limit"] == limited
    wait_ms = int(response.headers["retry-after-ms"])
    assert int(response.headers["Retry-After"]) == -(-wait_ms // 1000)
    return error["message"]


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
    assert message.startswith("This account may begin 1 requests a minute. Try again in 6")
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

    assert message == "This account may have 1 streams at once. Wait until one ends."
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
    assert message.startswith("This key may begin 1 requests a minute.")


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


def test_deepgrams_shape(http: httpx.Client, alice: Party) -> None:
    limit(alice, requests_per_minute=1)
    first = http.post("/v1/speak", json={"text": "Hi."}, headers=alice.headers)
    response = http.post("/v1/speak", json={"text": "Hi."}, headers=alice.headers)

    assert first.headers["x-ratelimit-remaining-requests"] == "0"
    assert response.status_code == 429
    assert response.json()["err_code"] == "RATE_LIMIT_EXCEEDED"
    assert response.headers["x-parlance-limit"] == "account.requests_per_minute"
    assert int(response.headers["Retry-After"]) >= 55


EVERY_API = [
    ("/v1/audio/speech", speech(TEXT)),
    ("/v1/speak", {"text": TEXT}),
    ("/tts/bytes", cartesia_calls.body(transcript=TEXT)),
    ("/v1/text-to-speech/Anna", {"text": TEXT}),
]


@pytest.mark.parametrize(("path", "body"), EVERY_API, ids=[path for path, _ in EVERY_API])
def test_no_api_forgets_the_limits(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, path: str, body: dict[str, object]
) -> None:
    limit(alice, requests_per_minute=1, hard_monthly_characters=1000)
    answers = [http.post(path, json=body, headers=alice.headers) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert [answer.headers["x-ratelimit-remaining-requests"] for answer in answers] == ["0", "0"]
    assert answers[1].headers["x-parlance-limit"] == "account.requests_per_minute"
    assert "may begin 1 requests a minute" in answers[1].text
    assert len(engine.heard) == 1


def test_elevenlabs_clients_learn_of_a_spent_budget_as_they_expect(
    http: httpx.Client, alice: Party
) -> None:
    limit(alice, hard_monthly_characters=5)
    answer = http.post("/v1/text-to-speech/Anna", json={"text": TEXT}, headers=alice.headers)
    assert answer.status_code == 401
    assert answer.json()["detail"]["status"] == "quota_exceeded"


def test_openais_client_does_not_try_a_spent_budget_again(
    base: str, http: httpx.Client, alice: Party
) -> None:
    limit(alice, hard_monthly_characters=5)
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=2) as client,
        pytest.raises(openai.RateLimitError) as refusal,
    ):
        client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT)
    assert refusal.value.code == "insufficient_quota"
    eventually(lambda: RequestLog.objects.count() == 1)


def test_openais_client_waits_for_a_stream_and_is_served(
    base: str, http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    engine.next_scripts.append(Script(hold_after=2))
    with (
        openai.OpenAI(base_url=f"{base}/v1", api_key=alice.secret, max_retries=2) as client,
        http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as first,
    ):
        next(first.iter_raw())
        threading.Timer(0.3, engine.release.set).start()
        spoken_at_last = client.audio.speech.create(
            model="tts-1", voice="alloy", input=TEXT, response_format="pcm"
        )
    assert spoken_at_last.content == spoken(5)


def test_text_that_comes_later_counts_when_its_utterance_ends(
    base: str, http: httpx.Client, alice: Party
) -> None:
    limit(alice, characters_per_minute=60, hard_monthly_characters=1000)
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    messages = (
        {"type": "start", "voice": "alloy", "response_format": "pcm"},
        {"type": "text", "text": "A first sentence. "},
        {"type": "text", "text": "And a second one, which is longer. "},
        {"type": "end"},
    )
    with connect(url, additional_headers=alice.headers) as socket:
        for message in messages:
            socket.send(json.dumps(message))
        while not (isinstance(told := socket.recv(timeout=10), str) and "finished" in told):
            pass
    response = say(http, alice)
    refused(response, "rate_limit_exceeded", "account.characters_per_minute")
    characters = sum(len(str(message.get("text", ""))) for message in messages)
    assert response.headers["x-ratelimit-remaining-tokens"] == str(60 - characters)
    assert response.headers["x-parlance-budget-remaining"] == str(1000 - characters)


def test_on_a_socket_the_utterance_fails_and_the_socket_goes_on(
    base: str, alice: Party, engine: ScriptedEngine
) -> None:
    limit(alice, concurrent_streams=1)
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    start = {"type": "start", "model": "tts-1", "voice": "alloy", "response_format": "pcm"}
    engine.script.hold_after = 1

    def begin(socket, text: str = TEXT) -> None:
        for message in (start, {"type": "text", "text": text}, {"type": "end"}):
            socket.send(json.dumps(message))

    def last(socket) -> dict[str, object]:
        while True:
            message = socket.recv(timeout=10)
            if isinstance(message, str) and json.loads(message)["type"] in ("error", "finished"):
                return json.loads(message)

    headers = alice.headers
    with connect(url, additional_headers=headers) as one:
        begin(one)
        engine.wait_for_stream()
        with connect(url, additional_headers=headers) as other:
            begin(other)
            error = last(other)
            engine.release.set()
            assert last(one)["type"] == "finished"
            engine.script.hold_after = None
            begin(other)
            assert last(other)["type"] == "finished"
    assert error["error"]["code"] == "concurrent_limit_exceeded"
    assert len(engine.heard) == 2


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
    eventually(lambda: say(http, alice).status_code == 200, seconds=1)


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
