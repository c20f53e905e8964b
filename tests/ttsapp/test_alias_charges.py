"""What an alias costs: by what is spoken, wherever characters are counted, and settled once."""

from __future__ import annotations

import time

import httpx
import pytest
from django.db import DataError, IntegrityError
from structlog.testing import capture_logs

from billing.models import Reservation, UsageEvent
from tests.ttsapp.conftest import Party, eventually, speech
from tests.ttsapp.limited import limit, spend
from tests.ttsapp.scripted_engine import Script, ScriptedEngine, spoken
from ttsapp import database
from ttsapp.audit.services import SYSTEM
from ttsapp.lexicon.services import add_word
from ttsapp.speech.models import RequestLog

# Each of the three is a part of its own.
SENTENCE = "x" * 118 + ". "
ALIASED = f'<speak><sub alias="{SENTENCE * 3}">a</sub></speak>'
SHORT = '<speak><sub alias="Thirty characters to be spoken">a</sub></speak>'


def asked(text: str, **fields: object) -> dict[str, object]:
    return speech(text, enable_ssml_parsing=True, **fields)


def say(http: httpx.Client, party: Party, text: str) -> httpx.Response:
    return http.post("/v1/audio/speech", json=asked(text), headers=party.headers)


def test_it_works(http: httpx.Client, alice: Party) -> None:
    response = say(http, alice, SHORT)
    assert response.headers["x-parlance-characters"] == "30"
    event = UsageEvent.objects.get()
    assert (event.characters, event.billed_characters) == (30, 30)


def test_one_that_is_left_is_charged_for_the_parts_that_were_heard(
    http: httpx.Client, alice: Party, engine: ScriptedEngine
) -> None:
    engine.next_scripts.extend([Script(), Script(), Script(hold_after=0)])
    body = asked(ALIASED)
    with http.stream("POST", "/v1/audio/speech", json=body, headers=alice.headers) as response:
        assert response.headers["x-parlance-characters"] == "360"
        heard = 0
        for piece in response.iter_raw():
            heard += len(piece)
            if heard == 2 * len(spoken(5)):
                # What is on its way is charged once it has left: leave after that.
                time.sleep(0.2)
                break
    event = eventually(UsageEvent.objects.first)
    assert isinstance(event, UsageEvent)
    assert (event.outcome, event.characters, event.billed_characters) == ("cancelled", 360, 240)
    assert eventually(RequestLog.objects.exists)
    assert not Reservation.objects.exists()


def test_the_characters_of_a_minute(http: httpx.Client, alice: Party) -> None:
    limit(alice, characters_per_minute=29)
    response = say(http, alice, SHORT)
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("The text has 30 characters")


@pytest.mark.parametrize(("spent", "status"), [(70, 200), (71, 429)])
def test_the_budget_of_a_month(http: httpx.Client, alice: Party, spent: int, status: int) -> None:
    limit(alice, hard_monthly_characters=100)
    spend(alice, spent)
    assert say(http, alice, SHORT).status_code == status


def test_a_charge_that_the_ledger_refuses_is_settled_with_the_cap(
    http: httpx.Client, alice: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttsapp.speech.tally.billed_characters", lambda *_: 13)
    with capture_logs() as logged:
        response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
        event = eventually(UsageEvent.objects.first)

    assert isinstance(event, UsageEvent)
    assert (event.outcome, event.characters, event.billed_characters) == ("completed", 12, 12)
    assert str(RequestLog.objects.get().pk) == response.headers["x-request-id"]
    assert not Reservation.objects.exists()
    [line] = [line for line in logged if line["log_level"] == "error"]
    assert line["event"] == "the ledger refuses a usage"
    assert line["request"] == response.headers["x-request-id"]


@pytest.mark.parametrize("error", [IntegrityError, DataError])
async def test_what_the_values_make_impossible_is_not_tried_again(
    error: type[Exception], transactional_db: None
) -> None:
    attempts = []

    def refuse() -> None:
        attempts.append(1)
        raise error("it breaks a rule")

    with pytest.raises(error):
        await database.write_surely(refuse)
    assert len(attempts) == 1


def test_ones_own_pronunciations_are_aliases(http: httpx.Client, alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "a", "Thirty characters to be spoken")
    response = http.post("/v1/audio/speech", json=speech("Say a, a."), headers=alice.headers)
    assert response.headers["x-parlance-characters"] == str(7 + 2 * 30)
    assert UsageEvent.objects.get().characters == 67
    plain = http.post(
        "/v1/audio/speech", json=speech("Say a, a.", lexicon=False), headers=alice.headers
    )
    assert plain.headers["x-parlance-characters"] == "9"


def test_a_shorter_pronunciation_costs_what_was_sent(http: httpx.Client, alice: Party) -> None:
    add_word(SYSTEM, alice.tenant, "World Wide Web", "W")
    response = http.post("/v1/audio/speech", json=speech("World Wide Web."), headers=alice.headers)
    assert response.headers["x-parlance-characters"] == "15"
