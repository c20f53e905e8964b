"""A request that is sent twice under one key is spoken and charged once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.utils import timezone

from billing.models import UsageEvent
from tests.billing.selling import fresh_prices, price_book
from tests.ttsapp import cartesia_calls
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.elevenlabs_calls import CALLS
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from tests.ttsapp.test_prepaid import pay, put_on_credit
from ttsapp import recent
from ttsapp.audit.services import SYSTEM
from ttsapp.idempotency import services
from ttsapp.idempotency.models import KeyedRequest
from ttsapp.idempotency.services import prune
from ttsapp.keys.services import change_key
from ttsapp.tenants.models import Tenant

__all__ = ["fresh_prices"]

LIMITS = ("x-ratelimit-", "x-parlance-streams-", "x-parlance-budget-")
URL = "/v1/audio/speech"
DASHSCOPE = {"model": "qwen3-tts-flash", "input": {"text": "Hello there.", "voice": "Cherry"}}
EVERY_DIALECT: list[tuple[str, dict[str, object]]] = [
    (URL, speech()),
    ("/deepgram/v1/speak?model=aura-2-thalia-en", {"text": "Hello there."}),
    ("/tts/bytes", cartesia_calls.body()),
    ("/tts/sse", cartesia_calls.body()),
    *((f"/v1/text-to-speech/Anna{call}", {"text": "Hello there."}) for call in CALLS),
    ("/api/v1/services/aigc/multimodal-generation/generation", DASHSCOPE),
]
FORMS = [{}, {"stream_format": "sse"}, {"stream": False}]


def say(
    http: httpx.Client, party: Party, key: str = "one", url: str = URL, **fields: object
) -> httpx.Response:
    headers = {**party.headers, "Idempotency-Key": key}
    return http.post(url, json=speech(**fields), headers=headers)


def charged() -> list[int]:
    return list(UsageEvent.objects.order_by("pk").values_list("billed_characters", flat=True))


@pytest.mark.parametrize("form", FORMS, ids=["bytes", "sse", "whole"])
def test_it_works(http: httpx.Client, alice: Party, form: dict[str, object]) -> None:
    first = say(http, alice, **form)
    second = say(http, alice, **form)

    assert second.status_code == 200
    assert second.content == first.content
    assert second.headers["content-type"] == first.headers["content-type"]
    assert second.headers["x-parlance-seed"] == first.headers["x-parlance-seed"]
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert second.headers["x-parlance-first-request"] == first.headers["x-request-id"]
    assert charged() == [12]


@pytest.mark.parametrize("budget", [None, 1000])
def test_a_replay_tells_what_is_left_and_takes_none_of_it(
    http: httpx.Client, alice: Party, budget: int | None
) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(
        requests_per_minute=10, hard_monthly_characters=budget
    )
    answers = [say(http, alice) for _ in range(3)]
    left = [answer.headers["x-ratelimit-remaining-requests"] for answer in answers]
    assert left == ["9", "9", "9"]
    assert answers[2].headers["x-ratelimit-limit-requests"] == "10"
    told = [{n for n in answer.headers if n.startswith(LIMITS)} for answer in answers]
    assert told[0] == told[1] == told[2]


def test_a_replay_tells_the_limits_that_hold_and_what_runs_now(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    limits = {"concurrent_streams": 3, "hard_monthly_characters": 100}
    Tenant.objects.filter(pk=alice.tenant.pk).update(**limits)
    first = say(http, alice)
    engine.script.hold_after = 2
    with http.stream("POST", URL, json=speech(), headers=alice.headers) as running:
        second = say(http, alice)
        engine.release.set()
        running.read()

    # The first tells of itself, and the replay of the one that runs: each is one of three.
    for answer in (first, second):
        assert answer.headers["x-parlance-streams-limit"] == "3"
        assert answer.headers["x-parlance-streams-remaining"] == "2"
    assert second.headers["idempotent-replayed"] == "true"
    assert second.headers["x-parlance-budget-limit"] == "100"
    assert second.headers["x-parlance-budget-remaining"] == "76"


def test_where_nothing_runs_a_replay_tells_of_every_stream(
    http: httpx.Client, alice: Party
) -> None:
    for _ in range(2):
        answer = say(http, alice)
    assert answer.headers["idempotent-replayed"] == "true"
    assert answer.headers["x-parlance-streams-limit"] == "1000"
    assert answer.headers["x-parlance-streams-remaining"] == "1000"


@pytest.mark.usefixtures("fresh_prices")
def test_a_replay_does_not_tell_the_credit_of_the_first_time(
    http: httpx.Client, alice: Party
) -> None:
    price_book()
    put_on_credit(alice)
    pay(alice)
    first, second = say(http, alice), say(http, alice)
    assert first.headers["x-parlance-credit-remaining"] == "988"
    assert second.headers["idempotent-replayed"] == "true"
    assert "x-parlance-credit-remaining" not in second.headers


@pytest.mark.parametrize(("url", "body"), EVERY_DIALECT, ids=[url for url, _ in EVERY_DIALECT])
def test_every_dialect_has_it_and_replays_only_what_the_key_may_still_speak(
    http: httpx.Client,
    alice: Party,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    body: dict[str, object],
) -> None:
    monkeypatch.setattr(recent, "FRESH_SECONDS", 0.0)
    headers = {**alice.headers, "Idempotency-Key": "one"}
    for _ in range(2):
        answer = http.post(url, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    assert answer.headers["idempotent-replayed"] == "true"

    change_key(SYSTEM, alice.key, allowed_voices=["nobody"])

    assert http.post(url, json=body, headers=headers).status_code == 403
    assert charged() == [12]


def test_without_a_key_each_is_a_request_of_its_own(http: httpx.Client, alice: Party) -> None:
    for _ in range(2):
        http.post(URL, json=speech(), headers=alice.headers)
    assert charged() == [12, 12]
    assert not KeyedRequest.objects.exists()


@pytest.mark.parametrize(
    "other", [{"text": "Something else."}, {"voice": "nova"}, {"url": f"{URL}?again"}]
)
def test_another_request_under_the_same_key_is_refused(
    http: httpx.Client, alice: Party, other: dict[str, str]
) -> None:
    say(http, alice)
    refused = say(http, alice, **other)
    assert refused.status_code == 422
    error = refused.json()["error"]
    assert (error["code"], error["param"]) == ("idempotency_key_reused", "Idempotency-Key")
    assert charged() == [12]


def test_another_form_of_the_answer_is_another_request(http: httpx.Client, alice: Party) -> None:
    url = "/api/v1/services/aigc/multimodal-generation/generation"
    headers = {**alice.headers, "Idempotency-Key": "one"}
    asked = [headers, {**headers, "X-DashScope-SSE": "enable"}]
    answers = [http.post(url, json=DASHSCOPE, headers=each).status_code for each in asked]
    assert answers == [200, 422]


@pytest.mark.parametrize("key", ["", "x" * 256, "naïve".encode()])
def test_a_key_that_is_none_is_refused(http: httpx.Client, alice: Party, key: str | bytes) -> None:
    refused = say(http, alice, key)  # type: ignore[arg-type]
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "Idempotency-Key"
    assert charged() == []


def test_keys_of_others_are_others(http: httpx.Client, alice: Party, mallory: Party) -> None:
    say(http, alice)
    theirs = say(http, mallory)
    assert "idempotent-replayed" not in theirs.headers
    assert charged() == [12, 12]


def test_one_that_comes_meanwhile_is_told_to_wait(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 1
    headers = {**alice.headers, "Idempotency-Key": "one"}
    with http.stream("POST", URL, json=speech(), headers=headers) as first:
        meanwhile = say(http, alice)
        engine.release.set()
        assert first.read() == spoken(5)

    assert meanwhile.status_code == 409
    assert meanwhile.json()["error"]["code"] == "idempotency_in_progress"
    assert meanwhile.headers["retry-after"] == "1"
    assert say(http, alice).content == spoken(5)
    assert charged() == [12]


def test_what_failed_may_be_tried_again(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hang_up_after = 0
    assert say(http, alice).status_code == 503
    eventually(lambda: not KeyedRequest.objects.exists())
    engine.script.hang_up_after = None

    again = say(http, alice)

    assert (again.status_code, again.content) == (200, spoken(5))
    assert charged() == [0, 12]


def test_who_left_is_spoken_to_again(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.script.hold_after = 2
    headers = {**alice.headers, "Idempotency-Key": "one"}
    with http.stream("POST", URL, json=speech(), headers=headers) as first:
        next(first.iter_raw())
    eventually(lambda: UsageEvent.objects.filter(outcome="cancelled").exists())
    engine.release.set()

    assert eventually(lambda: say(http, alice).status_code == 200)
    assert charged()[1:] == [12]


def test_an_answer_that_is_too_long_is_not_kept_and_not_charged_twice(
    http: httpx.Client, alice: Party, settings: LazySettings
) -> None:
    settings.IDEMPOTENCY_BYTES = len(spoken(5)) - 1
    first = say(http, alice)
    second = say(http, alice)
    assert first.content == spoken(5)
    assert second.status_code == 409
    error = second.json()["error"]
    assert error["code"] == "idempotency_answer_not_kept"
    assert first.headers["x-request-id"] in error["message"]
    assert charged() == [12]


def test_a_request_that_a_dead_process_left_is_taken_over(http: httpx.Client, alice: Party) -> None:
    say(http, alice)
    KeyedRequest.objects.update(is_running=True, request_id=UUID(int=1))
    assert say(http, alice).status_code == 409

    KeyedRequest.objects.update(leased_until=timezone.now())

    assert say(http, alice).status_code == 200
    assert charged() == [12, 12]


def test_what_was_charged_is_not_spoken_again_though_its_answer_was_lost(
    http: httpx.Client, alice: Party
) -> None:
    say(http, alice)
    lost = {"is_running": True, "body": None, "leased_until": timezone.now()}
    KeyedRequest.objects.update(**lost)

    refused = say(http, alice)

    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "idempotency_answer_not_kept"
    assert charged() == [12]


def test_one_of_two_takes_over_what_a_dead_process_left(
    alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that it is left behind before either takes it."""
    dead, first, second = (
        services.Claim(alice.tenant.id, alice.key.id, "one", "same", UUID(int=number))
        for number in (1, 2, 3)
    )
    assert services.claim(dead) is None
    KeyedRequest.objects.update(leased_until=timezone.now())
    real, taken = services._is_abandoned, []

    def meanwhile(found: KeyedRequest) -> bool:
        if not taken:
            taken.append(True)
            assert services.claim(first) is None
        return real(found) or found.request_id == dead.request_id

    monkeypatch.setattr(services, "_is_abandoned", meanwhile)
    answer = services.claim(second)

    assert answer is not None
    assert (answer.request_id, answer.is_running) == (first.request_id, True)
    assert KeyedRequest.objects.get().request_id == first.request_id


def test_an_answer_is_kept_past_a_cut_connection(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease goes on meanwhile."""
    real, held = services.keep, []
    monkeypatch.setattr(services, "LEASE", timedelta(seconds=0.2))  # renewed at every fourth

    def cut_twice(*asked: Any) -> bool:
        held.append(KeyedRequest.objects.get().leased_until)
        if len(held) < 3:
            raise OperationalError("the connection was cut")
        return real(*asked)

    monkeypatch.setattr(services, "keep", cut_twice)
    first = say(http, alice)
    again = say(http, alice)
    assert again.headers["x-parlance-first-request"] == first.headers["x-request-id"]
    assert held[0] < held[2]
    assert charged() == [12]


def test_nothing_is_kept_or_let_go_of_before_the_ledger_knows(alice: Party) -> None:
    early = services.Claim(alice.tenant.id, alice.key.id, "one", "same", UUID(int=1))
    assert services.claim(early) is None
    with pytest.raises(OperationalError):
        services.keep(early, {}, b"")
    assert KeyedRequest.objects.get().is_running


def test_one_that_lasts_keeps_its_key(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "LEASE", timedelta(seconds=0.2))
    engine.script.hold_after = 1
    headers = {**alice.headers, "Idempotency-Key": "one"}
    with http.stream("POST", URL, json=speech(), headers=headers) as first:
        began = KeyedRequest.objects.get().leased_until
        assert eventually(lambda: KeyedRequest.objects.get().leased_until > began)
        engine.release.set()
        assert first.read() == spoken(5)


def test_answers_are_kept_for_a_time_and_to_a_size(
    http: httpx.Client, alice: Party, bob: Party, settings: LazySettings
) -> None:
    for party, key in ((alice, "old"), (alice, "new"), (bob, "old")):
        say(http, party, key)
    settings.IDEMPOTENCY_TENANT_BYTES = len(spoken(5))

    assert prune() == 1

    assert "idempotent-replayed" in say(http, alice, "new").headers
    assert "idempotent-replayed" in say(http, bob, "old").headers
    assert prune(timezone.now() + timedelta(hours=25)) == 2
