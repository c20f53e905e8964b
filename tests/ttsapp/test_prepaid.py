"""Prepaid credit as a tenant meets it: refused when used up, served again when there is more."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest
from django.db import OperationalError
from websockets.sync.client import connect

from billing.credit.models import Reason
from billing.credit.services import book
from billing.invoices.parties import save_details
from billing.models import Reservation, UsageEvent
from tests.billing.selling import EUR, fresh_prices, price_book, seller, speak
from tests.ttsapp import cartesia_calls
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.audit.services import SYSTEM
from ttsapp.limits import known, selectors
from ttsapp.speech.models import RequestLog

__all__ = ["fresh_prices"]
pytestmark = pytest.mark.usefixtures("fresh_prices")

TEXT = "Hello there."
# Of ten euros a million: a character costs ten micros.
CENT = EUR // 100


@pytest.fixture
def prices(alice: Party) -> None:
    price_book()


def put_on_credit(*parties: Party, is_prepaid: bool = True) -> None:
    by, month = seller(), datetime.now(UTC).date().replace(day=1)
    for party in parties:
        fields = {"seller": by, "name": "X", "next_month": month, "is_prepaid": is_prepaid}
        save_details(SYSTEM, party.tenant, **fields)


def pay(party: Party, micros: int = CENT) -> None:
    book(SYSTEM, party.tenant, Reason.PAID, micros, "EUR")


def use_up(party: Party, characters: int) -> None:
    speak(party.tenant, characters, datetime.now(UTC))


def say(http: httpx.Client, party: Party, text: str = TEXT) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(text), headers=party.headers)


def test_it_works(http: httpx.Client, alice: Party, prices: None) -> None:
    put_on_credit(alice)
    pay(alice)
    response = say(http, alice)
    assert response.content == spoken(5)
    assert response.headers["x-parlance-credit-remaining"] == "988"


def test_used_up_credit_is_refused_and_the_remedy_named(
    http: httpx.Client, alice: Party, prices: None, engine: ScriptedEngine
) -> None:
    put_on_credit(alice)
    pay(alice)
    use_up(alice, 990)
    response = say(http, alice)

    assert response.status_code == 429
    assert response.json()["error"] == {
        "message": (
            "This account's prepaid credit is used up, or too little is left for these 12 "
            "characters. Top it up: whoever runs this service books what is paid, and it counts "
            "at once."
        ),
        "type": "rate_limit_error",
        "code": "insufficient_quota",
        "param": None,
    }
    assert response.headers["x-parlance-limit"] == "account.prepaid_credit"
    assert response.headers["x-parlance-credit-remaining"] == "10"
    assert response.headers["x-should-retry"] == "false"
    assert "Retry-After" not in response.headers
    assert engine.heard == []


def test_what_is_refused_is_free_and_logged(http: httpx.Client, alice: Party, prices: None) -> None:
    put_on_credit(alice)
    response = say(http, alice)
    row = eventually(lambda: RequestLog.objects.filter(pk=response.headers["x-request-id"]).first())
    assert (row.status, row.error_code) == (429, "insufficient_quota")
    assert not UsageEvent.objects.exists()
    assert not Reservation.objects.exists()


def test_a_top_up_counts_at_once(http: httpx.Client, alice: Party, prices: None) -> None:
    put_on_credit(alice)
    assert say(http, alice).status_code == 429
    pay(alice)
    assert say(http, alice).status_code == 200


def test_it_is_used_up_request_by_request(http: httpx.Client, alice: Party, prices: None) -> None:
    put_on_credit(alice)
    pay(alice)
    use_up(alice, 970)
    answers = [say(http, alice) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    left = [answer.headers["x-parlance-credit-remaining"] for answer in answers]
    assert left == ["18", "6", "6"]


def test_what_others_used_up_is_read_again(
    http: httpx.Client, alice: Party, prices: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "CREDIT_SPENT_MS", -1)
    put_on_credit(alice)
    pay(alice, EUR)
    assert say(http, alice).headers["x-parlance-credit-remaining"] == "99988"
    use_up(alice, 90_000)
    eventually(lambda: int(say(http, alice).headers["x-parlance-credit-remaining"]) < 10_000)


def test_where_nobody_knows_what_is_used_up_it_is_a_503(
    http: httpx.Client,
    alice: Party,
    prices: None,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_: object) -> int:
        raise OperationalError("the database is away")

    monkeypatch.setattr(selectors, "used", away)
    put_on_credit(alice)
    pay(alice)
    assert say(http, alice).status_code == 503
    assert engine.heard == []


def test_what_runs_ends_normally(
    http: httpx.Client, alice: Party, prices: None, engine: ScriptedEngine
) -> None:
    put_on_credit(alice)
    pay(alice)
    use_up(alice, 980)
    engine.script.hold_after = 2
    with http.stream("POST", "/v1/audio/speech", json=speech(TEXT), headers=alice.headers) as first:
        assert say(http, alice).status_code == 429
        use_up(alice, 1000)
        engine.release.set()
        assert first.read() == spoken(5)
    event = eventually(lambda: UsageEvent.objects.filter(key=alice.key).first())
    assert (event.outcome, event.billed_characters) == ("completed", 12)


def test_what_failed_uses_up_nothing(
    http: httpx.Client, alice: Party, prices: None, engine: ScriptedEngine
) -> None:
    put_on_credit(alice)
    pay(alice)
    use_up(alice, 988)
    engine.script.hang_up_after = 0
    assert say(http, alice).status_code >= 500
    engine.script.hang_up_after = None
    eventually(lambda: say(http, alice).status_code == 200)
    assert say(http, alice).status_code == 429


def test_who_is_billed_afterwards_speaks_without_credit(
    http: httpx.Client, alice: Party, prices: None
) -> None:
    put_on_credit(alice, is_prepaid=False)
    response = say(http, alice)
    assert response.status_code == 200
    assert "x-parlance-credit-remaining" not in response.headers


def test_what_costs_nothing_needs_no_credit(http: httpx.Client, alice: Party) -> None:
    put_on_credit(alice)
    assert say(http, alice).status_code == 200


def test_taken_off_credit_a_tenant_speaks_on(
    http: httpx.Client, alice: Party, prices: None
) -> None:
    put_on_credit(alice)
    assert say(http, alice).status_code == 429
    details = alice.tenant.billing_details
    fields = {"seller": details.seller, "name": "X", "next_month": details.next_month}
    save_details(SYSTEM, alice.tenant, **fields, is_prepaid=False)
    assert say(http, alice).status_code == 200


def test_one_tenants_credit_is_not_anothers(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party, prices: None
) -> None:
    put_on_credit(alice, bob)
    pay(alice)
    assert [say(http, party).status_code for party in (alice, bob, mallory)] == [200, 429, 200]


def test_a_person_at_the_console_speaks_on_the_tenants_credit(
    base: str, alice: Party, prices: None
) -> None:
    put_on_credit(alice)
    body = {"input": TEXT, "model": "tts-1", "voice": "Anna", "stream_format": "sse"}
    with browser(base, "alice") as client:
        answers = [client.post("/console/alice/speak", json=body)]
        pay(alice)
        answers.append(client.post("/console/alice/speak", json=body))
    assert [answer.status_code for answer in answers] == [429, 200]


SHAPES = {
    "openai": ("/v1/audio/speech", speech(TEXT), 429, ("error", "code"), "insufficient_quota"),
    "deepgram": ("/v1/speak", {"text": TEXT}, 429, ("err_code",), "INSUFFICIENT_QUOTA"),
    "cartesia": (
        "/tts/bytes",
        cartesia_calls.body(transcript=TEXT),
        429,
        ("error_code",),
        "insufficient_quota",
    ),
    "elevenlabs": (
        "/v1/text-to-speech/Anna",
        {"text": TEXT},
        401,
        ("detail", "status"),
        "quota_exceeded",
    ),
    "dashscope": (
        "/api/v1/services/aigc/multimodal-generation/generation",
        {"model": "qwen3-tts-flash", "input": {"text": TEXT, "voice": "Cherry"}},
        429,
        ("code",),
        "Throttling.InsufficientQuota",
    ),
}


@pytest.mark.parametrize("dialect", SHAPES)
def test_every_api_refuses_in_its_own_shape(
    http: httpx.Client, alice: Party, prices: None, engine: ScriptedEngine, dialect: str
) -> None:
    path, body, status, place, code = SHAPES[dialect]
    put_on_credit(alice)
    response = http.post(path, json=body, headers=alice.headers)

    said = response.json()
    for name in place:
        said = said[name]
    assert (response.status_code, said) == (status, code)
    assert "prepaid credit is used up" in response.text
    assert response.headers["x-parlance-limit"] == "account.prepaid_credit"
    assert engine.heard == []


def test_on_a_socket_the_utterance_fails_and_after_a_top_up_the_next_is_spoken(
    base: str, alice: Party, prices: None
) -> None:
    put_on_credit(alice)
    url = base.replace("http", "ws", 1) + "/v1/audio/speech/ws"
    start = {"type": "start", "voice": "alloy", "response_format": "pcm"}

    def last(socket) -> dict[str, object]:
        for message in (start, {"type": "text", "text": TEXT}, {"type": "end"}):
            socket.send(json.dumps(message))
        while True:
            message = socket.recv(timeout=10)
            if isinstance(message, str) and json.loads(message)["type"] in ("error", "finished"):
                return json.loads(message)

    with connect(url, additional_headers=alice.headers) as socket:
        refused = last(socket)
        pay(alice)
        assert last(socket)["type"] == "finished"
    assert refused["error"]["code"] == "insufficient_quota"
