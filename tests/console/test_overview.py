"""The installation at a glance."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.alerts import services
from ttsapp.alerts.measures import Measured
from ttsapp.alerts.rules import BY_CODE
from ttsapp.console.live import kept
from ttsapp.console.models import SpokenHour


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ("unix:/nowhere/engine.sock",))


def test_it_works(sign_in: SignIn, alice: Party, bob: Party) -> None:
    now = timezone.now()
    for party, characters in ((alice, 100), (bob, 250)):
        use(party.tenant, party.key, now, characters=characters)
    use(alice.tenant, alice.key, now - timedelta(hours=30))
    page = sign_in("auditor").get("/platform/overview")

    hours = page.context["hours"]
    assert (len(hours), hours[-1].requests, hours[-1].characters) == (24, 2, 350)
    assert sum(hour.requests for hour in hours) == 2
    assert page.context["lately"].gap_free == 100.0
    assert [engine["state"] for engine in page.context["engines"]] == ["away"]


def test_hours_that_are_over_are_read_as_the_worker_noted_them(
    sign_in: SignIn, alice: Party
) -> None:
    now = timezone.now()
    at = now - timedelta(hours=5)
    use(alice.tenant, alice.key, at, characters=40, first_audio_ms=90)
    kept.note_hours(now)
    noted = SpokenHour.objects.filter(hour=at.replace(minute=0, second=0, microsecond=0))
    assert noted.update(billed_characters=41) == 1
    use(alice.tenant, alice.key, now, characters=7)
    hours = sign_in("auditor").get("/platform/overview").context["hours"]
    assert [(hour.characters, hour.requests) for hour in hours if hour.requests] == [
        (41, 1),
        (7, 1),
    ]
    assert next(hour.first_audio.p95 for hour in hours if hour.first_audio) == 90


def test_it_says_in_one_sentence_that_nothing_can_be_spoken(sign_in: SignIn) -> None:
    page = sign_in("operator").get("/platform/overview")
    assert page.context["verdict"].headline == "Nothing can be spoken: no engine serves"
    assert "engine 1 does not answer." in page.content.decode()


def test_an_empty_installation_says_what_to_do(sign_in: SignIn) -> None:
    page = sign_in("operator").get("/platform/overview")
    assert "Nothing spoken yet" in page.content.decode()
    assert page.context["lately"].gap_free is None


def test_trouble_comes_first(sign_in: SignIn) -> None:
    services.note_all(BY_CODE["disk"], [Measured(96, "96 % used")], timezone.now())
    page = sign_in("operator").get("/platform/overview")
    assert [each.rule.code for each in page.context["trouble"]] == ["disk"]
    assert "96 % used" in page.content.decode()


def test_operators_land_here(sign_in: SignIn) -> None:
    assert sign_in("operator").get("/console/").headers["location"] == "/platform/overview"
